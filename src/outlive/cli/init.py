"""`outlive init`: put outlive into the agent that one already uses, and take it out again."""

import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import click

from outlive.cli.echo import echo, json_option, print_json
from outlive.clients.hook import last_failure
from outlive.clients.setup import TARGETS, SetupChange, Target, applied, applied_before, undo_changes, undone


@click.command()
@click.argument("client", required=False, type=click.Choice(list(TARGETS)))
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--undo", is_flag=True, help="Take out what was written; the files are as they were before.")
@click.option("--check", is_flag=True, help="Only tell what is set up and whether it is current.")
@json_option
def init(client: str | None, yes: bool, undo: bool, check: bool, as_json: bool) -> None:
    """Put outlive into another agent: its settings get hooks and a server of tools, nothing of yours is changed.

    The exact changes are shown first. Without CLIENT it lists the agents that are on this machine.

    \b
    Examples:
      outlive init                          which agents are here
      outlive init claude-code              show what would be written, and ask
      outlive init codex --yes              write it
      outlive init codex --check            is it set up and current? (exit code 1: no)
      outlive init claude-code --undo       take it out again
    """
    if client is None or check:
        wanted = [TARGETS[client]] if client else list(TARGETS.values())
        _check(wanted, as_json=as_json, strict=bool(client))
        return
    target = TARGETS[client]
    changes = undo_changes(client, target.without) if undo else target.changes()
    if not changes:
        if undo:
            undone(client, ())
        _said({"client": client, "changed": []}, _nothing(target, undo=undo), as_json=as_json)
        return
    if not as_json:
        echo("\n".join(change.diff() for change in changes))
    if not yes and not _agreed(target, changes, undo=undo):
        sys.exit(1)
    if undo:
        undone(client, changes)
    else:
        applied(client, changes, target.without)
    names = [str(change.path) for change in changes]
    done = (
        f"{target.title}: {'taken out of' if undo else 'wrote'} {len(names)} {'file' if len(names) == 1 else 'files'}"
    )
    after = f"\n{target.after}" if target.after and not undo else ""
    if find_spec("mcp") is None and not undo:
        after += "\nthe tools (recall, tasks, memory) need an extra: pip install 'outlive[mcp]'"
    _said({"client": client, "changed": names}, f"{done}{after}", as_json=as_json)


def _agreed(target: Target, changes: Sequence[SetupChange], *, undo: bool) -> bool:
    question = f"{'Undo' if undo else 'Write'} this for {target.title} ({len(changes)} files)?"
    if not sys.stdin.isatty():
        click.echo(f"{question} Nothing was changed; --yes writes without asking", err=True)
        return False
    return click.confirm(question, err=True)


def _nothing(target: Target, *, undo: bool) -> str:
    return f"{target.title}: nothing of outlive is there" if undo else f"{target.title}: everything is set up"


def _check(targets: Sequence[Target], *, as_json: bool, strict: bool) -> None:
    rows = [_status(target) for target in targets]
    failure = last_failure()
    if as_json:
        shown = [{**row, "last_failure": failure} for row in rows]
        print_json(shown[0] if strict else shown)
    else:
        for row in rows:
            mark = "set up" if row["current"] else "outdated" if row["installed"] else "not set up"
            state = mark if row["found"] or row["installed"] else "not on this machine"
            echo(f"{row['client']:12} {state:20} {row['gives']}")
        if failure:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(failure.get("time", 0)))
            echo(f"last failure of a hook, {when}: {failure.get('event')}: {failure.get('reason')}")
        if not strict and any(row["found"] and not row["current"] for row in rows):
            click.echo("set one up with: outlive init CLIENT", err=True)
    if strict and not rows[0]["current"]:
        sys.exit(1)


def _status(target: Target) -> dict[str, Any]:
    installed = bool(applied_before(target.name))
    return {
        "client": target.name,
        "found": target.found(),
        "installed": installed,
        "current": installed and not target.changes(),
        "gives": target.gives,
    }


def _said(form: dict[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(form)
    else:
        echo(text)
