"""The `outlive replay` command."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from msgspec.structs import replace

from outlive.cli.echo import echo_exact, json_option, named_input, named_output, print_json, store_option
from outlive.cli.output import done
from outlive.cli.replay.requests import RequestWriter
from outlive.cli.session.common import chosen_policy, open_store
from outlive.config import Workspace
from outlive.replay.importers import ImportRefused, Recording, read_recording
from outlive.replay.machine import session_path
from outlive.replay.player import Replay, check_replaceable
from outlive.replay.report import Account, ReplayReport
from outlive.stores.logs.protocol import LogStore, UnknownSession

DEFAULT_WINDOW = 100_000  # half a usual one, so that most recordings reach it
STANDARD_STREAM = Path("-")


@click.command()
@click.argument("file", metavar="FILE|ID")
@click.option(
    "--window",
    type=click.IntRange(min=1000),
    metavar="TOKENS",
    help=f"Size of the context window.  [default: {DEFAULT_WINDOW}, or [context] window]",
)
@click.option(
    "--reserve",
    type=click.IntRange(min=0),
    default=0,
    metavar="TOKENS",
    help="Of the window: the system prompt and tools of the caller, which the recording lacks.",
)
@click.option(
    "--policy",
    default="",
    metavar="NAME",
    help="lean, medium, rich, max, one of outlive.toml, or changes: rich,engage=0.7  [default: rich]",
)
@click.option(
    "--requests-out",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Write each request that would have been sent, one JSON line a model call; - is stdout.",
)
@click.option("--report", "full", is_flag=True, help="Show context size over time, the passes and what left.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Write the report as one self-contained page; - is stdout.",
)
@store_option("sessions")
@json_option
def replay(
    file: str,
    window: int | None,
    reserve: int,
    policy: str,
    requests_out: Path | None,
    full: bool,
    html: Path | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Play a recorded session through the context engine and tell what would have happened.

    FILE is a trajectory (.jsonl, .jsonl.gz), a session of Claude Code (~/.claude/projects/*/*.jsonl), Codex
    (~/.codex/sessions/**/rollout-*.jsonl), pi or opencode (opencode.db/ID), or an outlive transcript; the format is
    detected. - is stdin. ID is how the id of such a session begins (see rescue --list). Nothing is sent anywhere. The
    result is kept as a session under the recording's id, so that its handles can be recalled; replaying again
    replaces that session, and never one that really happened.

    Costs are multiples of one uncached input token: 1.25 to write the cache, 0.1 to read it, 5 for output, with a
    cache that lives five minutes by the recorded times; a token is 3.2 characters.

    When requests or page go to stdout, the report goes to stderr.

    \b
    Examples:
      outlive replay session.jsonl.gz --window 50000 --report
      outlive replay ~/.claude/projects/my-app/1234.jsonl --html report.html
      outlive replay session.jsonl --window 200000 --reserve 18000
      outlive replay session.jsonl --policy rich,engage=0.7 --requests-out requests.jsonl
      gunzip -c session.jsonl.gz | outlive replay - --requests-out - | jq .turn
      outlive recall @h12 --session ID

    \b
    Exit codes: 0 done, 1 refused (also when a request cannot fit the window), 2 wrong usage.
    """
    if requests_out == html == STANDARD_STREAM:
        raise click.UsageError("--requests-out and --html cannot both go to stdout")
    workspace = Workspace.find(store=store)
    settings = workspace.context_settings()
    chosen = chosen_policy(policy, settings)
    size = window or int(str(settings.get("window", DEFAULT_WINDOW)))
    if reserve >= size:
        raise click.UsageError(f"--reserve {reserve:,} leaves nothing of a window of {size:,} tokens")
    recording = _piped() if file == str(STANDARD_STREAM) else read_recording(_path(file))
    for text in recording.skipped:
        click.echo(f"{click.style('left out:', fg='yellow')} {text}", err=True)
    with open_store(store) as opened, _output(requests_out) if requests_out else nullcontext() as write:
        played = Replay(recording, window=size, policy=chosen, reserve=reserve)
        report = _play(played, RequestWriter(write) if write else None, opened)
    if html:
        from outlive.cli.replay.page import page

        with _output(html) as write:
            write(page(report).encode())
    _show(report, full=full, as_json=as_json, err=STANDARD_STREAM in (requests_out, html))
    if report.refused:
        sys.exit(1)


def _path(wanted: str) -> Path:
    try:
        return session_path(wanted)
    except UnknownSession as error:
        raise click.BadParameter(error.message, param_hint="'FILE|ID'") from None


def _piped() -> Recording:
    """Read the recording on stdin through a temporary file, because importers read files."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "stdin.jsonl")
        path.write_bytes(named_input(STANDARD_STREAM)[0])
        try:
            recording = read_recording(path)
        except ImportRefused as error:
            raise ImportRefused(str(error).replace(str(path), "stdin")) from None
        return replace(recording, skipped=tuple(text.replace(str(path), "stdin") for text in recording.skipped))


def _play(played: Replay, writer: RequestWriter | None, store: LogStore) -> ReplayReport:
    recording, engine = played.recording, played.session.engine
    check_replaceable(store, recording.id)
    account = Account(played)
    total = len(recording.turns)
    for number, step in enumerate(played.steps(), start=1):
        account.take(step)
        if writer and step.request is not None:
            writer.write(step.turn, step.request)
        _progress(number, total)
    played.save(store)
    done(f"session {recording.id} was saved")
    return account.report(window=engine.window, policy=engine.policy.name)


def _progress(number: int, total: int) -> None:
    if sys.stderr.isatty() and (number % 20 == 0 or number == total):
        end = "\r\x1b[K" if number == total else ""
        click.echo(f"\r\x1b[K{number} of {total} model calls{end}", err=True, nl=False)


def _show(report: ReplayReport, *, full: bool, as_json: bool, err: bool) -> None:
    if as_json:
        print_json(report.form(), err=err)
    else:
        from outlive.cli.replay.timeline import render, summary

        width = shutil.get_terminal_size((100, 24)).columns
        click.echo(render(report, width) if full else summary(report), err=err)
        hint = f"outlive recall @h1 --session {report.session}"
        click.echo(click.style(f"session   {report.session}; try: {hint}", dim=True), err=err)
    for refused in report.refused:
        click.echo(f"{click.style('refused:', fg='red', bold=True)} message {refused.turn}: {refused.why}", err=True)


@contextmanager
def _output(path: Path) -> Iterator[Callable[[bytes], object]]:
    """Yield the function that writes to stdout, or to a file that appears only when it is complete."""
    if path == STANDARD_STREAM:
        yield echo_exact
        return
    with named_output(path) as file:
        yield file.write
