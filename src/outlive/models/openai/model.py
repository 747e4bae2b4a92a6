"""OpenAI and servers with its API through OpenAI's own SDK, in the chat API or the Responses API.

OpenAI's newer models are asked in the Responses API, everything else in the chat API; a model that has to be asked in
the other one is, from then on. Retries are in `outlive.models.retry`.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from outlive.models.answers.limit import MAX_REASONED_TOKENS, usual_limit
from outlive.models.effort import read_effort
from outlive.models.errors import ModelError, ModelNotSetUp, ModelUnavailable, RequestRefused
from outlive.models.failures import Failure, nearest, said_in
from outlive.models.http_api import CONNECT_TIMEOUT_SECONDS
from outlive.models.openai.chat import ChatApi
from outlive.models.openai.form import PROVIDER
from outlive.models.openai.responses import ResponsesApi
from outlive.models.openai.versions import is_official, wants_responses
from outlive.models.prices import facts
from outlive.models.protocol import Reply, Summary
from outlive.models.provider_model import ProviderModel, checked_key, custom_headers, lost
from outlive.models.sanitize import whole, writable
from outlive.request import Request
from outlive.stream import ModelStreamEvent

if TYPE_CHECKING:
    from openai import AsyncOpenAI

KEY, ADDRESS = "OPENAI_API_KEY", "OPENAI_BASE_URL"
ORGANIZATION, PROJECT, HEADERS = "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"
DEFAULT_ADDRESS = "https://api.openai.com/v1"
PLACEHOLDER_KEY = "none"
"""The SDK requires a key, local servers do not."""
READ_TIMEOUT_SECONDS = 600.0
"""Seconds between two pieces of a stream: a local model may read a long prompt for minutes."""
MAX_OPTION_CHANGES = 4
"""How often the options of a request are changed for a server before giving up."""
MAX_EVENTS_AFTER_FAILURE = 16
"""Events that are read after a failure, so that the stream ends by itself and nothing of it is left open."""
RESPONSES_PATH = "v1/responses"


class _SwitchedError(Exception):
    """The request has to be sent again, in the other API."""


class OpenAIModel(ProviderModel):
    """One model behind OpenAI's API."""

    provider, key = PROVIDER, KEY

    def __init__(
        self,
        name: str,
        *,
        environment: Mapping[str, str],
        window: int = 0,
        max_tokens: int | None = None,
        silence: float = READ_TIMEOUT_SECONDS,
        responses: bool | None = None,
    ) -> None:
        """`responses`: whether to begin with the Responses API; by default as the model and the address want it."""
        known = facts(name)
        self._address = environment.get(ADDRESS) or DEFAULT_ADDRESS
        key = _key(environment, self._address)
        found = replace(known, window=window or known.window)
        super().__init__(name, found, lambda: _client(environment, self._address, key, silence))
        official = is_official(self._address)
        effort = read_effort(environment).replace("off", "none")
        most = max_tokens or usual_limit(known.output)
        reasoned = max_tokens or usual_limit(known.output, MAX_REASONED_TOKENS)
        self._chat = ChatApi(name, most, window=self.window, official=official, effort=effort)
        self._responses = ResponsesApi(name, reasoned, enforces_output=official, effort=effort)
        first = wants_responses(name, self._address) if responses is None else responses
        self._api: ChatApi | ResponsesApi = self._responses if first else self._chat
        self._has_responses = True
        """Until the server says that it has no such API."""

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        while True:
            api = self._api
            try:
                async with aclosing(self._stream(api.answer(request), self._events(api, request))) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except _SwitchedError:
                continue

    async def _events(self, api: ChatApi | ResponsesApi, request: Request) -> AsyncGenerator[Any, None]:
        """The events of one answer. Options that the server refuses are changed and the request repeated."""
        await asyncio.to_thread(self.prepare)
        import openai

        for changes in range(MAX_OPTION_CHANGES + 1):
            try:
                stream = await self._open(api, request)
                failed, rest = None, MAX_EVENTS_AFTER_FAILURE
                async with stream:
                    async for event in stream:
                        failed = failed or api.failure_in(event)
                        if not failed:
                            yield event
                        elif (rest := rest - 1) < 0:
                            break
                if failed:
                    raise await self._error(failed)
                return
            except openai.APIConnectionError as error:
                raise ModelUnavailable(f"{self.name}: {lost(error, f' to {self._address}')}") from error
            except openai.APIError as error:
                failure = _failure(error)
                if self._switches(api, failure):
                    raise _SwitchedError from None
                if changes < MAX_OPTION_CHANGES and api.changes(failure, request):
                    continue
                raise await self._error(failure) from None
            except (ValueError, RecursionError) as error:
                raise ModelUnavailable(f"{self.name}: a piece of the answer is broken ({error})") from error
            except openai.OpenAIError as error:
                raise RequestRefused(f"{self.name}: {error}") from error

    async def summarize(self, request: Request, instructions: str) -> Summary:
        """By the provider, where the model is asked in the Responses API."""
        import openai

        if self._api is not self._responses:
            raise RequestRefused(f"{self.name} makes no summaries")
        try:
            return await self._responses.compact(self._client, request)
        except openai.APIConnectionError as error:
            raise ModelUnavailable(f"{self.name}: {lost(error, f' to {self._address}')}") from error
        except openai.APIError as error:
            raise await self._error(_failure(error)) from None
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise ModelUnavailable(f"{self.name}: the summary is broken ({error!r})") from error

    async def _open(self, api: ChatApi | ResponsesApi, request: Request) -> Any:
        body = api.body(request)
        try:
            return await api.open(self._client, body)
        except UnicodeEncodeError:
            return await api.open(self._client, writable(body))

    def _switches(self, api: ChatApi | ResponsesApi, failure: Failure) -> bool:
        """Whether this model is to be asked in the other API, now and later."""
        if api is self._chat and self._has_responses:
            wanted = failure.status in (400, 404, 422) and RESPONSES_PATH in failure.message
            self._api = self._responses if wanted else self._api
            return wanted
        if api is self._responses and self._responses.is_missing(failure):
            self._api, self._has_responses = self._chat, False
            return True
        return False

    async def _error(self, failure: Failure) -> ModelError:
        error = await super()._error(failure)
        if isinstance(error, RequestRefused) and "does not support tools" in failure.message:
            return ModelNotSetUp(f"{error}; choose a model that can call tools")
        if isinstance(error, RequestRefused) and RESPONSES_PATH in failure.message:
            return ModelNotSetUp(
                f"{error}; this server has no /v1/responses: choose a model that calls tools without it"
            )
        return error

    async def check(self) -> None:
        import openai

        try:
            await self._client.models.list(timeout=CONNECT_TIMEOUT_SECONDS)
        except openai.NotFoundError:
            return  # it answers, and lists no models
        except openai.APIConnectionError as error:
            raise ModelUnavailable(f"{self.name}: {lost(error, f' to {self._address}')}") from error
        except openai.APIError as error:
            raise await self._error(_failure(error)) from None
        except (openai.OpenAIError, ValueError) as error:
            raise ModelUnavailable(f"{self.name}: {lost(error)}") from error

    async def _names(self) -> str:
        import openai

        try:
            page = await self._client.models.list(timeout=CONNECT_TIMEOUT_SECONDS)
        except (openai.OpenAIError, ValueError):
            return f"check the name of the model and {ADDRESS}, which is {self._address} (most end in /v1)"
        names = [model.id for model in page.data or ()]
        return f"at {self._address} there is {nearest(self._model, names)}"


def _key(environment: Mapping[str, str], address: str) -> str:
    """The key for an address. Raises ModelNotSetUp if it or the SDK is missing."""
    if find_spec("openai") is None:
        raise ModelNotSetUp("models that speak OpenAI's API need a package: pip install 'outlive[openai]'")
    key = checked_key(KEY, environment.get(KEY, "")) or (PLACEHOLDER_KEY if address != DEFAULT_ADDRESS else "")
    if not key:
        raise ModelNotSetUp(
            f"{KEY} is not set: export it, or put it into .env and run: outlive trust; "
            f"a local server needs {ADDRESS} instead"
        )
    return key


def _client(environment: Mapping[str, str], address: str, key: str, silence: float) -> "AsyncOpenAI":
    from openai import AsyncOpenAI, Timeout

    client = AsyncOpenAI(
        api_key=key, base_url=address, timeout=Timeout(silence, connect=CONNECT_TIMEOUT_SECONDS), max_retries=0
    )
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
