"""`bash`: run a shell command in the foreground or background; `bash_output`: look at a background command."""

import asyncio
import codecs
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated

from msgspec import Meta, Struct

from outlive.events import ToolStarted
from outlive.tools.processes.command import RunningCommand
from outlive.tools.processes.orphan import Orphan
from outlive.tools.processes.process_table import mark
from outlive.tools.protocol import SHORT_RESULT_CHARS, Tool, ToolContext, ToolError, ToolOutcome, encoded

DEFAULT_TIMEOUT_SECONDS = 120.0  # a command that waits for input ends; the model can ask for more
MAX_TIMEOUT_SECONDS = 3600.0  # longer ones belong into the background
MAX_COMMAND_BYTES = 120_000
"""Bytes of a command; the system's limit for one argument is little more."""
MAX_LIVE_BYTES = 256 * 1024
"""Bytes that are shown while a command runs."""
CHILDREN_WAIT_SECONDS = 0.05
"""Seconds for the last children of a command to end after it."""


class BashInput(Struct, frozen=True, forbid_unknown_fields=True):
    command: Annotated[str, Meta(description="As for bash -c.")]
    timeout: Annotated[
        float | None,
        Meta(description="Seconds; 120 when not given, none in the background."),
    ] = None
    background: Annotated[bool, Meta(description="Let it run and return a handle for bash_output.")] = False


class Bash(Tool[BashInput]):
    name = "bash"
    description = (
        "Run a shell command and return its output and exit code. Every call is a new shell in the workspace's root, "
        "without terminal and input. Use background for servers. Prefer read_file, edit_file, glob and grep."
    )
    input = BashInput
    about = "command"
    effect = "run"

    async def run(self, given: BashInput, context: ToolContext) -> ToolOutcome:
        _check(given)
        if given.background:
            context.processes.check_room()
            command = _start(given.command, context, given.timeout)
            handle = context.processes.keep(command)
            return ToolOutcome(
                f"Runs in the background as {handle}, process {command.pid}. "
                f'bash_output{{"handle": "{handle}"}} shows what it prints; it is ended with the session.'
            )
        timeout = DEFAULT_TIMEOUT_SECONDS if given.timeout is None else given.timeout
        command = _start(given.command, context, timeout, live=_streamed(context))
        try:
            await command.finished()
        except asyncio.CancelledError:
            try:
                await asyncio.to_thread(command.end, 0.5)
            finally:
                command.kill()
            raise
        finally:
            command.live = None
        if command.left_behind:
            await asyncio.sleep(CHILDREN_WAIT_SECONDS)
        notes = [_how_it_ended(command, timeout), _left_behind(command, context)]
        printed = command.take()
        text = "\n".join(filter(None, [printed.rstrip("\n"), *notes])) or "(no output)"
        return ToolOutcome(text, is_error=command.timed_out, exit_code=command.exit_code)


def _start(
    text: str, context: ToolContext, timeout: float | None, live: Callable[[bytes], None] | None = None
) -> RunningCommand:
    """Start a command once its process is in the log, so that a resumed session can find it."""
    command = RunningCommand(
        context.sandbox.launch(text),
        text=text,
        root=context.root,
        marked=mark(context.session.id, context.call_id),
        timeout=timeout,
        mask=context.mask,
        live=live,
        record=lambda process: context.session.log(ToolStarted, calls=(context.call_id,), process=process),
    )
    context.processes.add(command)
    return command


def _ending(command: RunningCommand | Orphan) -> str:
    """The exit code in words, such as `exit code 137 (SIGKILL)`; empty for 0."""
    code = command.exit_code
    if code is None:
        return "exit code unknown"
    if not code:
        return ""
    known = {128 + number.value: number.name for number in signal.Signals}
    return f"exit code {code}" + (f" ({known[code]})" if code in known else "")


def _check(given: BashInput) -> None:
    if not given.command.strip():
        raise ToolError("the command is empty")
    if "\0" in given.command:
        raise ToolError("the command holds a NUL character, which no shell can take; use printf '\\0' inside of it")
    if (size := len(encoded(given.command, "the command"))) > MAX_COMMAND_BYTES:
        raise ToolError(
            f"the command has {size:,} bytes, at most {MAX_COMMAND_BYTES:,} fit; write a script file, then run it"
        )
    if given.timeout is not None and not 0 < given.timeout <= MAX_TIMEOUT_SECONDS:
        raise ToolError(
            f"timeout {given.timeout:g} is not between 0 and {MAX_TIMEOUT_SECONDS:g} seconds; "
            "what takes longer runs with background"
        )


def _how_it_ended(command: RunningCommand, timeout: float) -> str:
    if command.timed_out:
        return (
            f"[timed out after {timeout:g} s: it and all it started were ended; what it had done stays done. "
            "Give a longer timeout, or run it with background]"
        )
    ended = _ending(command)
    return f"[{ended}]" if ended else ""


def _left_behind(command: RunningCommand, context: ToolContext) -> str:
    if command.timed_out or not (command.left_behind or command.held):
        return ""
    handle = context.processes.keep(command)
    return f"[what it started still runs, as {handle}, process group {command.pid}; it is ended with the session]"


def _streamed(context: ToolContext) -> Callable[[bytes], None]:
    """A callback that passes output to the context on the loop's thread, up to a bound."""
    loop = asyncio.get_running_loop()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    shown = 0

    def live(data: bytes) -> None:
        nonlocal shown
        if shown >= MAX_LIVE_BYTES:
            return
        shown += len(data)
        text = decoder.decode(data)
        if shown >= MAX_LIVE_BYTES:
            text += "\n[… more output, not shown while it runs]\n"
        if text:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(context.output, context.call_id, text)

    return live


class BashOutputInput(Struct, frozen=True, forbid_unknown_fields=True):
    handle: Annotated[str, Meta(description="What bash returned, such as bg1.")]
    kill: Annotated[bool, Meta(description="End it with all it started.")] = False


class BashOutput(Tool[BashOutputInput]):
    name = "bash_output"
    description = (
        "Show what a background command printed since the last look, and whether it still runs. Does not wait."
    )
    input = BashOutputInput
    about = "handle"
    longest = SHORT_RESULT_CHARS
    effect = "look"

    async def run(self, given: BashOutputInput, context: ToolContext) -> ToolOutcome:
        command = context.processes.get(given.handle)
        was_running = command.running or command.left_behind or command.held
        if given.kill and was_running:
            await asyncio.to_thread(command.end)
        runs = command.running
        if not runs:
            await command.finished()  # the last output may not have arrived yet
        text = command.take().rstrip("\n") or "(nothing new)"
        state = _state(command, runs=runs, ended_now=given.kill and was_running)
        return ToolOutcome(f"{text}\n[{given.handle.strip()}: {state}]", exit_code=command.exit_code)


def _state(command: RunningCommand | Orphan, *, runs: bool, ended_now: bool) -> str:
    if runs:
        return f"runs, process {command.pid}"
    how = _ending(command) or "exit code 0"
    ended = "ended on your word" if ended_now else "timed out" if command.timed_out else "finished"
    rest = "; what it started still runs" if command.left_behind or command.held else ""
    return f"{ended}, {how}{rest}"
