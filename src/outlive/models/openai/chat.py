"""The chat completions API, which most servers speak (Ollama, llama.cpp, vLLM, LM Studio, gateways).

Options that a server refuses are left out from then on; missing parts of an answer (usage, ids, complete arguments)
are filled in here.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outlive.messages import Block, Text, ToolResult, plain_text, tool_calls
from outlive.models.answers.limit import MIN_ANSWER_TOKENS, answer_limit
from outlive.models.answers.text import CALL_OR_ECHO, ECHO, AnswerSize, AnswerText
from outlive.models.errors import ModelUnavailable
from outlive.models.failures import Failure
from outlive.models.openai.calls import ArrivingCall, CallIds
from outlive.models.openai.fields import field, listed, text_of, usage_of
from outlive.models.openai.form import PROVIDER, request_form
from outlive.models.openai.versions import takes_breakpoints
from outlive.models.prices import facts
from outlive.models.protocol import Reply, Stop, Usage
from outlive.models.sanitize import kept_call
from outlive.models.written_calls.reading import FoundCalls, calls_in
from outlive.request import Request
from outlive.stream import ModelStreamEvent, TextDelta, ThinkingDelta, ToolCallStreaming

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LIMIT_NAMES = ("max_completion_tokens", "max_tokens")
ABOUT_SIZE = re.compile(r"too large|at most|less than|maximum|exceed", re.IGNORECASE)
STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refusal",
}


class ChatApi:
    """How one model is asked in the chat API. What its server refuses is left out of later requests."""

    def __init__(
        self, model: str, max_tokens: int, *, window: int = 0, official: bool = False, effort: str = ""
    ) -> None:
        """`official`: OpenAI's own server, which knows newer names of options and enforces an output format."""
        self._model = model
        self._options: dict[str, Any] = {"stream_options": {"include_usage": True}}
        self._most, self._window = max_tokens, window
        self._limit_names: tuple[str, ...] = LIMIT_NAMES if official or facts(model).output else LIMIT_NAMES[::-1]
        """What this server may call the limit of an answer; those that it refused are gone."""
        if effort:
            self._options["reasoning_effort"] = effort
        self._breakpoints = takes_breakpoints(model)
        self._enforces_output = official

    def body(self, request: Request) -> dict[str, Any]:
        form = request_form(request, breakpoints=self._breakpoints) | self._options
        for name in self._limit_names[:1]:
            form[name] = answer_limit(request, self._window, self._most)
        if request.output and self._enforces_output:
            wanted = {"name": request.output.name, "schema": request.output.schema, "strict": True}
            form["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return form

    def answer(self, request: Request) -> "ChatAnswer":
        return ChatAnswer(self._model, request)

    async def open(self, client: "AsyncOpenAI", body: dict[str, Any]) -> Any:
        """Send the request. The body goes in as `extra_body`, because the SDK would walk through every field for a
        quarter of a second."""
        return await client.chat.completions.create(model=self._model, messages=[], stream=True, extra_body=body)

    def failure_in(self, event: Any) -> Failure | None:
        """The failure in an event of a stream; here the SDK raises them."""
        return None

    def changes(self, failure: Failure, request: Request) -> bool:
        """Whether an option could be changed for this server; the change holds for later requests."""
        said, options = failure.message, self._options
        if failure.status not in (400, 422):
            return False
        if self._breakpoints and "prompt_cache_breakpoint" in said:
            self._breakpoints = False
            return True
        if request.output and self._enforces_output and "response_format" in said:
            self._enforces_output = False
            return True
        if "stream_options" in said and options.pop("stream_options", None):
            return True
        if self._limit_names and any(name in said for name in LIMIT_NAMES):
            self._change_limit(said)
            return True
        if "reasoning_effort" in said and request.tools and options.get("reasoning_effort") != "none":
            options["reasoning_effort"] = "none"  # with tools, this API accepts newer models only without reasoning
            return True
        return False

    def _change_limit(self, said: str) -> None:
        """A smaller limit if it was too large for this server, else another name for it, or none."""
        if ABOUT_SIZE.search(said) and self._most > MIN_ANSWER_TOKENS:
            self._most = max(MIN_ANSWER_TOKENS, self._most // 4)
        else:
            self._limit_names = self._limit_names[1:]


class ChatAnswer:
    """An answer while it arrives."""

    def __init__(self, model: str, request: Request) -> None:
        self.model = model
        self.request = request
        self.ids = CallIds(request)
        self.text = AnswerText(CALL_OR_ECHO if request.tools else ECHO)
        self.size = AnswerSize()
        self.calls: list[ArrivingCall] = []
        self.by_index: dict[int, ArrivingCall] = {}
        self.stop = ""
        self.refused = False
        self.usage = Usage()

    def take(self, chunk: Any) -> list[ModelStreamEvent]:
        self.model = text_of(getattr(chunk, "model", "")) or self.model
        if usage := getattr(chunk, "usage", None):
            details = field(usage, "prompt_tokens_details")
            self.usage = usage_of(field(usage, "prompt_tokens"), details, field(usage, "completion_tokens"))
        pieces: list[ModelStreamEvent] = []
        for choice in listed(getattr(chunk, "choices", None)):
            self.stop = text_of(getattr(choice, "finish_reason", "")) or self.stop
            delta = getattr(choice, "delta", None)
            if delta is not None:
                pieces += self._delta(delta)
        return pieces

    def _delta(self, delta: Any) -> list[ModelStreamEvent]:
        pieces: list[ModelStreamEvent] = []
        if thought := text_of(getattr(delta, "reasoning_content", "")) or text_of(getattr(delta, "reasoning", "")):
            self.size.add(thought)
            pieces.append(ThinkingDelta(thought))
        refusal = getattr(delta, "refusal", None)
        self.refused = self.refused or bool(refusal)
        words = _said(getattr(delta, "content", None)) + _said(refusal)
        self.size.add(words)
        if shown := self.text.take(words):
            pieces.append(TextDelta(shown))
        for place, piece in enumerate(listed(getattr(delta, "tool_calls", None))):
            pieces += self._call(piece, place)
        return pieces

    def held(self, reply: Reply) -> Iterator[ModelStreamEvent]:
        """The text that was held back because it could have been a call, and calls found in it."""
        if words := self.text.rest(plain_text(reply.blocks)):
            yield TextDelta(words)
        if not self.calls:
            yield from (ToolCallStreaming(call.name) for call in tool_calls(reply.blocks))

    def _call(self, piece: Any, place: int) -> list[ModelStreamEvent]:
        function = getattr(piece, "function", None)
        given_id = text_of(getattr(piece, "id", ""))
        name = text_of(getattr(function, "name", "")).strip()
        arguments = getattr(function, "arguments", None)
        self.size.add(text_of(arguments))
        index = getattr(piece, "index", None)
        index = index if isinstance(index, int) else place
        call = self.by_index.get(index)
        if call is None or call.is_another(given_id, name, arguments):
            call = self.by_index[index] = ArrivingCall(given_id)
            self.calls.append(call)
        new = bool(name) and not call.name
        call.take(name, arguments)
        return [ToolCallStreaming(call.name)] if new else []

    def reply(self) -> Reply:
        if not self.stop:
            raise ModelUnavailable(f"{PROVIDER}:{self.model}: the stream ended in the middle of the answer")
        stop = "refusal" if self.refused else STOPS.get(self.stop, "other")
        calls, cut = self.calls, ""
        if stop == "length" and calls and not calls[-1].is_complete():
            calls, cut = calls[:-1], calls[-1].name
        made = [self.ids.made(call) for call in calls]
        text = self.text.kept(self.request.state_block)
        found = self._written(text) if not self.calls and stop in ("end", "tools") else FoundCalls()
        if found.calls:
            made = [kept_call(self.ids.unique(), call.name, call.input) for call in found.calls]
            text = found.before
        words: list[Block] = [Text(text)] if text.strip() else []
        stop = "tools" if made and stop == "end" else "end" if stop == "tools" and not made else stop
        return Reply((*words, *made), stop, self.usage, self.model, cut, found.near)

    def _written(self, text: str) -> FoundCalls:
        """Calls in the text. A call that occurs in messages of users or results of tools is a quote."""
        schemas: dict[str, Any] = {str(tool["name"]): tool["input_schema"] for tool in self.request.offered}
        messages = (message for message in self.request.messages if message.role == "user")
        blocks = (block for message in messages for block in message.blocks)
        return calls_in(text, schemas, (block.text for block in blocks if isinstance(block, (Text, ToolResult))))


def _said(content: Any) -> str:
    """The text of a piece; some servers send a list of parts."""
    if not isinstance(content, (list, str, type(None))):
        raise TypeError(f"content is of type {type(content).__name__}")
    if not isinstance(content, list):
        return content or ""
    return "".join(text_of(part.get("text")) for part in content if isinstance(part, dict))
