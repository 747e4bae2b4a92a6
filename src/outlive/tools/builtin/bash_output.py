"""`bash_output`: the output of a background command since the last call."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from outlive.tools.builtin.bash import ending
from outlive.tools.processes.command import RunningCommand
from outlive.tools.processes.orphan import Orphan
from outlive.tools.protocol import SHORT, Tool, ToolContext, ToolOutcome


class BashOutputInput(Struct, frozen=True, forbid_unknown_fields=True):
    handle: Annotated[str, Meta(description="The handle that bash returned, such as bg1.")]
    kill: Annotated[bool, Meta(description="End the command and all it started.")] = False


class BashOutput(Tool[BashOutputInput]):
    name = "bash_output"
    description = (
        "Show what a background command printed since the last look, and whether it still runs. With kill, end it. "
        "It does not wait for output and cannot send input."
    )
    input = BashOutputInput
    about = "handle"
    longest = SHORT
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
    how = ending(command) or "exit code 0"
    ended = "ended on your word" if ended_now else "timed out" if command.timed_out else "finished"
    rest = "; what it started still runs" if command.left_behind or command.held else ""
    return f"{ended}, {how}{rest}"
