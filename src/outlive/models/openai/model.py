"""OpenAI and servers with its chat API (Ollama, llama.cpp, vLLM, LM Studio, gateways) through OpenAI's own SDK.

Options that a server refuses are left out from then on; missing parts of an answer (usage, ids, complete arguments)
are filled in here. Retries are in `outlive.models.retry`.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from msgspec.structs import replace

from outlive.messages import Block, Text, ToolResult, plain_text, tool_calls
from outlive.models.answer_text import CALL_OR_ECHO, ECHO, AnswerSize, AnswerText
from outlive.models.errors import ModelError, NotSetUp, RequestRefused, Unavailable
from outlive.models.failures import Failure, nearest, said_in
from outlive.models.openai.form import request_form
from outlive.models.prices import facts
from outlive.models.protocol import Reply, Stop, Usage
from outlive.models.repair import Brackets, read_arguments
from outlive.models.sanitize import LONGEST_NAME, kept_call, whole, writable
from outlive.models.sdk import CONNECTING, SdkModel, custom_headers, lost
from outlive.models.text_calls import FoundCalls, calls_in
from outlive.request import Request
from outlive.stream import Arriving, CallArriving, TextArrived, ThinkingArrived

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionChunk

PROVIDER = "openai"
KEY, ADDRESS = "OPENAI_API_KEY", "OPENAI_BASE_URL"
ORGANIZATION, PROJECT, HEADERS = "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"
USUAL_ADDRESS = "https://api.openai.com/v1"
NO_KEY = "none"
"""The SDK requires a key, local servers do not."""
SILENCE = 600.0
"""Seconds between two pieces of a stream: a local model may read a long prompt for minutes."""
MOST_CHANGES = 4
"""How often the options of a request are changed for a server before giving up."""
STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refusal",
}


class OpenAIModel(SdkModel):
    """One model behind a chat completions API."""

    provider, key = PROVIDER, KEY

    def __init__(
        self,
        name: str,
        *,
        environment: Mapping[str, str],
        window: int = 0,
        max_tokens: int | None = None,
        silence: float = SILENCE,
    ) -> None:
        known = facts(name)
        self._address = environment.get(ADDRESS) or USUAL_ADDRESS
        client = _client(environment, self._address, silence)
        super().__init__(name, replace(known, window=window or known.window), client)
        self._options: dict[str, Any] = {"stream_options": {"include_usage": True}}
        if max_tokens:
            self._options["max_completion_tokens"] = max_tokens

    def stream(self, request: Request) -> AsyncGenerator[Arriving | Reply, None]:
        return self._stream(_Reading(self._model, request), self._chunks(request))

    async def _chunks(self, request: Request) -> AsyncGenerator["ChatCompletionChunk", None]:
        """The chunks of one answer. Options that the server refuses are changed and the request repeated."""
        import openai

        for changes in range(MOST_CHANGES + 1):
            try:
                stream = await self._open(request)
                async with stream:
                    async for chunk in stream:
                        yield chunk
                return
            except openai.APIConnectionError as error:
                raise Unavailable(f"{self.name}: {lost(error, f' to {self._address}')}") from error
            except openai.APIError as error:
                failure = _failure(error)
                if changes < MOST_CHANGES and self._changes(failure, with_tools=bool(request.tools)):
                    continue
                raise await self._error(failure) from None
            except (ValueError, RecursionError) as error:
                raise Unavailable(f"{self.name}: a piece of the answer is broken ({error})") from error
            except openai.OpenAIError as error:
                raise RequestRefused(f"{self.name}: {error}") from error

    async def _open(self, request: Request) -> Any:
        """As `extra_body`: the SDK would walk through every field of arguments, for a quarter of a second."""
        body = request_form(request) | self._options
        create = self._client.chat.completions.create
        try:
            return await create(model=self._model, messages=[], stream=True, extra_body=body)
        except UnicodeEncodeError:
            return await create(model=self._model, messages=[], stream=True, extra_body=writable(body))

    def _changes(self, failure: Failure, *, with_tools: bool) -> bool:
        """Whether an option could be changed for this server; the change holds for later requests."""
        said, options = failure.message, self._options
        if failure.status not in (400, 422):
            return False
        if "stream_options" in said and options.pop("stream_options", None):
            return True
        if "max_completion_tokens" in options and ("max_completion_tokens" in said or "max_tokens" in said):
            options["max_tokens"] = options.pop("max_completion_tokens")
            return True
        if "reasoning_effort" in said and with_tools and "reasoning_effort" not in options:
            options["reasoning_effort"] = "none"  # with tools, this API accepts newer models only without reasoning
            return True
        return False

    async def _error(self, failure: Failure) -> ModelError:
        error = await super()._error(failure)
        if isinstance(error, RequestRefused) and "does not support tools" in failure.message:
            return NotSetUp(f"{error}; choose a model that can call tools")
        if isinstance(error, RequestRefused) and "/v1/responses" in failure.message:
            return NotSetUp(f"{error}; outlive speaks the chat API: choose a model that calls tools there")
        return error

    async def _names(self) -> str:
        import openai

        try:
            page = await self._client.models.list(timeout=CONNECTING)
        except (openai.OpenAIError, ValueError):
            return f"check the name of the model and {ADDRESS}, which is {self._address} (most end in /v1)"
        names = [model.id for model in page.data or ()]
        return f"at {self._address} there is {nearest(self._model, names)}"


class _Call:
    """A call while it arrives."""

    def __init__(self, given_id: str) -> None:
        self.given_id = given_id
        self.name = ""
        self._given: Any = None
        """Arguments that a server sent as an object instead of text."""
        self._parts: list[str] = []
        self._brackets = Brackets()

    def take(self, name: str, arguments: Any) -> None:
        if name and name != self.name and len(self.name) <= LONGEST_NAME:
            self.name += name
        if isinstance(arguments, str):
            self._parts.append(arguments)
            self._brackets.take(arguments)
        elif arguments is not None:
            self._given = arguments

    @property
    def arguments(self) -> Any:
        return self._given if self._given is not None else "".join(self._parts)

    def is_complete(self) -> bool:
        """Whether the arguments are an object, or text with all brackets closed."""
        if self._given is not None:
            return isinstance(self._given, dict)
        return self._brackets.closed

    def is_another(self, given_id: str, name: str, arguments: Any) -> bool:
        """Whether a piece with this call's index begins another call: some servers reuse indexes."""
        if given_id and self.given_id and given_id != self.given_id:
            return True
        return bool(name and self.name and arguments and self.is_complete())


class _Reading:
    """An answer while it arrives."""

    def __init__(self, model: str, request: Request) -> None:
        self.model = model
        self.request = request
        self.used_ids = {call.id for message in request.messages for call in tool_calls(message.blocks)}
        self.text = AnswerText(CALL_OR_ECHO if request.tools else ECHO)
        self.size = AnswerSize()
        self.calls: list[_Call] = []
        self.by_index: dict[int, _Call] = {}
        self.stop = ""
        self.refused = False
        self.usage = Usage()

    def take(self, chunk: Any) -> list[Arriving]:
        self.model = _text(getattr(chunk, "model", "")) or self.model
        if usage := getattr(chunk, "usage", None):
            self.usage = _usage(usage)
        pieces: list[Arriving] = []
        for choice in _listed(getattr(chunk, "choices", None)):
            self.stop = _text(getattr(choice, "finish_reason", "")) or self.stop
            delta = getattr(choice, "delta", None)
            if delta is not None:
                pieces += self._delta(delta)
        return pieces

    def _delta(self, delta: Any) -> list[Arriving]:
        pieces: list[Arriving] = []
        if thought := _text(getattr(delta, "reasoning_content", "")) or _text(getattr(delta, "reasoning", "")):
            self.size.add(thought)
            pieces.append(ThinkingArrived(thought))
        refusal = getattr(delta, "refusal", None)
        self.refused = self.refused or bool(refusal)
        words = _said(getattr(delta, "content", None)) + _said(refusal)
        self.size.add(words)
        if shown := self.text.take(words):
            pieces.append(TextArrived(shown))
        for place, piece in enumerate(_listed(getattr(delta, "tool_calls", None))):
            pieces += self._call(piece, place)
        return pieces

    def held(self, reply: Reply) -> Iterator[Arriving]:
        """The text that was held back because it could have been a call, and calls found in it."""
        if words := self.text.rest(plain_text(reply.blocks)):
            yield TextArrived(words)
        if not self.calls:
            yield from (CallArriving(call.name) for call in tool_calls(reply.blocks))

    def _call(self, piece: Any, place: int) -> list[Arriving]:
        function = getattr(piece, "function", None)
        given_id = _text(getattr(piece, "id", ""))
        name = _text(getattr(function, "name", "")).strip()
        arguments = getattr(function, "arguments", None)
        self.size.add(_text(arguments))
        index = getattr(piece, "index", None)
        index = index if isinstance(index, int) else place
        call = self.by_index.get(index)
        if call is None or call.is_another(given_id, name, arguments):
            call = self.by_index[index] = _Call(given_id)
            self.calls.append(call)
        new = bool(name) and not call.name
        call.take(name, arguments)
        return [CallArriving(call.name)] if new else []

    def reply(self) -> Reply:
        if not self.stop:
            raise Unavailable(f"{PROVIDER}:{self.model}: the stream ended in the middle of the answer")
        stop = "refusal" if self.refused else STOPS.get(self.stop, "other")
        calls, cut = self.calls, ""
        if stop == "length" and calls and not calls[-1].is_complete():
            calls, cut = calls[:-1], calls[-1].name
        made = [kept_call(self._id(call.given_id), call.name, read_arguments(call.arguments)) for call in calls]
        text = self.text.kept(self.request.state_block)
        found = self._written(text) if not self.calls and stop in ("end", "tools") else FoundCalls()
        if found.calls:
            made = [kept_call(self._id(""), call.name, call.input) for call in found.calls]
            text = found.before
        words: list[Block] = [Text(text)] if text.strip() else []
        stop = "tools" if made and stop == "end" else "end" if stop == "tools" and not made else stop
        return Reply((*words, *made), stop, self.usage, self.model, cut, found.near)

    def _written(self, text: str) -> FoundCalls:
        """Calls in the text. A call that occurs in messages of users or results of tools is a quote."""
        schemas: dict[str, Any] = {str(tool["name"]): tool["input_schema"] for tool in self.request.tools}
        messages = (message for message in self.request.messages if message.role == "user")
        blocks = (block for message in messages for block in message.blocks)
        return calls_in(text, schemas, (block.text for block in blocks if isinstance(block, (Text, ToolResult))))

    def _id(self, given: str) -> str:
        """An id that no other call of the conversation has."""
        fresh = given if given and given not in self.used_ids else f"call_{uuid4().hex[:24]}"
        self.used_ids.add(fresh)
        return fresh


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _said(content: Any) -> str:
    """The text of a piece; some servers send a list of parts."""
    if not isinstance(content, (list, str, type(None))):
        raise TypeError(f"content is of type {type(content).__name__}")
    if not isinstance(content, list):
        return content or ""
    return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _usage(usage: Any) -> Usage:
    """The usage; OpenAI counts cached tokens as part of the prompt, we do not."""
    details = getattr(usage, "prompt_tokens_details", None)
    read = whole(getattr(details, "cached_tokens", 0))
    write = whole(getattr(details, "cache_write_tokens", 0))
    prompt = whole(getattr(usage, "prompt_tokens", 0))
    return Usage(max(0, prompt - read - write), write, read, whole(getattr(usage, "completion_tokens", 0)))


def _client(environment: Mapping[str, str], address: str, silence: float) -> "AsyncOpenAI":
    try:
        from openai import AsyncOpenAI, Timeout
    except ImportError:
        raise NotSetUp("models that speak OpenAI's API need a package: pip install 'outlive[openai]'") from None
    key = environment.get(KEY) or (NO_KEY if address != USUAL_ADDRESS else "")
    if not key:
        raise NotSetUp(
            f"{KEY} is not set: export it, or put it into .env and run: outlive trust; "
            f"a local server needs {ADDRESS} instead"
        )
    client = AsyncOpenAI(api_key=key, base_url=address, timeout=Timeout(silence, connect=CONNECTING), max_retries=0)
    # The SDK takes these from the process's environment, which may not belong to this address.
    client.organization, client.project = environment.get(ORGANIZATION), environment.get(PROJECT)
    client.admin_api_key = None
    client._custom_headers = custom_headers(environment.get(HEADERS, ""))
    return client


def _failure(error: Any) -> Failure:
    """The failure that the SDK raised. An error inside a stream has no status."""
    said = said_in(error.body)
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", 0)
    return Failure(
        status,
        str(said.get("message") or error.message),
        kind=str(said.get("type") or ""),
        code=str(said.get("code") or ""),
        headers=response.headers if response is not None else {},
        actual=whole(said.get("n_prompt_tokens")),
        limit=whole(said.get("n_ctx")),
    )
