"""Shared by the models of both providers: a client made late, and an answer that is read while it arrives."""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, ClassVar, TypeVar

from outlive.models.errors import ModelError, ModelNotSetUp, ModelUnavailable
from outlive.models.failures import Failure, error_for
from outlive.models.prices import ModelFacts
from outlive.models.protocol import Price, Reply
from outlive.stream import ModelStreamEvent

T = TypeVar("T")


class ProviderModel(ABC):
    """A model behind a client of its provider. `key` is the environment variable with the API key."""

    provider: ClassVar[str]
    key: ClassVar[str]

    def __init__(self, name: str, facts: ModelFacts, make_client: Callable[[], Any]) -> None:
        """`make_client` is called when the model is first used, because importing it takes a good part of a start."""
        self._model, self._facts, self._make_client = name, facts, make_client
        self._made: Any = None
        self._making = threading.Lock()
        self.window_origin = ""
        """Where the window comes from if the server said it."""
        self.found_at = ""
        """The server, if it was found on this machine rather than named by the user."""

    @property
    def name(self) -> str:
        return f"{self.provider}:{self._model}"

    @property
    def window(self) -> int:
        return self._facts.window

    @property
    def price(self) -> Price | None:
        return self._facts.price

    def prepare(self) -> None:
        """Import the library and make its client, unless that is done."""
        with self._making:
            self._made = self._made or self._make_client()

    @property
    def _client(self) -> Any:
        self.prepare()
        return self._made

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()

    async def _stream(
        self, answer: Any, pieces: AsyncGenerator[Any, None]
    ) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        """Pieces as they arrive, then the reply. The connection ends with the iterator."""
        async with aclosing(pieces):
            async for piece in pieces:
                for arriving in self._read(answer.take, piece):
                    yield arriving
        reply = await asyncio.to_thread(self._read, answer.reply)
        for arriving in answer.held(reply):
            yield arriving
        yield reply

    def _read(self, read: Callable[..., T], *given: Any) -> T:
        """The result of `read`; malformed data of a server raises ModelUnavailable."""
        try:
            return read(*given)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise ModelUnavailable(f"{self.name}: a piece of the answer is broken ({error!r})") from error

    async def _error(self, failure: Failure) -> ModelError:
        """The error to raise; for an unknown model it suggests others."""
        error = error_for(failure, self.name, self.key)
        return ModelNotSetUp(f"{error}; {await self._names()}") if failure.status == 404 else error

    @abstractmethod
    async def check(self) -> None:
        """Ask the server for its models, which sends the key and nothing else. Raises ModelError."""

    @abstractmethod
    async def _names(self) -> str:
        """The models of the server; if it does not list them, the address to check."""


def lost(error: Exception, address: str = "") -> str:
    """Why there is no answer, in a few words."""
    cause = error.__cause__ or error
    return f"no connection{address} ({str(cause).strip() or type(cause).__name__})"


def checked_key(name: str, value: str) -> str:
    """A key without blanks around it. Raises ModelNotSetUp for one that no header takes: the HTTP library would show
    it in its error."""
    key = value.strip()
    if not (key.isascii() and key.isprintable()):
        raise ModelNotSetUp(f"{name} has characters that no key has: copy it again")
    return key


def custom_headers(text: str) -> dict[str, str]:
    """`ANTHROPIC_CUSTOM_HEADERS` or `OPENAI_CUSTOM_HEADERS`: `Name: value`, one a line; other lines are skipped."""
    pairs = (line.partition(":") for line in text.split("\n"))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon and name.strip()}
