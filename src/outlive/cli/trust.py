"""`outlive trust`: let a project's outlive.toml and memories count, once a person has looked at them."""

import sys
from contextlib import closing, suppress

import click

from outlive.cli.memory.common import line_of, open_memories, shown
from outlive.cli.output import done
from outlive.config import Workspace
from outlive.errors import ConfigError
from outlive.stores.memory_records import Memory, unmarked
from outlive.tools.trust import check_store, forget, grants, trust, trusted


@click.command(name="trust")
@click.option("--forget", "forgotten", is_flag=True, help="Trust it no longer.")
def trust_command(forgotten: bool) -> None:
    """Trust what came with this project: its outlive.toml as it is now (allow rules, hooks, [agent] settings), and
    its memories.

    A file that came with a repository may forbid, but permits nothing until you say so here, and its memories are not
    your word: no model sees them. Shows what would count, and asks. When outlive.toml changes it has to be trusted
    again; memories that are added later, by git pull say, count. To agree to one memory only: outlive memory confirm
    NAME.

    \b
    Examples:
      outlive trust
      outlive trust --forget
    """
    workspace = Workspace.find()
    if forgotten:
        _forget(workspace)
    elif not any([_trust_settings(workspace), _trust_memories(workspace)]):
        raise ConfigError(f"nothing came with {workspace.root} that needs trust: no outlive.toml, no memories")


def _trust_settings(workspace: Workspace) -> bool:
    """False where there is no such file."""
    path = workspace.root / "outlive.toml"
    if not workspace.digest:
        return False
    if trusted(path, workspace.digest):
        click.echo(f"{path} is trusted already, as it is now")
        return True
    for line in grants(workspace) or ["nothing that needs trust"]:
        click.echo(f"  {click.unstyle(line)}")
    _ask(f"Let {path} do this?")
    trust(path, workspace.digest)
    done(f"{path} is trusted")
    click.echo("trusted, until the file changes")
    return True


def _trust_memories(workspace: Workspace) -> bool:
    """False where none came with the folder. The store is opened once the file that names it counts."""
    check_store(workspace)
    with closing(open_memories(None, heal=False)) as memories:
        foreign = memories.foreign()
        if not foreign:
            return False
        for memory in foreign:
            click.echo(_whole(memory))
        them = "1 memory" if len(foreign) == 1 else f"{len(foreign)} memories"
        _ask(f"Let the {them} that came with {workspace.root} count as yours, and those that are added later?")
        memories.adopt()
    done("the memories are trusted")
    click.echo("trusted; outlive trust --forget takes it back")
    return True


def _forget(workspace: Workspace) -> None:
    with suppress(ConfigError):  # memories that are kept elsewhere are not believed anyway
        check_store(workspace)
        with closing(open_memories(None, heal=False)) as memories:
            memories.disown()
    forget(workspace.root / "outlive.toml")
    done(f"{workspace.root} is no longer trusted")
    click.echo(f"neither outlive.toml nor the memories of {workspace.root} are trusted any more")


def _whole(memory: Memory) -> str:
    body = "" if memory.body.strip() in ("", memory.description.strip()) else f"\n{shown(memory.body)}"
    return line_of(unmarked(memory)) + body.replace("\n", "\n    ")


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise ConfigError("only a person can trust this: run `outlive trust` in a terminal")
    click.confirm(question, abort=True)
