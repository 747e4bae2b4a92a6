"""The Responses API, in which OpenAI's newer models offer tools together with reasoning.

Nothing is stored at the provider: reasoning comes encrypted, is kept in the conversation and sent back as it came.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outlive.messages import Block, Opaque, Text, ToolCall
from outlive.models.answers.text import ECHO, AnswerSize, AnswerText
from outlive.models.errors import ModelUnavailable
from outlive.models.failures import Failure
from outlive.models.openai.calls import ArrivingCall, CallIds
from outlive.models.openai.fields import field, listed, text_of, usage_of
from outlive.models.openai.form import PROVIDER
from outlive.models.openai.responses_form import responses_form
from outlive.models.openai.versions import takes_breakpoints
from outlive.models.protocol import Reply, Stop, Summary, Usage
from outlive.models.sanitize import writable
from outlive.request import Request
from outlive.stream import ModelStreamEvent, TextDelta, ThinkingDelta, ToolCallStreaming

if TYPE_CHECKING:
    from openai import AsyncOpenAI

INCOMPLETE: dict[str, Stop] = {"max_output_tokens": "length", "content_filter": "refusal"}
MAX_PHASE_CHARS = 40  # it goes into the log; OpenAI's own are a word or two
LASTING = re.compile(r"^invalid_|^image_|^unsupported_|_policy|^failed_to_download|^empty_image")
"""Codes of failures that a retry does not help."""
ABOUT_REASONING = re.compile(r"of type 'reasoning'|required 'reasoning' item|could not be verified|Item with id 'rs_")
ABOUT_SUMMARIES = re.compile(r"reasoning\.summary|reasoning summar", re.IGNORECASE)
ABOUT_ENCRYPTION = re.compile(r"encrypted content is not supported|reasoning\.encrypted_content", re.IGNORECASE)


class ResponsesApi:
    """How one model is asked in the Responses API. What its server refuses is left out of later requests."""

    def __init__(self, model: str, max_tokens: int, *, enforces_output: bool = False, effort: str = "") -> None:
        self._model = model
        self._options: dict[str, Any] = {
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"summary": "auto"} | ({"effort": effort} if effort else {}),
            "max_output_tokens": max_tokens,
        }
        self._breakpoints = takes_breakpoints(model)
        self._enforces_output = enforces_output
        self._refused = (0, 0)
        """`thinking_from` of a request whose reasoning was refused, and the number of its messages."""

    def body(self, request: Request) -> dict[str, Any]:
        first = self._reasoning_from(request)
        form = responses_form(request, breakpoints=self._breakpoints, reasoning_from=first) | self._options
        if request.output and self._enforces_output:
            wanted = {"name": request.output.name, "schema": request.output.schema, "strict": True}
            form["text"] = {"format": {"type": "json_schema", **wanted}}
        return form

    def _reasoning_from(self, request: Request) -> int:
        """The first message whose reasoning is sent."""
        view, messages = self._refused
        return max(request.thinking_from, messages if view == request.thinking_from else 0)

    def answer(self, request: Request) -> "ResponsesAnswer":
        return ResponsesAnswer(self._model, request)

    async def open(self, client: "AsyncOpenAI", body: dict[str, Any]) -> Any:
        """Send the request. The body goes in as `extra_body`, because the SDK would walk through every field of every
        item."""
        return await client.responses.create(model=self._model, stream=True, extra_body=body)

    async def compact(self, client: "AsyncOpenAI", request: Request) -> Summary:
        """Compact all messages into one item that only the provider can read; its content cannot be influenced."""
        body = writable(self.body(request))
        wanted = {name: body[name] for name in ("input", "instructions") if name in body}
        raw = await client.responses.with_raw_response.compact(model=self._model, extra_body=wanted)
        form = raw.http_response.json()
        usage = form["usage"]
        counted = usage_of(usage["input_tokens"], usage.get("input_tokens_details"), usage["output_tokens"])
        item = next((item for item in form["output"] if item["type"] == "compaction"), None)
        return Summary(Opaque(PROVIDER, item) if item else None, usage=counted)

    def failure_in(self, event: Any) -> Failure | None:
        """The failure in an event of a stream."""
        kind = field(event, "type")
        if kind not in ("error", "response.failed"):
            return None
        detail = event if kind == "error" else field(field(event, "response"), "error")
        code = text_of(field(detail, "code"))
        message = text_of(field(detail, "message")) or code or "the provider could not answer"
        return Failure(0, message, kind="invalid_request_error" if LASTING.search(code) else "", code=code)

    def is_missing(self, failure: Failure) -> bool:
        """Whether the server has no such API; it may also be the model or a reasoning item that is not found."""
        absent = failure.status in (404, 405) and failure.code != "model_not_found"
        return absent and not ABOUT_REASONING.search(failure.message)

    def changes(self, failure: Failure, request: Request) -> bool:
        """Whether the next try of a refused request differs; the change holds for later requests."""
        said, options = failure.message, self._options
        if failure.status not in (400, 404, 422):
            return False
        if self._breakpoints and "prompt_cache_breakpoint" in said:
            self._breakpoints = False
            return True
        if request.output and self._enforces_output and "text.format" in said:
            self._enforces_output = False
            return True
        if ABOUT_REASONING.search(said) and self._reasoning_from(request) < len(request.messages):
            self._refused = request.thinking_from, len(request.messages)
            return True
        if ABOUT_SUMMARIES.search(said) and options.get("reasoning", {}).pop("summary", None):
            if not options["reasoning"]:
                del options["reasoning"]
            return True
        return bool(ABOUT_ENCRYPTION.search(said) and options.pop("include", None))


class _Message:
    """A message item while it arrives."""

    def __init__(self) -> None:
        self.phase = ""
        """Whether the provider calls it commentary or the answer; it wants that back."""
        self.begun = self.ended = False
        self._text = AnswerText(ECHO)

    def take(self, words: str) -> list[ModelStreamEvent]:
        self.begun = self.begun or bool(words)
        return _shown(self._text.take(words))

    def end(self, state_block: str) -> list[ModelStreamEvent]:
        """Text that was held back because it could have been an echo of the state block."""
        rest = "" if self.ended else self._text.rest(self._text.kept(state_block))
        self.ended = True
        return _shown(rest)

    def blocks(self, state_block: str) -> list[Block]:
        text = self._text.kept(state_block)
        phase = [Opaque(PROVIDER, {"type": "phase", "phase": self.phase})] if self.phase else []
        return [*phase, Text(text)] if text.strip() else []


def _shown(words: str) -> list[ModelStreamEvent]:
    return [TextDelta(words)] if words else []


class _Reasoning:
    """A reasoning item while it arrives; only the complete one can be sent back."""

    def __init__(self) -> None:
        self.item: dict[str, Any] | None = None


class _Other:
    """An item of a kind that is not asked for."""


_Item = _Message | _Reasoning | ArrivingCall | _Other


class ResponsesAnswer:
    """An answer while it arrives."""

    def __init__(self, model: str, request: Request) -> None:
        self.model = model
        self.state_block = request.state_block
        self.ids = CallIds(request)
        self.size = AnswerSize()
        self.items: dict[int, _Item] = {}
        """By their places in the answer."""
        self.stop: Stop | None = None
        self.refused = False
        self.usage = Usage()

    def take(self, event: Any) -> list[ModelStreamEvent]:
        match field(event, "type"):
            case "response.output_item.added":
                return self._added(event)
            case "response.output_text.delta":
                return self._said(event)
            case "response.refusal.delta":
                self.refused = True
                return self._said(event)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return [ThinkingDelta(self._delta(event))]
            case "response.reasoning_summary_part.added" if field(event, "summary_index"):
                return [ThinkingDelta("\n\n")]
            case "response.function_call_arguments.delta":
                self._at(event, ArrivingCall).take("", self._delta(event))
            case "response.output_item.done":
                return self._done(event)
            case "response.completed":
                self._ended(event, "end")
            case "response.incomplete":
                details = field(field(event, "response"), "incomplete_details")
                self._ended(event, INCOMPLETE.get(text_of(field(details, "reason")), "other"))
            case _:
                pass
        return []

    def _delta(self, event: Any) -> str:
        delta = field(event, "delta")
        if not isinstance(delta, str):
            raise TypeError(f"delta is of type {type(delta).__name__}")
        self.size.add(delta)
        return delta

    def _at(self, event: Any, kind: type[Any]) -> Any:
        """The item that an event belongs to. Raises KeyError or TypeError if there is none of this kind."""
        item = self.items[field(event, "output_index")]
        if not isinstance(item, kind):
            raise TypeError(f"{field(event, 'type')} for another kind of item")
        return item

    def _added(self, event: Any) -> list[ModelStreamEvent]:
        item, place = field(event, "item"), field(event, "output_index")
        if not isinstance(place, int) or place in self.items:
            raise ValueError(f"an item at {place!r}")
        self.size.add("item")
        match field(item, "type"):
            case "message":
                self.items[place] = _Message()
            case "reasoning":
                self.items[place] = _Reasoning()
            case "function_call":
                self.items[place] = call = ArrivingCall(text_of(field(item, "call_id")))
                call.take(text_of(field(item, "name")).strip(), None)
                return [ToolCallStreaming(call.name)] if call.name else []
            case _:
                self.items[place] = _Other()
        return []

    def _said(self, event: Any) -> list[ModelStreamEvent]:
        return list(self._at(event, _Message).take(self._delta(event)))

    def _done(self, event: Any) -> list[ModelStreamEvent]:
        """The complete item. Its text arrived as deltas before, except encrypted reasoning."""
        form, place = field(event, "item"), field(event, "output_index")
        pieces = [] if place in self.items else self._added(event)
        item = self.items[place]
        if isinstance(item, _Reasoning):
            item.item = _reasoning_item(form)
            self.size.add(str(item.item))
        elif isinstance(item, ArrivingCall) and not item.arguments:
            item.take("", field(form, "arguments"))
            self.size.add(text_of(item.arguments))
        elif isinstance(item, _Message):
            item.phase = text_of(field(form, "phase"))[:MAX_PHASE_CHARS]
            if not item.begun:
                pieces += item.take(self._content(form))
            pieces += item.end(self.state_block)
        return pieces

    def _content(self, form: Any) -> str:
        """The words of a complete message."""
        parts = listed(field(form, "content"))
        self.refused = self.refused or any(field(part, "type") == "refusal" for part in parts)
        words = "".join(text_of(field(part, "text")) or text_of(field(part, "refusal")) for part in parts)
        self.size.add(words)
        return words

    def _ended(self, event: Any, stop: Stop) -> None:
        response, self.stop = field(event, "response"), stop
        self.model = text_of(field(response, "model")) or self.model
        if usage := field(response, "usage"):
            details = field(usage, "input_tokens_details")
            self.usage = usage_of(field(usage, "input_tokens"), details, field(usage, "output_tokens"))

    def held(self, reply: Reply) -> Iterator[ModelStreamEvent]:
        """Held-back text of messages that the server did not end."""
        for _, item in sorted(self.items.items()):
            if isinstance(item, _Message):
                yield from item.end(self.state_block)

    def reply(self) -> Reply:
        if self.stop is None:
            raise ModelUnavailable(f"{PROVIDER}:{self.model}: the stream ended in the middle of the answer")
        stop: Stop = "refusal" if self.refused else self.stop
        items, cut = [item for _, item in sorted(self.items.items())], ""
        last = items[-1] if items else None
        if stop == "length" and isinstance(last, ArrivingCall) and not last.is_complete():
            items, cut = items[:-1], last.name
        blocks: list[Block] = []
        for block in reversed([block for item in items for block in self._blocks(item)]):
            if blocks or not isinstance(block, Opaque):  # reasoning that nothing follows cannot be sent back
                blocks.append(block)
        stop = "tools" if stop == "end" and any(isinstance(block, ToolCall) for block in blocks) else stop
        return Reply(tuple(reversed(blocks)), stop, self.usage, self.model, cut)

    def _blocks(self, item: _Item) -> list[Block]:
        match item:
            case ArrivingCall():
                return [self.ids.made(item)]
            case _Message():
                return item.blocks(self.state_block)
            case _Reasoning() if item.item:
                return [Opaque(PROVIDER, item.item)]
            case _:
                return []


def _reasoning_item(form: Any) -> dict[str, Any] | None:
    """A reasoning item as it is sent back; None if it has no encrypted content, because nothing else is stored."""
    encrypted = field(form, "encrypted_content")
    if not encrypted:
        return None
    core = {"id": field(form, "id"), "encrypted_content": encrypted}
    if not all(isinstance(value, str) for value in core.values()):
        raise TypeError("a reasoning item whose id or content is not text")
    item = {"type": "reasoning", **core, "summary": _texts(field(form, "summary"))}
    content = _texts(field(form, "content"))
    return item | {"content": content} if content else item


def _texts(parts: Any) -> list[dict[str, str]]:
    return [{"type": text_of(field(part, "type")), "text": text_of(field(part, "text"))} for part in listed(parts)]
