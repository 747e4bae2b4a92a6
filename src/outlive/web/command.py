"""`outlive web` and `outlive learn`: start the server and open the page."""

import ipaddress
import json
import logging
import os
import sys
import webbrowser
from importlib.util import find_spec
from typing import Any

import click

from outlive.config import Workspace
from outlive.config.home import remember_project
from outlive.errors import ConfigError

TOKEN = "OUTLIVE_WEB_TOKEN"  # noqa: S105 - the name of a variable
USUAL_PORT = 7745  # fixed, so that a bookmark works; any free port if it is taken
_OPTIONS = (
    click.option("--port", type=click.IntRange(0, 65535), help="The port.  [default: 7745, or a free one if taken]"),
    click.option(
        "--host", metavar="ADDRESS", help="Listen on this address instead of loopback; needs OUTLIVE_WEB_TOKEN."
    ),
    click.option("--no-open", is_flag=True, help="Do not open a browser."),
    click.option("--new-token", is_flag=True, help="Make a new token; browsers that are signed in are signed out."),
    click.option("--json", "as_json", is_flag=True, help='Print one line {"url": …} once it listens.'),
)


def _server_options(command: Any) -> Any:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.option("--all", "everywhere", is_flag=True, help="All workspaces that you have worked in, not only this one.")
@click.option("--control", is_flag=True, help="Let the page change things: tasks, memories, sessions, talk.")
@click.option("--store", metavar="URL", help="Where the stores are, if not where the workspace says.")
@_server_options
def web(everywhere: bool, control: bool, store: str | None, **options: Any) -> None:
    """Show sessions, their context, tasks and memories in the browser.

    The page is served on loopback, to browsers that open the printed address with its token. It changes nothing
    unless --control is given. Ctrl-C ends it. Needs the extra: pip install 'outlive[web]'.

    \b
    Examples:
      outlive web
      outlive web --control
      outlive web --all --no-open
      outlive web --no-open --json

    \b
    Exit codes: 0 ended by a signal, 1 refused, 2 wrong usage.
    """
    workspace = Workspace.find(store=store)
    remember_project(workspace.project)
    _run(workspace, "/", everywhere=everywhere, control=control, **options)


@click.command()
@_server_options
def learn(**options: Any) -> None:
    """Three lessons in the browser, on the real engine: the task graph, surviving compression, a quiz.

    They work in an empty folder; what they make is in a scratch store and goes when the server ends.

    \b
    Examples:
      outlive learn
      outlive learn --no-open --json
    """
    _run(Workspace.find(), "/learn", everywhere=False, control=False, **options)


def _run(
    workspace: Workspace,
    path: str,
    *,
    everywhere: bool,
    control: bool,
    port: int | None,
    host: str | None,
    no_open: bool,
    new_token: bool,
    as_json: bool,
) -> None:
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise ConfigError(f"the page needs {' and '.join(missing)}: pip install 'outlive[web]'")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="outlive web: %(message)s")
    from outlive.web.server import listen, serve
    from outlive.web.workspaces import Workspaces, workspaces_of_user

    token = _token(host, renew=new_token)
    sockets = listen(port, USUAL_PORT, host)
    shown = host or "127.0.0.1"
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{sockets[0].getsockname()[1]}{path}#token={token}"

    def listening() -> None:
        click.echo(json.dumps({"url": address}) if as_json else f"{address}\nCtrl-C ends it")
        sys.stdout.flush()
        if not no_open and not as_json:
            webbrowser.open(address)

    workspaces = Workspaces(workspaces_of_user(workspace, everywhere=everywhere), control=control)
    serve(workspaces, sockets, token=token, host=host, listening=listening)


def _token(host: str | None, *, renew: bool) -> str:
    """The token that the user set for a server that others can reach, else the one in the user's folder."""
    from outlive.web.access import TOKEN_BYTES, load_token

    given = os.environ.get(TOKEN, "")
    if given and (len(given) < TOKEN_BYTES or not given.isascii() or not given.isprintable() or " " in given):
        raise ConfigError(f"{TOKEN} must have at least {TOKEN_BYTES} printable characters without spaces")
    if host and not given and not _is_loopback(host):
        raise ConfigError(
            f"{host} can be reached by others, and what is sent there is not encrypted",
            hint=f"leave the host out and forward the port (ssh -L {USUAL_PORT}:localhost:{USUAL_PORT} MACHINE), or "
            f"set a token of your own for it: {TOKEN}",
            code="public_host",
        )
    return given or load_token(renew=renew)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
