"""Runs calls of the model: input check, hooks, permission, run. No input of a model raises."""

import asyncio
import time
from collections.abc import Awaitable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from itertools import groupby
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace as with_fields

from outlive.errors import OutliveError
from outlive.events import Denial
from outlive.messages import ToolCall
from outlive.tools.protocol import Tool, ToolContext, ToolOutcome
from outlive.tools.toolbox import Toolbox


class Verdict(Struct, frozen=True):
    """Whether a call may run; if not, the reason for the model."""

    allowed: bool
    reason: str = ""
    denial: Denial = Denial()


class Gate(Protocol):
    """Decides whether a call may run; may ask the user."""

    async def allows(self, tool: Tool[Any], given: Struct, context: ToolContext) -> Verdict: ...


class HookAnswer(Struct, frozen=True):
    """The answer of hooks: a reason to block, or context for the model."""

    blocked: str = ""
    context: str = ""


class Hooks(Protocol):
    """Runs the user's hooks for an event."""

    def fire(self, event: str, **about: Any) -> Awaitable[HookAnswer]: ...


class Runner:
    def __init__(self, toolbox: Toolbox, context: ToolContext, gate: Gate, hooks: Hooks) -> None:
        self.toolbox = toolbox
        self.context = context
        self.gate = gate
        self.hooks = hooks

    def groups(self, calls: Iterable[ToolCall]) -> Iterator[list[ToolCall]]:
        """The calls in order; neighbours that may run in parallel form one group."""
        parallel = {tool.name for tool in self.toolbox if tool.parallel}
        for together, neighbours in groupby(calls, lambda call: call.name in parallel):
            group = list(neighbours)
            yield from [group] if together else ([call] for call in group)

    async def run(self, call: ToolCall) -> tuple[ToolOutcome, float]:
        """Run a call and return its outcome and duration in seconds."""
        began = time.monotonic()
        try:
            outcome = await self._run(call)
        except OutliveError as error:
            outcome = ToolOutcome(str(error), is_error=True)
        except OSError as error:
            place = f": {error.filename}" if error.filename else ""
            outcome = ToolOutcome(f"{call.name}: {error.strerror or error}{place}", is_error=True)
        except Exception as error:  # noqa: BLE001 - a bug in one tool must not end a session of days
            outcome = ToolOutcome(f"{call.name} failed inside: {type(error).__name__}: {error}", is_error=True)
        return outcome, time.monotonic() - began

    async def _run(self, call: ToolCall) -> ToolOutcome:
        tool, given = self.toolbox.read(call)
        name = tool.rule_name(given)
        before = await self.hooks.fire("PreToolUse", tool=name, input=call.input)
        if before.blocked:
            reason = f"a hook of the user blocked this call: {before.blocked}"
            return ToolOutcome(reason, is_error=True, denied=Denial("hook"))
        context = replace(self.context, call_id=call.id)
        await tool.prepare(given, context)
        verdict = await self.gate.allows(tool, given, context)
        if not verdict.allowed:
            return ToolOutcome(verdict.reason, is_error=True, denied=verdict.denial)
        async with _recorded(tool, given, context):
            outcome = await tool.run(given, context)
        text = await asyncio.to_thread(context.mask, outcome.text)  # a long one takes a moment
        outcome = with_fields(outcome, text=text)
        if not outcome.is_error and (
            rules := [text for path in tool.paths(given) if (text := context.rules_of(path))]
        ):
            outcome = with_fields(outcome, text="\n\n".join([outcome.text, *rules]))
        after = await self.hooks.fire(
            "PostToolUse", tool=name, input=call.input, output=outcome.text, is_error=outcome.is_error
        )
        notes = "\n".join(filter(None, (before.context, after.context, after.blocked)))
        return with_fields(outcome, text=f"{outcome.text}\n[hook] {notes}") if notes else outcome


def _recorded(tool: Tool[Any], given: Struct, context: ToolContext) -> AbstractAsyncContextManager[None]:
    """Record the files that the call changes."""
    effect = tool.effect_of(given)
    if context.changes is None or effect not in ("edit", "run"):
        return nullcontext()
    if effect == "edit":
        return context.changes.edit(context.call_id, tool.paths(given))
    return context.changes.command(context.call_id)
