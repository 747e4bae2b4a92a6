"""`outlive -p`: run one prompt without questions and print the answer as text or JSON."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field

import click
import msgspec
from msgspec import Struct

from outlive.agent.runtime import Runtime
from outlive.agent.spending import Spending
from outlive.cli.flags import allowing, shown, with_flag
from outlive.cli.output import OutputFailed, done
from outlive.context.log.history import LEARNED, MEMORY_NOTICE
from outlive.ending import terminations
from outlive.errors import OutliveError
from outlive.events import AssistantSaid, Compacted, Denial, Event, Noted, ToolFinished, encode
from outlive.messages import Text, call_label, tool_calls
from outlive.models.protocol import Usage
from outlive.printable import clean, one_line
from outlive.result import RunResult
from outlive.state import compression_line
from outlive.stream import ModelRetrying, StreamEvent

EXIT_CODES = {"done": 0, "refused": 1, "hook": 1, "error": 1, "limit": 3, "interrupted": 130}
"""Exit code by the reason why the run ended; 2 is wrong usage, as everywhere."""
LIMIT_CODES = {"default_turns": 4, "empty_answers": 5}
"""Exit codes of limits that have one of their own."""
MAX_REFUSALS_SHOWN = 5  # at the end of a run, on stderr; the rest is counted


class Result(Struct, frozen=True, kw_only=True, tag="result"):
    """The last line of `stream-json`, and all of `json`."""

    why: str
    """done, limit, refused, hook, interrupted or error."""
    text: str
    """The model's last words."""
    detail: str
    code: str = ""
    """Of the error or the limit that ended the run."""
    session: str
    model: str
    requests: int
    usage: Usage
    cost: float | None
    """Dollars; null when the price of the model is not known."""
    not_allowed: tuple[str, ...] = ()
    """Calls that were not run because they needed a permission that nobody could give."""
    learned: tuple[str, ...] = ()
    """Memories made from the run, a line each; `outlive memory undo` removes them."""
    notices: tuple[str, ...] = ()
    """What went wrong while the session learned, and what may be worth remembering, a line each."""


class Opened(Struct, frozen=True, kw_only=True, tag="opened"):
    """The first line of `stream-json`."""

    session: str
    model: str
    mode: str
    window: int
    folder: str


@dataclass(slots=True)
class Gathered:
    """Collects what the caller is told at the end: refused calls and new memories."""

    learned: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    calls: dict[str, str] = field(default_factory=dict)
    """Call id to a readable label."""
    found: dict[str, str] = field(default_factory=dict)
    """Label of a refused call to the option that would allow it."""

    def take(self, happened: Event | StreamEvent) -> None:
        match happened:
            case AssistantSaid():
                self.calls |= {call.id: call_label(call) for call in tool_calls(happened.blocks)}
            case ToolFinished(denied=Denial(by="unasked") as denied):
                self.found[self.calls.get(happened.call_id, happened.call_id)] = allowing(denied)
            case Noted() if happened.kind == LEARNED:
                self.learned.append(happened.text)
            case Noted() if happened.kind == MEMORY_NOTICE:
                self.notices.append(happened.text)

    def say(self) -> None:
        """Print one line for each on stderr."""
        for text in () if sys.stderr.isatty() else [*self.learned, *self.notices]:  # a terminal showed it already
            click.echo(one_line(text), err=True)
        for label, way in list(self.found.items())[:MAX_REFUSALS_SHOWN]:
            click.echo(one_line(f"not allowed: {label[:120]} · allow it with {way}"), err=True)
        if len(self.found) > MAX_REFUSALS_SHOWN:
            click.echo(f"not allowed: {len(self.found) - MAX_REFUSALS_SHOWN} more calls", err=True)


def run_headless(agent: Runtime, prompt: tuple[Text, ...], form: str, *, partial: bool = False) -> int:
    """Run the agent and print the result; returns the exit code."""
    return asyncio.run(_run(agent, prompt, form, partial))


async def _run(agent: Runtime, prompt: tuple[Text, ...], form: str, partial: bool) -> int:
    _interruptible(agent)
    before = copy(agent.spending)
    out = _Output(agent)
    agent.watch(_watcher(form, out, partial=partial))
    gathered = Gathered()
    agent.watch(gathered.take)
    for notice in agent.notices:
        click.secho(f"note: {clean(notice)}", dim=True, err=True)
    if form == "stream-json":
        opened = Opened(
            session=agent.session.id,
            model=agent.parts.model.name,
            mode=agent.mode,
            window=agent.session.engine.window,
            folder=str(agent.parts.root),
        )
        out.line(msgspec.json.encode(opened))
    why: str = "error"
    try:
        ending = RunResult("interrupted")
        if out.failure is None:
            ending = await (agent.ask(prompt) if prompt else agent.go_on())
        why = ending.stop_reason
        if form == "text" and ending.text:  # before close(), where extracting memories may take a while
            out.line((clean(ending.text) if sys.stdout.isatty() else ending.text).encode("utf-8", "replace"))
    except OutliveError as error:
        ending = RunResult("done", detail=shown(error), limit=error.code)
    finally:
        await agent.close()
    _tell(_result(agent, why, ending, agent.spending.since(before), gathered), form, out)
    gathered.say()
    if out.failure is not None:
        done(f"session {agent.session.id} is saved, go on with: outlive --resume {agent.session.id}")
        raise out.failure
    return LIMIT_CODES.get(ending.limit, EXIT_CODES[why]) if why == "limit" else EXIT_CODES[why]


@dataclass(slots=True)
class _Output:
    """Standard output of a run. A write failure interrupts the run."""

    agent: Runtime
    failure: OutputFailed | None = None

    def line(self, data: bytes) -> None:
        if self.failure is None:
            try:
                sys.stdout.buffer.write(data + b"\n")
                sys.stdout.buffer.flush()
            except OutputFailed as error:
                self.failure = error
                self.agent.interrupt()


def _interruptible(agent: Runtime) -> None:
    """Let the first Ctrl-C, SIGTERM or SIGHUP interrupt the run and the second end the process."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if not agent.working:
            os._exit(EXIT_CODES["interrupted"])  # the second signal, or during close(): the log is on disk
        agent.interrupt()

    for number in (signal.SIGINT, *terminations()):
        loop.add_signal_handler(number, stop)


def _watcher(form: str, out: _Output, *, partial: bool) -> Callable[[Event | StreamEvent], None]:
    def stream(happened: Event | StreamEvent) -> None:
        if not isinstance(happened, StreamEvent):
            out.line(encode(happened))
        elif partial or isinstance(happened, ModelRetrying):
            out.line(msgspec.json.encode(happened))

    if form == "stream-json":
        return stream
    if form == "text" and sys.stderr.isatty():
        return _progress
    return lambda happened: _progress(happened) if isinstance(happened, ModelRetrying) else None


def _progress(happened: Event | StreamEvent) -> None:
    """Print one dim line on stderr for each action."""
    match happened:
        case AssistantSaid():
            rows = [("·", call_label(call)) for call in tool_calls(happened.blocks)]
        case ToolFinished() if happened.is_error:
            rows = [(" ", f"failed: {happened.text.strip().partition(chr(10))[0]}")]
        case Compacted():
            rows = [("⤵", compression_line(happened))]
        case Noted():
            rows = [(" ", happened.text)]
        case ModelRetrying():
            rows = [(" ", f"{happened.reason}; again in {happened.seconds:.0f} s")]
        case _:
            return
    for mark, text in rows:
        click.secho(f"{mark} {one_line(text, 198)}", dim=True, err=True)


def _tell(result: Result, form: str, out: _Output) -> None:
    if form != "text":
        out.line(msgspec.json.encode(result))
        return
    if result.why != "done":
        click.echo(clean(f"{result.why}: {result.detail or 'stopped'}"), err=True)
        click.echo(f"go on with: outlive --resume {result.session}", err=True)


def _result(agent: Runtime, why: str, ending: RunResult, spent: Spending, gathered: Gathered) -> Result:
    return Result(
        why=why,
        text=ending.text,
        detail=ending.detail if why == "error" else with_flag(ending.detail, ending.limit),
        code=ending.limit,
        session=agent.session.id,
        model=agent.parts.model.name,
        requests=spent.requests,
        usage=spent.usage,
        cost=spent.cost,
        not_allowed=tuple(gathered.found),
        learned=tuple(gathered.learned),
        notices=tuple(gathered.notices),
    )
