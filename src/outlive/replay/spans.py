"""A session as spans, named by the OpenTelemetry conventions for generative AI.

Each request of the user is a trace: the run of the agent at its root, and in it model calls, tool calls and passes.
Ids follow from the session and its events, so the same span sent again is the same span.
"""

import hashlib
from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from outlive.events import AssistantSaid, Compacted, Event, SessionStarted, ToolFinished, UsageReported, UserSaid
from outlive.messages import ToolCall, plain_text, tool_calls
from outlive.origin import user_words

Attribute = str | int | float | bool | tuple[str, ...]
PROVIDERS = ("anthropic", "openai")
AGENT = "outlive"


class TraceSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Something that began and ended. Times are in seconds since 1970."""

    trace: str
    """Ids are hexadecimal."""
    id: str
    parent: str = ""
    name: str
    begin: float
    end: float
    attributes: dict[str, Attribute]
    error: str = ""
    is_request: bool = False
    """It asked another system, a model's provider."""


def spans(session: str, events: Iterable[Event], *, content: bool = False) -> Iterator[TraceSpan]:
    """The spans of a session, those of a run before the run itself. `content`: also what was said, and results."""
    tracer = _Tracer(session, content)
    for event in events:
        yield from tracer.take(event)
    yield from tracer.end()


class _Tracer:
    def __init__(self, session: str, content: bool) -> None:
        self._session = session
        self._content = content
        self._run: TraceSpan | None = None
        self._answer: TraceSpan | None = None
        """The last model call; its usage may follow."""
        self._calls: dict[str, tuple[ToolCall, float]] = {}
        self._model = ""
        self._now = 0.0

    def take(self, event: Event) -> Iterator[TraceSpan]:
        before, self._now = self._now or event.time, event.time
        if not isinstance(event, UsageReported):
            yield from self._end_answer()
        match event:
            case SessionStarted():
                self._model = event.model
            case UserSaid():
                yield from self._end_run(before)
                self._begin_run(event)
            case AssistantSaid():
                self._answer = self._answered(event, before)
                self._calls = {call.id: (call, event.time) for call in tool_calls(event.blocks)}
            case UsageReported() if self._answer is not None and event.of:
                self._answer = replace(self._answer, attributes=self._answer.attributes | _usage(event))
                yield from self._end_answer()
            case ToolFinished():
                yield from self._finished(event)
            case Compacted():
                yield self._pass(event)
            case _:
                pass

    def end(self) -> Iterator[TraceSpan]:
        yield from self._end_answer()
        yield from self._end_run(self._now)

    def _begin_run(self, event: UserSaid) -> None:
        attributes = self._attributes("invoke_agent") | {"gen_ai.agent.name": AGENT}
        if self._content:
            attributes["gen_ai.input.messages"] = _messages("user", user_words(event.blocks))
        trace = _hash(f"{self._session}/{event.id}", 16)
        span = _hash(f"{self._session}/{event.id}/run", 8)
        self._run = TraceSpan(
            trace=trace,
            id=span,
            name=f"invoke_agent {AGENT}",
            begin=event.time,
            end=event.time,
            attributes=attributes,
        )

    def _end_run(self, end: float) -> Iterator[TraceSpan]:
        if self._run is not None:
            yield replace(self._run, end=max(end, self._run.begin))
            self._run = None

    def _answered(self, event: AssistantSaid, begin: float) -> TraceSpan:
        model = event.model or self._model
        attributes = self._attributes("chat") | _model(model)
        if event.stop_reason:
            attributes["gen_ai.response.finish_reasons"] = (event.stop_reason,)
        if self._content:
            attributes["gen_ai.output.messages"] = _messages("assistant", plain_text(event.blocks))
        name = f"chat {model.rpartition(':')[2]}".strip()
        return self._inside(event, name, begin, attributes, is_request=True)

    def _end_answer(self) -> Iterator[TraceSpan]:
        if self._answer is not None:
            yield self._answer
            self._answer = None

    def _finished(self, event: ToolFinished) -> Iterator[TraceSpan]:
        call, asked = self._calls.pop(event.call_id, (None, event.time))
        if call is None:
            return
        attributes = self._attributes("execute_tool") | {
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "function",
        }
        if event.exit_code is not None:
            attributes["process.exit.code"] = event.exit_code
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = msgspec.json.encode(call.input).decode()
            attributes["gen_ai.tool.call.result"] = event.text
        error = "denied" if event.denied else "error" if event.is_error else ""
        begin = max(asked, event.time - event.seconds) if event.seconds else asked
        yield self._inside(event, f"execute_tool {call.name}", begin, attributes, error=error)

    def _pass(self, event: Compacted) -> TraceSpan:
        receipt = event.receipt
        attributes = self._attributes("compact") | {
            "outlive.pass.reason": receipt.reason,
            "outlive.pass.rungs": receipt.rungs,
            "outlive.pass.tokens_before": receipt.before,
            "outlive.pass.tokens_after": receipt.after,
            "outlive.pass.units_folded": receipt.units_folded,
            "outlive.pass.lines_kept": receipt.lines_kept,
        }
        return self._inside(event, "compact", event.time - receipt.seconds, attributes)

    def _inside(
        self,
        event: Event,
        name: str,
        begin: float,
        attributes: dict[str, Attribute],
        *,
        error: str = "",
        is_request: bool = False,
    ) -> TraceSpan:
        """A span of the run, or of a trace of its own where there is none."""
        run = self._run
        return TraceSpan(
            trace=run.trace if run else _hash(f"{self._session}/{event.id}", 16),
            id=_hash(f"{self._session}/{event.id}/event", 8),
            parent=run.id if run else "",
            name=name,
            begin=min(begin, event.time),
            end=event.time,
            attributes=attributes,
            error=error,
            is_request=is_request,
        )

    def _attributes(self, operation: str) -> dict[str, Attribute]:
        return {"gen_ai.operation.name": operation, "gen_ai.conversation.id": self._session}


def _model(name: str) -> dict[str, Attribute]:
    provider, _, model = name.rpartition(":")
    found: dict[str, Attribute] = {"gen_ai.request.model": model, "gen_ai.response.model": model}
    known = provider if provider in PROVIDERS else "anthropic" if model.startswith("claude") else provider
    return found | ({"gen_ai.provider.name": known} if known else {})


def _usage(event: UsageReported) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {
        "gen_ai.usage.input_tokens": event.input + event.cache_read + event.cache_write,
        "gen_ai.usage.cache_read.input_tokens": event.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": event.cache_write,
        "gen_ai.usage.output_tokens": event.output,
    }
    if event.cost is not None:
        found["outlive.cost_usd"] = event.cost
    if event.cache_miss:
        found["outlive.cache_miss_reason"] = event.cache_miss
    return found


def _messages(role: str, text: str) -> str:
    return msgspec.json.encode([{"role": role, "parts": [{"type": "text", "content": text}]}]).decode()


def _hash(name: str, size: int) -> str:
    """An id of so many bytes that follows from a name."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[: 2 * size]
