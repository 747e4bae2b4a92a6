"""`outlive mcp`: start the server."""

import gc
import json
import logging
import os
import secrets
import sys
from importlib.util import find_spec

import click

from outlive.errors import ConfigError

TOKEN = "OUTLIVE_MCP_TOKEN"  # noqa: S105 - the name of a variable
MIN_TOKEN_CHARS = 16  # 64 bits in hexadecimal: not guessed over a network


@click.command()
@click.option("--http", "over_http", is_flag=True, help="Streamable HTTP on 127.0.0.1 instead of stdio.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="With --http: the port.  [default: a free one]"
)
@click.option("--store", metavar="URL", help="Where the stores are, if not where the workspace says.")
@click.option("--json", "as_json", is_flag=True, help="With --http: print url and token as one line of JSON.")
def mcp(over_http: bool, port: int, store: str | None, as_json: bool) -> None:
    """Serve this folder's sessions, tasks and memories to other agents, over the Model Context Protocol.

    Six tools (recall, tasks, work, remember, memory_search, state), resources and two prompts; see docs/mcp.md.
    Needs the extra: pip install 'outlive[mcp]'. Clients start it themselves. With --http, requests need the token
    that is printed at the start, or the one in OUTLIVE_MCP_TOKEN.

    \b
    Examples:
      claude mcp add outlive -- outlive mcp
      codex mcp add outlive -- outlive mcp
      outlive mcp --http --port 8765
      outlive mcp --http --json

    \b
    Exit codes: 0 ended by its client or by a signal, 1 refused, 2 wrong usage.
    """
    if not over_http and (port or as_json):
        raise click.UsageError("--port and --json go with --http")
    if find_spec("mcp") is None:
        raise ConfigError("outlive mcp needs the mcp package: pip install 'outlive[mcp]'")
    token = _token() if over_http else ""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="outlive mcp: %(message)s")
    gc.disable()  # the SDK makes very many objects that stay; collecting meanwhile takes a third of the start
    from outlive.mcp.server import OutliveServer, run_stdio

    server = OutliveServer(store=store, shared=over_http)
    gc.freeze()
    gc.enable()
    if not over_http:
        if sys.stdin.isatty():
            click.echo("waiting for an MCP client on standard input; clients start this command themselves", err=True)
        run_stdio(server)
        return
    from outlive.mcp.http import run_http

    def listening(url: str) -> None:
        said = json.dumps({"url": url, "token": token}) if as_json else f"listening on {url}\ntoken: {token}"
        click.echo(said)

    run_http(server, port, token, listening)


def _token() -> str:
    token = os.environ.get(TOKEN, "")
    if token and (len(token) < MIN_TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token):
        raise ConfigError(f"{TOKEN} must have at least {MIN_TOKEN_CHARS} printable characters without spaces")
    return token or secrets.token_urlsafe(32)
