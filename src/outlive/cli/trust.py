"""`outlive trust`: let a project's settings, MCP servers, commands and memories count once somebody looked."""

import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import click

from outlive.cli.memory.common import line_of, open_memories, shown
from outlive.cli.output import done
from outlive.config import Workspace
from outlive.config.dotenv import DotEnv
from outlive.config.home import forget, trust, trusted
from outlive.config.mcp_servers import McpJson
from outlive.errors import ConfigError
from outlive.stores.memories.records import unmarked
from outlive.tools.custom_commands import ProjectCommands
from outlive.tools.permissions.trust import grants


@click.command(name="trust")
@click.option("--forget", "forgotten", is_flag=True, help="Trust it no longer.")
def trust_command(forgotten: bool) -> None:
    """Trust what came with this project: its outlive.toml as it is now (allow rules, hooks, [agent] settings, the
    store, MCP servers), what its .env says about the model (address, name, key, headers), the MCP servers of its
    .mcp.json and its own commands (.outlive/commands, .claude/commands) as they are now, and its memories.

    A file in a repository may forbid things, but grants nothing until you trust it here; memories in a cloned
    repository are not shown to a model until then. Shows what would count, without the values of keys, and asks.
    If outlive.toml, .mcp.json, a command or a model setting in .env changes, it has to be trusted again; memories
    that are added later, say by git pull, count. To trust one memory only: outlive memory confirm NAME. What counts
    now: outlive where.

    \b
    Examples:
      outlive trust
      outlive trust --forget
    """
    workspace = Workspace.find()
    dotenv, servers, commands = DotEnv(workspace), McpJson(workspace), ProjectCommands(workspace.root)
    if forgotten:
        _forget(workspace, dotenv.path, servers.path, commands.path)
        return
    asked = [
        _trust_file(workspace.file, workspace.digest, grants(workspace) or ["nothing that needs trust"]),
        _trust_file(dotenv.path, dotenv.digest, dotenv.lines()),
        _trust_file(servers.path, servers.digest, servers.lines()),
        _trust_file(commands.path, commands.digest, commands.lines(), " and ".join(commands.places)),
        _trust_memories(workspace),
    ]
    if not any(asked):
        raise ConfigError(
            f"nothing came with {workspace.project} that needs trust: no outlive.toml, no model in .env, no "
            f"commands, no memories and no MCP servers in {servers.path.name}"
        )


def _trust_file(path: Path, digest: str, asks: Sequence[str], shown_as: str = "") -> bool:
    """Ask about one file, or what else trust is kept for under that path; returns False if there is none."""
    if not digest:
        return False
    name = shown_as or str(path)
    if trusted(path, digest):
        click.echo(f"{name} is trusted already, as it is now")
        return True
    for line in asks:
        click.echo(f"  {click.unstyle(line)}")
    if _agrees(f"Let {name} do this?"):
        trust(path, digest)
        done(f"{name} is trusted")
        click.echo("trusted, until it changes")
    return True


def _trust_memories(workspace: Workspace) -> bool:
    """Ask about memories that came with the folder; returns False if there are none."""
    with closing(open_memories(None, heal=False)) as memories:
        untrusted = memories.untrusted()
        if not untrusted:
            return False
        for memory in untrusted:
            body = "" if memory.body.strip() in ("", memory.description.strip()) else f"\n{shown(memory.body)}"
            click.echo(line_of(unmarked(memory)) + body.replace("\n", "\n    "))
        them = "1 memory" if len(untrusted) == 1 else f"{len(untrusted)} memories"
        if _agrees(
            f"Let the {them} that came with {workspace.project} count as yours, and those that are added later?"
        ):
            memories.adopt()
            done("the memories are trusted")
            click.echo("trusted; outlive trust --forget takes it back")
    return True


def _forget(workspace: Workspace, *files: Path) -> None:
    with suppress(ConfigError), closing(open_memories(None, heal=False)) as memories:  # of a store that counts
        memories.disown()
    for path in (workspace.file, *files):
        forget(path)
    done(f"{workspace.project} is no longer trusted")
    click.echo(f"nothing that came with {workspace.project} is trusted any more")


def _agrees(question: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError("only a person can trust this: run `outlive trust` in a terminal")
    agrees = click.confirm(question)
    if not agrees:
        click.echo("left as it is")
    return agrees
