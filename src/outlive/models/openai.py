"""OpenAI and all that speaks its chat API (Ollama, llama.cpp, vLLM, LM Studio, gateways) through OpenAI's own SDK.

Servers differ in what they take and in what they leave out. What one refuses is left out from then on; what is
missing in an answer (usage, ids, whole arguments) is made good here. Retrying is `outlive.models.retry`'s.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

from outlive.context.engine import Request
from outlive.live import Arriving, CallArriving, TextArrived, ThinkingArrived
from outlive.messages import Block, Text, tool_calls
from outlive.models.errors import NotSetUp, Refused, Unavailable
from outlive.models.failures import Failure, error_for, nearest, said_in
from outlive.models.headers import custom_headers
from outlive.models.legal import kept_call, writable
from outlive.models.openai_form import request_form
from outlive.models.prices import facts
from outlive.models.protocol import Price, Reply, Stop, Usage
from outlive.models.sloppy import calls_in, may_be_call, read_arguments

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionChunk

PROVIDER = "openai"
KEY, ADDRESS = "OPENAI_API_KEY", "OPENAI_BASE_URL"
ORGANIZATION, PROJECT, HEADERS = "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"
USUAL_ADDRESS = "https://api.openai.com/v1"
NO_KEY = "none"
"""Local servers want none, but the SDK does."""
CONNECTING, SILENCE = 10.0, 600.0
"""Seconds to connect, and between two signs of life: a local model may read a long prompt for minutes."""
MOST_CHANGES = 4
"""How often a request is changed to what a server takes before it is given up."""
STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refusal",
}


class OpenAIModel:
    """One model behind a chat completions API."""

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
        self._model = name
        self._window = window or known.window
        self._price = known.price
        self._address = environment.get(ADDRESS) or USUAL_ADDRESS
        self._client = _client(environment, self._address, silence)
        self._options: dict[str, Any] = {"stream_options": {"include_usage": True}}
        if max_tokens:
            self._options["max_completion_tokens"] = max_tokens

    @property
    def name(self) -> str:
        return f"{PROVIDER}:{self._model}"

    @property
    def window(self) -> int:
        return self._window

    @property
    def price(self) -> Price | None:
        return self._price

    async def close(self) -> None:
        await self._client.close()

    async def stream(self, request: Request) -> AsyncGenerator[Arriving | Reply, None]:
        """Pieces as they arrive, then the reply. The connection ends with the iterator."""
        reading = _Reading(self._model, request)
        async with aclosing(self._chunks(request)) as chunks:
            async for chunk in chunks:
                for piece in self._read(reading, chunk):
                    yield piece
        reply = reading.reply()
        for piece in reading.held(reply):
            yield piece
        yield reply

    def _read(self, reading: "_Reading", chunk: "ChatCompletionChunk") -> list[Arriving]:
        try:
            return reading.take(chunk)
        except (AttributeError, KeyError, TypeError) as error:
            raise Unavailable(f"{self.name}: a piece of the answer is broken ({error!r})") from error

    async def _chunks(self, request: Request) -> AsyncGenerator["ChatCompletionChunk", None]:
        """The chunks of one answer. Options that the server does not take are changed and the request repeated."""
        import openai

        for changes in range(MOST_CHANGES + 1):
            try:
                stream = await self._open(request)
                async with stream:
                    async for chunk in stream:
                        yield chunk
                return
            except openai.APIConnectionError as error:
                raise Unavailable(f"{self.name}: {self._lost(error)}") from error
            except openai.APIError as error:
                failure = _failure(error)
                if changes < MOST_CHANGES and self._changes(failure, with_tools=bool(request.tools)):
                    continue
                await self._fail(failure)
            except json.JSONDecodeError as error:
                raise Unavailable(f"{self.name}: a piece of the answer is broken ({error})") from error
            except openai.OpenAIError as error:
                raise Refused(f"{self.name}: {error}") from error

    async def _open(self, request: Request) -> Any:
        """Sent as it is: of arguments, the SDK would walk through every field, for a quarter of a second."""
        body = request_form(request) | self._options
        create = self._client.chat.completions.create
        try:
            return await create(model=self._model, messages=[], stream=True, extra_body=body)
        except UnicodeEncodeError:
            return await create(model=self._model, messages=[], stream=True, extra_body=writable(body))

    def _changes(self, failure: Failure, *, with_tools: bool) -> bool:
        """Whether an option could be changed to what this server takes. It stays so for later requests."""
        said, options = failure.message, self._options
        if failure.status not in (400, 422):
            return False
        if "stream_options" in said and options.pop("stream_options", None):
            return True
        if "max_completion_tokens" in options and ("max_completion_tokens" in said or "max_tokens" in said):
            options["max_tokens"] = options.pop("max_completion_tokens")
            return True
        if "reasoning_effort" in said and with_tools and "reasoning_effort" not in options:
            options["reasoning_effort"] = "none"  # with tools, this API takes newer models without reasoning only
            return True
        return False

    async def _fail(self, failure: Failure) -> NoReturn:
        error = error_for(failure, self.name, KEY)
        if failure.status == 404:
            raise NotSetUp(f"{error}; {await self._names()}") from None
        if isinstance(error, Refused) and "does not support tools" in failure.message:
            raise NotSetUp(f"{error}; choose a model that can call tools") from None
        if isinstance(error, Refused) and "/v1/responses" in failure.message:
            raise NotSetUp(f"{error}; outlive speaks the chat API: choose a model that calls tools there") from None
        raise error from None

    async def _names(self) -> str:
        """The models that the server has, to choose from; when it does not say, its address may be the mistake."""
        import openai

        try:
            page = await self._client.models.list(timeout=CONNECTING)
        except (openai.OpenAIError, ValueError):
            return f"check the name of the model and {ADDRESS}, which is {self._address} (most end in /v1)"
        names = [model.id for model in page.data or ()]
        return f"at {self._address} there is {nearest(self._model, names)}"

    def _lost(self, error: Exception) -> str:
        """Why there is no answer, in few words."""
        cause = error.__cause__ or error
        return f"no connection to {self._address} ({str(cause).strip() or type(cause).__name__})"


class _Call:
    """A call while it arrives."""

    def __init__(self, given_id: str) -> None:
        self.given_id = given_id
        self.name = ""
        self.arguments: Any = ""

    def take(self, name: str, arguments: Any) -> None:
        if name and name != self.name:
            self.name += name
        if isinstance(arguments, str) and isinstance(self.arguments, str):
            self.arguments += arguments
        elif arguments is not None:
            self.arguments = arguments

    def is_whole(self) -> bool:
        return isinstance(self.arguments, dict) or _is_object(self.arguments)

    def is_another(self, given_id: str, name: str, arguments: Any) -> bool:
        """Whether a piece with this call's index opens a further call: servers number sloppily."""
        if given_id and self.given_id and given_id != self.given_id:
            return True
        return bool(name and self.name and arguments and self.is_whole())


class _Reading:
    """An answer while it arrives."""

    def __init__(self, model: str, request: Request) -> None:
        self.model = model
        self.tools = frozenset(str(tool["name"]) for tool in request.tools)
        self.used_ids = {call.id for message in request.messages for call in tool_calls(message.blocks)}
        self.text = ""
        self.shown = 0
        self.calls: list[_Call] = []
        self.by_index: dict[int, _Call] = {}
        self.stop = ""
        self.refused = False
        self.usage = Usage()

    def take(self, chunk: Any) -> list[Arriving]:
        """Take in one chunk, and say what of it can be shown."""
        self.model = getattr(chunk, "model", None) or self.model
        if usage := getattr(chunk, "usage", None):
            self.usage = _usage(usage)
        pieces: list[Arriving] = []
        for choice in getattr(chunk, "choices", None) or ():
            self.stop = getattr(choice, "finish_reason", None) or self.stop
            delta = getattr(choice, "delta", None)
            if delta is not None:
                pieces += self._delta(delta)
        return pieces

    def _delta(self, delta: Any) -> list[Arriving]:
        pieces: list[Arriving] = []
        thought = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
        if thought and isinstance(thought, str):
            pieces.append(ThinkingArrived(thought))
        refusal = getattr(delta, "refusal", None)
        self.refused = self.refused or bool(refusal)
        self.text += _said(getattr(delta, "content", None)) + (refusal or "")
        if not (self.tools and may_be_call(self.text)):
            pieces += self._show()
        for place, piece in enumerate(getattr(delta, "tool_calls", None) or ()):
            pieces += self._call(piece, place)
        return pieces

    def _show(self) -> list[Arriving]:
        new = self.text[self.shown :]
        self.shown = len(self.text)
        return [TextArrived(new)] if new else []

    def held(self, reply: Reply) -> list[Arriving]:
        """What was not shown because it might have been a call, once it is clear what it was."""
        if self.calls or not any(tool_calls(reply.blocks)):
            return self._show()
        return [CallArriving(call.name) for call in tool_calls(reply.blocks)]

    def _call(self, piece: Any, place: int) -> list[Arriving]:
        function = getattr(piece, "function", None)
        given_id = getattr(piece, "id", None) or ""
        name = (getattr(function, "name", None) or "").strip()
        arguments = getattr(function, "arguments", None)
        index = getattr(piece, "index", None)
        index = place if index is None else index
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
        if stop == "length" and calls and not calls[-1].is_whole():
            calls, cut = calls[:-1], calls[-1].name
        made = [kept_call(self._id(call.given_id), call.name, read_arguments(call.arguments)) for call in calls]
        text = self.text
        if not self.calls and stop in ("end", "tools") and (written := calls_in(text, self.tools)):
            made = [kept_call(self._id(""), call.name, call.input) for call in written]
            text = ""
        words: list[Block] = [Text(text)] if text.strip() else []
        stop = "tools" if made and stop == "end" else "end" if stop == "tools" and not made else stop
        return Reply((*words, *made), stop, self.usage, self.model, cut)

    def _id(self, given: str) -> str:
        """An id that no other call of the conversation has."""
        fresh = given if given and given not in self.used_ids else f"call_{uuid4().hex[:24]}"
        self.used_ids.add(fresh)
        return fresh


def _said(content: Any) -> str:
    """The words of a piece; some servers send a list of parts."""
    if not isinstance(content, list):
        return content or ""
    return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _usage(usage: Any) -> Usage:
    """Cached tokens are counted within the prompt here, and apart with us."""
    details = getattr(usage, "prompt_tokens_details", None)
    read = getattr(details, "cached_tokens", None) or 0
    write = getattr(details, "cache_write_tokens", None) or 0
    prompt = getattr(usage, "prompt_tokens", None) or 0
    return Usage(max(0, prompt - read - write), write, read, getattr(usage, "completion_tokens", None) or 0)


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
    client = AsyncOpenAI(
        api_key=key,
        base_url=address,
        timeout=Timeout(silence, connect=CONNECTING),
        max_retries=0,
    )
    # The SDK has taken these from the process's environment, whoever named the address. Ours are for this address.
    client.organization, client.project = environment.get(ORGANIZATION), environment.get(PROJECT)
    client.admin_api_key = None
    client._custom_headers = custom_headers(environment.get(HEADERS, ""))
    return client


def _failure(error: Any) -> Failure:
    """What the SDK raised, in our words. An error inside of a stream has no status."""
    said = said_in(error.body)
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", 0)
    return Failure(
        status,
        str(said.get("message") or error.message),
        kind=str(said.get("type") or ""),
        code=str(said.get("code") or ""),
        headers=response.headers if response is not None else {},
        actual=_whole(said.get("n_prompt_tokens")),
        limit=_whole(said.get("n_ctx")),
    )


def _whole(figure: object) -> int:
    return figure if isinstance(figure, int) else 0
