"""The agent loop: view, model, tools, log, until the model stops calling tools. It stays under 200 lines.

Limits are small policies beside it (`outlive.limits`), faces are readers of what happens in it. It goes on because
there are tool calls, never because of a stop reason alone. Whenever it is cancelled, the log is left valid.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from msgspec.structs import asdict

from outlive.events import ToolStarted
from outlive.limits import Limit, Nudges, Round
from outlive.messages import Block, Text, ToolCall, plain_text, tool_calls
from outlive.models.errors import ModelError, PromptTooLong
from outlive.models.protocol import Model, Reply, Usage
from outlive.request import Request
from outlive.result import DeniedCall, RunResult
from outlive.stream import ModelRetrying, StreamEvent, TextDelta
from outlive.tools.protocol import ToolOutcome
from outlive.tools.runner import Runner

INTERRUPTED = "[interrupted by the user before it came back; what it had done until then stays done]"
NOT_RUN = "[not run: the user interrupted before it started]"
NO_ANSWER = "[no answer]"


class LoopSession(Protocol):
    """What the loop needs from a session."""

    def next_request(self) -> Request: ...

    def log(self, kind: Any, /, **fields: Any) -> Any: ...

    def user_said(self, words: str | tuple[Block, ...]) -> Any: ...

    @property
    def assistant_said(self) -> Callable[..., Any]: ...

    @property
    def tool_finished(self) -> Callable[..., Any]: ...

    def too_long(self, actual: int = 0, limit: int = 0) -> Any: ...


class Loop:
    """Runs one agent. `at_seam` is awaited before each request: queued words, compaction on request, hooks."""

    def __init__(
        self,
        talk: LoopSession,
        model: Model,
        runner: Runner,
        *,
        live: Callable[[StreamEvent], None],
        limits: Sequence[Limit] = (),
        at_seam: Callable[[], Awaitable[None]] | None = None,
        at_rest: Callable[[str], Awaitable[bool]] | None = None,
    ) -> None:
        self.talk = talk
        self.model = model
        self.runner = runner
        self.limits = limits
        self.live = live
        self.denied: list[DeniedCall] = []
        self._at_seam = at_seam
        self._at_rest = at_rest

    async def run(self) -> RunResult:
        """Run until the model is done, a limit is reached or the task is cancelled."""
        nudges = Nudges()
        while True:
            if self._at_seam is not None:
                await self._at_seam()
            request = self.talk.next_request()
            if reached := _first((limit, limit.before(request)) for limit in self.limits):
                return reached
            reply = await self._reply(request)
            calls = tuple(tool_calls(reply.blocks))
            if calls:
                step = Round(calls, await self._run(calls))
                if reached := _first((limit, limit.after(step)) for limit in self.limits):
                    return reached
                continue
            text = plain_text(reply.blocks)
            if reply.stop == "refusal":
                return RunResult("refused", text, "the model declined to answer")
            if nudge := nudges.after(reply):
                self.talk.user_said((Text(nudge, "harness"),))
            elif nudges.gave_up:
                return RunResult("limit", text, nudges.gave_up, limit=nudges.limit)
            elif self._at_rest is None or not await self._at_rest(text):
                return RunResult("done", text)

    # -- the model

    async def _reply(self, request: Request) -> Reply:
        """Get one answer and log it. If the provider finds the request too long, retry with smaller ones down to the
        floor."""
        while True:
            try:
                return self._said(await self._stream(request))
            except PromptTooLong as error:
                self.talk.too_long(error.actual, error.limit)
                request = self.talk.next_request()

    async def _stream(self, request: Request) -> Reply:
        heard: list[str] = []
        try:
            async with aclosing(self.model.stream(request)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        return piece
                    if isinstance(piece, TextDelta):
                        heard.append(piece.text)
                    elif isinstance(piece, ModelRetrying):
                        heard.clear()
                    self.live(piece)
        except asyncio.CancelledError:
            if text := "".join(heard).strip():
                self.talk.assistant_said((Text(text),), stop_reason="interrupted", model=self.model.name)
            raise
        raise ModelError(f"{self.model.name} ended its stream without an answer")

    def _said(self, reply: Reply) -> Reply:
        blocks = reply.blocks or (Text(NO_ANSWER),)
        usage: dict[str, Any] | None = None
        if reply.usage != Usage():
            cost = self.model.price.of(reply.usage) if self.model.price else None
            seen = {"cache_miss": reply.cache_miss, "thinking_dropped": reply.thinking_dropped}
            usage = {"cost": cost, **asdict(reply.usage), **seen}
        name = reply.model or self.model.name
        self.talk.assistant_said(blocks, stop_reason=reply.stop, model=name, usage=usage)
        return reply

    # -- tools

    async def _run(self, calls: tuple[ToolCall, ...]) -> tuple[ToolOutcome, ...]:
        """Run all calls of one answer, safe ones in parallel. Results are logged in order."""
        done: dict[str, tuple[ToolOutcome, float]] = {}
        waiting = list(calls)
        started: set[str] = set()

        async def one(call: ToolCall) -> None:
            done[call.id] = await self.runner.run(call)
            while waiting and waiting[0].id in done:
                first = waiting.pop(0)
                self._finished(first, *done[first.id])

        try:
            for group in self.runner.groups(calls):
                self.talk.log(ToolStarted, calls=tuple(call.id for call in group))
                started.update(call.id for call in group)
                async with asyncio.TaskGroup() as tasks:
                    for call in group:
                        tasks.create_task(one(call))
        except ExceptionGroup as several:  # of a log that cannot be written, above all
            raise several.exceptions[0] from None
        finally:
            for call in waiting:
                missing = INTERRUPTED if call.id in started else NOT_RUN
                self._finished(call, *done.get(call.id, (ToolOutcome(missing, is_error=True), 0.0)))
        return tuple(done[call.id][0] for call in calls)

    def _finished(self, call: ToolCall, outcome: ToolOutcome, seconds: float) -> None:
        self.talk.tool_finished(
            call.id,
            outcome.text,
            is_error=outcome.is_error,
            exit_code=outcome.exit_code,
            images=outcome.images,
            seconds=seconds,
            denied=outcome.denied,
        )
        if outcome.denied:
            self.denied.append(DeniedCall(call, outcome.text, outcome.denied))


def _first(reasons: Iterable[tuple[Limit, str]]) -> RunResult | None:
    return next((RunResult("limit", detail=why, limit=limit.name) for limit, why in reasons if why), None)
