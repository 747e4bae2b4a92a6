"""add, supersede, confirm, forget, undo, consolidate."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import click

from outlive.cli.echo import answer, print_json
from outlive.cli.memory.common import (
    command,
    field_options,
    form_of,
    line_of,
    print_memories,
    ref_argument,
    refs_argument,
    scope_option,
    shown,
    text_of,
    type_option,
)
from outlive.cli.output import done
from outlive.config import Workspace
from outlive.config.dotenv import DotEnv
from outlive.memory import consolidate as consolidation
from outlive.memory.guard import came_from
from outlive.memory.memories import Memories
from outlive.messages import Message, Text, plain_text
from outlive.stores.memories.records import Kind, Memory, Provenance, Scope


@command()
@click.argument("name")
@click.argument("text", default="")
@type_option
@scope_option
@field_options
@click.option("--derived-from", multiple=True, metavar="NAME", help="A memory it was made from; repeatable.")
def add(
    memories: Memories,
    name: str,
    text: str,
    kind: Kind | None,
    scope: Scope | None,
    derived_from: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Remember something. TEXT - reads standard input.

    Refused if it is known already, holds a secret, or is an instruction from a tool or a page.

    \b
    Examples:
      outlive memory add "Use tabs" "Makefiles need tabs" --type feedback
      outlive memory add "Release notes" - < notes.md --type reference --key release
      outlive memory add "My role" "I maintain the parser" --type user --scope user
    """
    places: dict[str, Any] = {"type": kind or "project", "scope": scope or "project", "derived_from": derived_from}
    memory = memories.add(name, text_of(text), **places, **_fields(options))
    _say(memory, "remembered", as_json=as_json)


@command()
@ref_argument
@click.argument("text", default="")
@click.option("--by", default="", metavar="NAME", help="A memory that is there already takes its place.")
@click.option("--name", default="", help="What to call the new one.")
@field_options
def supersede(memories: Memories, ref: str, text: str, by: str, name: str, as_json: bool, **options: Any) -> None:
    """Replace a memory by a correction. The old one is kept but no longer selected, and can come back (undo). If it
    was corrected before, the new correction replaces the last one.

    \b
    Examples:
      outlive memory supersede use-tabs "Use spaces, except in Makefiles"
      outlive memory supersede use-tabs --by use-spaces
    """
    if bool(by) == bool(text):
        raise click.UsageError("give the new text, or the memory that takes its place with --by")
    old = memories.get(ref)
    if by:
        correction = memories.supersede(ref, by=by)
    else:
        correction = memories.supersede(ref, text_of(text), name=name, **_fields(options))
    if old.slug not in correction.supersedes:
        instead = ", ".join(correction.supersedes)
        click.echo(f"{old.slug} was superseded already; the new one takes the place of {instead}", err=True)
    _say(correction, "remembered", as_json=as_json)


@command()
@ref_argument
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def confirm(memories: Memories, ref: str, yes: bool, as_json: bool) -> None:
    """Agree to a memory that contains an instruction you did not give: it came from a tool, a page, a model or with
    the folder. Until you agree, it is not shown to a model.

    Shows it and asks; without a terminal it needs --yes. `outlive memory undo` takes the consent back.

    \b
    Examples:
      outlive memory doctor
      outlive memory confirm run-the-linter
    """
    if not yes:
        memory = memories.get(ref)
        click.echo(f"{line_of(memory)}\n\n{shown(memory.body)}\n", err=True)
        _ask(f"let it instruct, though it {came_from(memory)}?", "nothing was confirmed")
    _say(memories.confirm(ref), "confirmed", as_json=as_json)


@command()
@refs_argument
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--note", default="", help="Why, for the log.")
def forget(memories: Memories, refs: tuple[str, ...], yes: bool, note: str, as_json: bool) -> None:
    """Move memories into the archive, with what was derived from them and what they had superseded.

    Asks before it does; without a terminal it needs --yes. `outlive memory undo` brings them back.

    \b
    Examples:
      outlive memory forget use-tabs
      outlive memory forget use-tabs my-role --yes --json
    """
    found = memories.would_forget(*refs)
    if not yes:
        for memory in found:
            click.echo(f"would forget {line_of(memory)}", err=True)
        _ask(f"forget {len(found)} {'memory' if len(found) == 1 else 'memories'}?", "nothing was forgotten")
    print_memories(memories.forget(*refs, note=note), as_json=as_json, verb="forgot")


@command()
@click.argument("step", default="")
def undo(memories: Memories, step: str, as_json: bool) -> None:
    """Take back a step, the last one that still holds by default. Undoing an undo brings it back.

    \b
    Examples:
      outlive memory undo
      outlive memory log
      outlive memory undo 12
    """
    entry = memories.undo(step)
    done(f"step {entry.step.undoes} was taken back")
    names = [change.slug for change in entry.step.changes]
    text = f"took back step {entry.step.undoes} ({entry.step.note}): {', '.join(names)}"
    answer({"id": entry.id, "undoes": entry.step.undoes, "memories": names}, text, as_json=as_json)


@command()
@scope_option
@click.option("--if-due", is_flag=True, help="Only if enough has changed since the last time.")
@click.option("-m", "--model", metavar="PROVIDER:NAME", help="Let a model merge, supersede and retire too.")
def consolidate(memories: Memories, scope: Scope | None, if_due: bool, model: str | None, as_json: bool) -> None:
    """Merge duplicates, keep the user's newest words for each key, and replace relative dates by dates.

    By rules, and with --model by a model too; all or nothing, as one step that `outlive memory undo` takes back.
    Merged memories are hidden, not deleted.

    \b
    Examples:
      outlive memory consolidate
      outlive memory consolidate --model anthropic:claude-haiku-4-5
      outlive memory consolidate --if-due --json
      outlive memory log -n 1
    """
    ask = _asker(model) if model else None
    reports = []
    for where in [scope] if scope else list(memories.stores):
        store = memories.stores[where]
        steps = store.read(lambda tx: tx.steps())
        if store.read(lambda tx: tx.all()) and (not if_due or consolidation.due(steps)):
            reports.append(consolidation.consolidate(memories, ask, scope=where))
            done(f"{where} memories were consolidated, {len(reports[-1].notes)} changed")
    if as_json:
        print_json(reports)
        return
    for report in reports:
        click.echo(f"{report.scope}: looked at {report.seen}, changed {len(report.notes)}")
        if report.problem:
            click.echo(f"  nothing was changed: {report.problem}")
        for note in report.notes:
            click.echo(f"  {note}")
    if not reports:
        click.echo(click.style("nothing to do", dim=True), err=True)


def _ask(question: str, undone: str) -> None:
    """Go on only after a yes."""
    if not sys.stdin.isatty():
        raise click.UsageError(f"{undone}; there is no terminal to ask at: add --yes")
    click.confirm(question, abort=True, err=True)


def _fields(options: dict[str, Any]) -> dict[str, Any]:
    """Turn the values of `field_options` into fields of a memory."""
    source = Provenance(
        who=options["who"], session=options["session"], event=options["event"], confirmed=options["confirm"]
    )
    fields = {name: options[name] for name in ("description", "date", "keys") if options[name]}
    return fields | {"provenance": source}


def _asker(model: str) -> Callable[[str], str]:
    """Return a function that asks the named model. It raises ModelError if there is no answer."""
    from outlive.agent.compaction.passes import whole_reply  # loading models is slow, and most commands need none
    from outlive.models.resolve import resolve
    from outlive.request import Request

    dotenv = DotEnv(Workspace.find())
    if notice := dotenv.notice():
        click.echo(notice, err=True)

    async def ask(prompt: str) -> str:
        chosen = resolve(model, environment=dotenv.environment())
        try:
            reply = await whole_reply(chosen, Request("", (), (Message("user", (Text(prompt),)),), "", 0))
        finally:
            await chosen.close()
        return plain_text(reply.blocks)

    return lambda prompt: asyncio.run(ask(prompt))


def _say(memory: Memory, verb: str, *, as_json: bool) -> None:
    done(f"{verb} {memory.slug}")
    answer(form_of(memory), f"{verb} {line_of(memory)}", as_json=as_json)
