"""`outlive rescue`: what a session of another agent was about, and how to go on with it."""

import sys
from typing import cast

import click

from outlive.cli.echo import answer, echo, echo_exact, json_option, print_json, store_option
from outlive.cli.replay.misses import cache_lines
from outlive.cli.session.common import moment, open_store
from outlive.config import Workspace
from outlive.printable import one_line
from outlive.replay.handover import Audience, cut, handover, step_line
from outlive.replay.importers import Recording, read_recording
from outlive.replay.machine import ClientSession, client_sessions, look_at, session_path
from outlive.replay.rescue import Rescued, rescued

MAX_TEXT_CHARS = 600
"""Characters of a text in the overview."""
MAX_TITLE_CHARS = 110
"""Characters of the first request in a list."""
MAX_DAMAGED_NAMED = 5
"""Damaged lines that are named."""


@click.command()
@click.argument("session", required=False, metavar="[FILE|ID]")
@click.option(
    "--list", "listed", is_flag=True, help="List the sessions of other agents on this machine, newest first."
)
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="List so many.")
@click.option(
    "--for",
    "audience",
    type=click.Choice(["text", "claude-code", "codex"]),
    help="Print a hand-over of at most 10,000 characters for this agent instead.",
)
@click.option("--keep", is_flag=True, help="Save it as a session of this folder, to go on with outlive --resume.")
@store_option("sessions")
@json_option
def rescue(
    session: str | None,
    listed: bool,
    limit: int,
    audience: str | None,
    keep: bool,
    store: str | None,
    as_json: bool,
) -> None:
    """Tell what a session of Claude Code, Codex, pi or opencode was about and where it stopped, and go on with it.

    FILE is the transcript as it lies on disk, be it torn, damaged or compacted many times; ID is the beginning of a
    session id from --list. The database of opencode is a FILE, too; a session in it is opencode.db/ID. Nothing of the
    other agent is changed. All of it is by rule, no model is asked.

    \b
    Examples:
      outlive rescue --list
      outlive rescue 4f1c                                          goal, instructions, plan, files, what failed
      outlive --from 4f1c                                          go on with it here
      outlive rescue ~/.claude/projects/my-app/1234.jsonl --keep   only save it: outlive --resume 1234
      codex "$(outlive rescue 4f1c --for codex)"                   let Codex go on
    """
    if listed or not session:
        _list(limit, as_json=as_json)
        return
    recording = read_recording(session_path(session))
    found = rescued(recording)
    if audience:
        echo_exact((handover(found, cast(Audience, audience)) + "\n").encode())
    elif as_json and not keep:
        print_json(found)
    elif not as_json:
        echo(_overview(found))
    if keep:
        id = _keep(recording, store)
        answer({"session": id}, f"kept as session {id}, go on with: outlive --resume {id}", as_json=as_json)


def _list(limit: int, *, as_json: bool) -> None:
    newest = client_sessions()
    found = [session for place in newest[:limit] if (session := look_at(place))]
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("no sessions of Claude Code, Codex, pi or opencode are on this machine", err=True)
        sys.exit(1)
    for session in found:
        echo(_row(session))
    if len(newest) > limit:
        click.echo(f"{len(newest) - limit} older ones: outlive rescue --list --limit {len(newest)}", err=True)


def _row(session: ClientSession) -> str:
    size = f"{session.size / 1024:,.0f} KB  " if session.size else ""
    head = f"{moment(session.changed)}  {session.client:11}  {session.id}  {size}{session.folder}"
    about = one_line(session.about, MAX_TITLE_CHARS) or "(no words of the user)"
    return f"{head}\n    {click.style(about, dim=True)}"


def _overview(found: Rescued) -> str:
    def part(title: str, rows: list[str]) -> str:
        return "\n".join([click.style(title, bold=True), *(f"  {row}" for text in rows for row in text.split("\n"))])

    compacted = f", compacted {found.compactions} times" if found.compactions else ""
    parts = [
        f"{click.style(found.client, bold=True)} {found.id}  {moment(found.began)} to {moment(found.ended)}  "
        f"{found.messages:,} messages{compacted}\n{found.folder}  {found.model}".rstrip(),
        "\n".join(f"{click.style('damaged:', fg='yellow')} {text}" for text in found.damaged[:MAX_DAMAGED_NAMED]),
    ]
    first, last = found.requests[:1], found.requests[-1:] if len(found.requests) > 1 else ()
    for title, rows in (
        ("Asked first", [cut(text, MAX_TEXT_CHARS) for text in first]),
        ("Asked last", [cut(text, MAX_TEXT_CHARS) for text in last]),
        ("Standing instructions", list(found.directives)),
        ("Plan", [step_line(step) for step in found.plan]),
        ("Done", [found.facts] if found.facts else []),
        ("Looked at last", [", ".join(found.looked_at)] if found.looked_at else []),
        ("Commands run last", list(found.commands)),
        ("Failed last", list(found.failed)),
        ("Cache", list(cache_lines(found.cache)) if found.cache else []),
        ("Under way when it stopped", list(found.unanswered)),
        ("Last words of the model", [cut(found.answer, MAX_TEXT_CHARS)] if found.answer else []),
    ):
        if rows:
            parts.append(part(title, rows))
    return "\n\n".join(filter(None, parts))


def kept(wanted: str, url: str | None) -> str:
    """Save a session of another agent as one of this folder; its id."""
    return _keep(read_recording(session_path(wanted)), url)


def _keep(recording: Recording, url: str | None) -> str:
    from outlive.config.dotenv import DotEnv
    from outlive.replay.adopt import adopt
    from outlive.secrets import Masker

    workspace = Workspace.find(store=url)
    with open_store(url) as store:
        return adopt(recording, store, folder=str(workspace.root), mask=Masker(DotEnv(workspace).secrets))
