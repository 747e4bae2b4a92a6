"""Claude through the messages API: streaming, tool use, thinking, images, prompt cache.

Not through Anthropic's SDK, whose import takes three times as long as the rest of a start. Retries are in
`outlive.models.retry`.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from importlib.util import find_spec
from typing import Any

from outlive.messages import Block, Message, Opaque, Text, Thinking
from outlive.models.answers.text import ECHO, AnswerSize, AnswerText
from outlive.models.anthropic.form import PROVIDER
from outlive.models.anthropic.request import (
    SUMMARY_BLOCK,
    changes_tools,
    has_summary,
    opens_with_thought,
    request_form,
)
from outlive.models.anthropic.thinking import (
    binds_thinking,
    enforces_output,
    read_thinking,
    summarizes,
    takes_effort,
    takes_system_turns,
    thinking_form,
)
from outlive.models.effort import BUDGETS, read_effort
from outlive.models.errors import ModelNotSetUp, ModelUnavailable, RequestRefused
from outlive.models.failures import Failure, nearest, said_in
from outlive.models.http_api import HttpApi, HttpError
from outlive.models.prices import facts
from outlive.models.protocol import Reply, Stop, Summary, Usage
from outlive.models.provider_model import ProviderModel, checked_key, custom_headers, lost
from outlive.models.repair import Brackets, read_arguments
from outlive.models.sanitize import kept_call, own_ids, whole
from outlive.request import Request
from outlive.stream import ModelStreamEvent, TextDelta, ThinkingDelta, ToolCallStreaming

KEY, TOKEN, ADDRESS = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"
HEADERS_VARIABLE = "ANTHROPIC_CUSTOM_HEADERS"
DEFAULT_ADDRESS = "https://api.anthropic.com"
API_VERSION = "2026-10-21"
"""As the SDK sends it that the tests compare with."""
MESSAGES, MODELS = "v1/messages", "v1/models"
MAX_ANSWER_TOKENS = 32_000
"""Tokens of an answer including thinking, if the model allows as many."""
MIN_ANSWER_TOKENS = 4_096
"""Tokens that a thinking budget leaves for the answer."""
UNKNOWN_MODEL_ANSWER_TOKENS = 8_192
"""Tokens of an answer of an unknown model."""
READ_TIMEOUT_SECONDS = 180.0
"""Seconds between two pieces of a stream."""
USAGE_FIELDS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
"""The API's names of the fields of `Usage`, in order."""
BINDING, DIAGNOSTICS, OUTPUT = "block_binding", "diagnostics", "output_config"
BETAS = {BINDING: "thinking-binding-controls-2026-08-01", DIAGNOSTICS: "cache-diagnosis-2026-04-07"}
"""The fields that are sent where the server takes them, and the betas that they need."""
SUMMARY_BETA = "compact-2026-09-04"
"""The beta of a request that asks for a summary or has one."""
TOOL_CHANGE_BETAS = ("mid-conversation-tool-changes-2026-07-01", "inline-tools-2026-09-15")
"""The betas of a request in which tools come or go."""
TOOL_CHANGE_WORDS = (*TOOL_CHANGE_BETAS, "tool_addition", "tool_removal", "role")
"""What a server names that does not take them."""
STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class AnthropicModel(ProviderModel):
    """One Claude model."""

    provider, key = PROVIDER, KEY

    def __init__(
        self,
        name: str,
        *,
        environment: Mapping[str, str],
        thinking: int | None = None,
        max_tokens: int | None = None,
        silence: float = READ_TIMEOUT_SECONDS,
    ) -> None:
        try:
            self._wanted = read_thinking(environment.get("OUTLIVE_THINKING")) if thinking is None else thinking
        except ValueError as error:
            raise ModelNotSetUp(str(error)) from None
        self._effort = read_effort(environment)
        if self._effort:
            self._wanted = BUDGETS[self._effort]
        key = _key(environment)
        super().__init__(name, facts(name), lambda: _client(environment, key, silence))
        self._max_tokens = max_tokens or min(self._facts.output or UNKNOWN_MODEL_ANSWER_TOKENS, MAX_ANSWER_TOKENS)
        self._refused = (0, 0)
        """`thinking_from` of a request whose thinking was refused, and the number of its messages."""
        self._extras = {DIAGNOSTICS, *((BINDING,) if binds_thinking(name) else ())}
        """What is sent unless the server refuses it."""
        self._takes_summary = summarizes(name)
        """Whether a summary of the provider is sent back."""
        self._takes_output = enforces_output(name)
        """Whether an output format is sent."""
        self._takes_tool_changes = takes_system_turns(name)
        self._last: tuple[Message | None, str] = (None, "")
        """The first message of the last conversation, and the id of its last answer."""

    def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        reading = _Reading(self._model, request.state_block)
        return self._stream(reading, self._events(request, reading))

    def body(self, request: Request) -> dict[str, Any]:
        """The body of the request."""
        first = self._thoughts_from(request)
        form = request_form(
            request,
            thoughts_from=first,
            takes_summary=self._takes_summary,
            takes_tool_changes=self._takes_tool_changes,
        )
        thinking = thinking_form(self._model, self._wanted)
        if thinking and thinking["type"] in ("adaptive", "enabled") and BINDING in self._extras:
            thinking[BINDING] = {"prefix_mismatch_behavior": "drop_block"}
        if DIAGNOSTICS in self._extras:
            opening, answer = self._last
            form[DIAGNOSTICS] = {"previous_message_id": answer if opening == request.messages[0] else None}
        if thinking and thinking["type"] == "enabled" and not opens_with_thought(form["messages"]):
            thinking = None
        form |= {"model": self._model, "max_tokens": self._max_tokens}
        if request.output and self._takes_output:
            form[OUTPUT] = {"format": {"type": "json_schema", "schema": request.output.schema}}
        if self._effort not in ("", "off") and takes_effort(self._model):
            form[OUTPUT] = {**form.get(OUTPUT, {}), "effort": self._effort}
        if thinking and "budget_tokens" in thinking:
            most = self._facts.output or self._max_tokens + thinking["budget_tokens"]
            thinking["budget_tokens"] = min(thinking["budget_tokens"], most - MIN_ANSWER_TOKENS)
            form["max_tokens"] = min(self._max_tokens + thinking["budget_tokens"], most)
        return form | {"thinking": thinking} if thinking else form

    def _thoughts_from(self, request: Request) -> int:
        """The first message whose thinking is sent."""
        view, messages = self._refused
        refused = messages if view == request.thinking_from else 0
        return max(refused, request.thinking_from if binds_thinking(self._model) else 0)

    async def _events(self, request: Request, reading: "_Reading") -> AsyncGenerator[Any, None]:
        """The events of one answer. If the server refuses earlier thinking or an extra field, the request is repeated
        without it."""
        import httpx2

        while True:
            body = self.body(request)
            headers = self._headers(body, summary=has_summary(body["messages"]))
            try:
                await asyncio.to_thread(self.prepare)
                async with aclosing(self._client.events(MESSAGES, {**body, "stream": True}, headers)) as events:
                    async for event in events:
                        yield event
                self._last = request.messages[0], reading.id
                return
            except HttpError as error:
                failure = _failure(error)
                if failure.status == 400 and self._changes(failure.message, request):
                    continue
                raise await self._error(failure) from None
            except (httpx2.HTTPError, ValueError, RecursionError) as error:
                raise ModelUnavailable(f"{self.name}: {lost(error)}") from error

    def _changes(self, said: str, request: Request) -> bool:
        """Whether the next try of a refused request differs."""
        refused = {name for name in self._extras if name in said or BETAS[name] in said}
        self._extras -= refused
        has_one = self._takes_summary and request.messages[0].role == "assistant"
        if has_one and (SUMMARY_BLOCK in said or SUMMARY_BETA in said):
            self._takes_summary = False
            return True
        if request.tool_changes and self._takes_tool_changes and any(word in said for word in TOOL_CHANGE_WORDS):
            self._takes_tool_changes = False
            return True
        if request.output and self._takes_output and OUTPUT in said:
            self._takes_output = False
            return True
        if not refused and _is_about_thoughts(said) and self._thoughts_from(request) < len(request.messages):
            self._refused = request.thinking_from, len(request.messages)
            return True
        return bool(refused)

    async def summarize(self, request: Request, instructions: str) -> Summary:
        """Summarise through the provider."""
        import httpx2

        if not self._takes_summary:
            raise RequestRefused(f"{self.name} makes no summaries")
        body = self.body(request)
        body.pop(DIAGNOSTICS, None)
        wanted = {SUMMARY_BLOCK: {"type": "summarize", "instructions": instructions}}
        try:
            form = await self._client.post(MESSAGES, body | wanted, self._headers(body, summary=True))
        except HttpError as error:
            raise await self._error(_failure(error)) from None
        except (httpx2.HTTPError, ValueError, RecursionError) as error:
            raise ModelUnavailable(f"{self.name}: {lost(error)}") from error
        return self._read(_summary, form)

    def _headers(self, body: dict[str, Any], *, summary: bool) -> dict[str, str]:
        betas = [*(BETAS[name] for name in sorted(self._extras)), *([SUMMARY_BETA] if summary else [])]
        betas += TOOL_CHANGE_BETAS if changes_tools(body["messages"]) else ()
        return {"anthropic-beta": ",".join(betas)} if betas else {}

    async def check(self) -> None:
        import httpx2

        try:
            await self._client.get(f"{MODELS}?limit=1")
        except HttpError as error:
            if error.status != 404:  # it answers, and lists no models
                raise await self._error(_failure(error)) from None
        except (httpx2.HTTPError, ValueError, RecursionError) as error:
            raise ModelUnavailable(f"{self.name}: {lost(error, f' to {self._client.address}')}") from error

    async def _names(self) -> str:
        import httpx2

        try:
            page = await self._client.get(f"{MODELS}?limit=100")
            names = [str(model["id"]) for model in page["data"]]
        except (HttpError, httpx2.HTTPError, ValueError, KeyError, TypeError, RecursionError):
            return f"check the name of the model and {ADDRESS}, which is {self._client.address}"
        return f"there is {nearest(self._model, names)}"


class _Reading:
    """An answer while it arrives."""

    def __init__(self, model: str, state_block: str) -> None:
        self.model = model
        self.id = ""
        self.state_block = state_block
        self.size = AnswerSize()
        self.blocks: dict[int, _Arriving] = {}
        self.usage: dict[str, int] = {}
        self.cache_miss = ""
        self.thinking_dropped = 0
        self.stop = ""
        self.ended = False

    def take(self, event: Mapping[str, Any]) -> list[ModelStreamEvent]:
        match event["type"]:
            case "message_start":
                message = event["message"]
                self.id = str(message.get("id") or "")
                self.model = str(message.get("model") or self.model)
                self._count(message.get("usage"))
                self._diagnose(message)
            case "content_block_start":
                block = self.blocks[event["index"]] = _Arriving(event["content_block"], self.state_block)
                return [ToolCallStreaming(block.form["name"])] if block.form["type"] == "tool_use" else []
            case "content_block_delta":
                for name in ("text", "thinking", "signature", "partial_json"):
                    self.size.add(event["delta"].get(name) or "")
                return self.blocks[event["index"]].take(event["delta"])
            case "message_delta":
                self.stop = event["delta"].get("stop_reason") or self.stop
                self._count(event.get("usage"))
                self._diagnose(event)
            case "message_stop":
                self.ended = True
            case _:
                pass
        return []

    def _count(self, usage: object) -> None:
        """Update the usage; figures of a stream are cumulative."""
        if isinstance(usage, dict):
            told = {name: usage[name] for name in USAGE_FIELDS if usage.get(name) is not None}
            self.usage |= {name: whole(value) for name, value in told.items()}

    def _diagnose(self, told: Mapping[str, Any]) -> None:
        """Read the provider's diagnosis of cache and thinking."""
        reason = (told.get("diagnostics") or {}).get("cache_miss_reason") or {}
        self.cache_miss = str(reason.get("type") or self.cache_miss)
        changed = told.get("input_transformations")
        if isinstance(changed, list):
            self.thinking_dropped = sum(edit.get("type") == "thinking_dropped" for edit in changed)

    def reply(self) -> Reply:
        if not self.ended:
            raise ModelUnavailable(f"{PROVIDER}:{self.model}: the stream ended in the middle of the answer")
        stop = STOPS.get(self.stop, "other")
        arrived = [self.blocks[index] for index in sorted(self.blocks)]
        cut = arrived[-1].form["name"] if stop == "length" and arrived and arrived[-1].is_cut_call() else ""
        blocks = tuple(block for each in (arrived[:-1] if cut else arrived) if (block := each.block()))
        usage = Usage(*(self.usage.get(name, 0) for name in USAGE_FIELDS))
        return Reply(
            own_ids(blocks),
            stop,
            usage,
            self.model,
            cut,
            cache_miss=self.cache_miss,
            thinking_dropped=self.thinking_dropped,
        )

    def held(self, reply: Reply) -> Iterator[ModelStreamEvent]:
        """The text that was held back because it could have been an echo of the state block."""
        text = "".join(block.text.rest(block.text.kept(self.state_block)) for block in self.blocks.values())
        yield from [TextDelta(text)] if text else []


class _Arriving:
    """A block while it arrives."""

    def __init__(self, opening: Mapping[str, Any], state_block: str = "") -> None:
        self.form = {name: value for name, value in opening.items() if value is not None}
        self.state_block = state_block
        self.text = AnswerText(ECHO)
        self.text.take(str(self.form.get("text") or ""))
        self.thinking = [str(self.form.get("thinking") or "")]
        self.signature = str(self.form.get("signature") or "")
        self.arguments: list[str] = []
        self.brackets = Brackets()

    def take(self, delta: Mapping[str, Any]) -> list[ModelStreamEvent]:
        match delta["type"]:
            case "text_delta":
                shown = self.text.take(delta["text"])
                return [TextDelta(shown)] if shown else []
            case "thinking_delta":
                self.thinking.append(delta["thinking"])
                return [ThinkingDelta(delta["thinking"])] if delta["thinking"] else []
            case "signature_delta":
                self.signature += delta["signature"]
            case "input_json_delta":
                self.arguments.append(delta["partial_json"])
                self.brackets.take(delta["partial_json"])
            case _:
                pass
        return []

    def is_cut_call(self) -> bool:
        """Whether this is a call with incomplete arguments."""
        return self.form["type"] == "tool_use" and not self.form.get("input") and not self.brackets.closed

    def block(self) -> Block | None:
        """The block to keep; None for blocks that may not be sent back: blank text, thinking without a signature."""
        match self.form["type"]:
            case "text":
                text = self.text.kept(self.state_block)
                return Text(text) if text.strip() else None
            case "thinking":
                return Thinking("".join(self.thinking), self.signature) if self.signature else None
            case "tool_use":
                given = "".join(self.arguments)
                read = read_arguments(given if given.strip() else self.form.get("input"))
                return kept_call(str(self.form.get("id") or ""), str(self.form["name"]), read)
            case _:
                return Opaque(PROVIDER, self.form)


def _summary(form: Any) -> Summary:
    """The summary in an answer; without a block if the provider could not make one. Its usage is reported
    separately."""
    counted = form["usage"].get("iterations") or [form["usage"]]
    usage = Usage(*(sum(whole(counts.get(name)) for counts in counted) for name in USAGE_FIELDS))
    block = next((block for block in form["content"] if block["type"] == SUMMARY_BLOCK and block["content"]), None)
    return Summary(Opaque(PROVIDER, block), str(block["content"]), usage) if block else Summary(None, usage=usage)


def _key(environment: Mapping[str, str]) -> str:
    """The key or token. Raises ModelNotSetUp if it or the package is missing."""
    if find_spec("httpx2") is None:
        raise ModelNotSetUp("models of Anthropic need a package: pip install 'outlive[anthropic]'")
    name = KEY if environment.get(KEY) else TOKEN
    if key := checked_key(name, environment.get(name, "")):
        return key
    raise ModelNotSetUp(f"{KEY} is not set: export it, or put it into .env and run: outlive trust")


def _client(environment: Mapping[str, str], key: str, silence: float) -> HttpApi:
    headers = {
        "authorization": f"Bearer {key}",
        "anthropic-version": API_VERSION,
        "user-agent": "outlive",
    }
    own = {name.lower(): value for name, value in custom_headers(environment.get(HEADERS_VARIABLE, "")).items()}
    return HttpApi(environment.get(ADDRESS) or DEFAULT_ADDRESS, headers | own, silence=silence)


def _failure(error: HttpError) -> Failure:
    said = said_in(error.body)
    details = said.get("details")
    return error.failure(said, details.get("error_code") if isinstance(details, dict) else "")


def _is_about_thoughts(message: str) -> bool:
    """Whether the provider refuses thinking of another model or of a conversation compacted since."""
    return "`thinking` block" in message or "`redacted_thinking` block" in message
