"""The interface of models: a request goes in, pieces of the answer come out, and then the reply.

Formats of providers stay inside. A model raises only `outlive.models.errors.ModelError`; retries are in
`outlive.models.retry`.
"""

from collections.abc import AsyncGenerator
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from outlive.messages import Block, Opaque
from outlive.models.errors import RequestRefused
from outlive.request import Request
from outlive.stream import ModelStreamEvent

Stop = Literal["end", "tools", "length", "refusal", "other"]
"""Why an answer ended. `length`: it was cut off at its limit."""


class Usage(Struct, frozen=True):
    """Tokens as counted by the provider; `input` is neither read from nor written to the cache."""

    input: int = 0
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0


class Price(Struct, frozen=True):
    """Dollars per million tokens; some models charge more for a request with a long prompt."""

    input: float
    cache_write: float
    cache_read: float
    output: float
    long_prompt: int = 0
    """A prompt with more tokens than this is long; 0 if the price does not depend on it."""
    long_input: float = 1.0
    long_output: float = 1.0
    """Factors on the prices of a long prompt."""

    def of(self, usage: Usage) -> float:
        """The cost of one request in dollars."""
        prompt = usage.input * self.input + usage.cache_write * self.cache_write + usage.cache_read * self.cache_read
        answer = usage.output * self.output
        if self.long_prompt and usage.input + usage.cache_write + usage.cache_read > self.long_prompt:
            prompt *= self.long_input
            answer *= self.long_output
        return (prompt + answer) / 1_000_000


class NearCall(Struct, frozen=True):
    """Text that looks like a tool call but is not one, and why."""

    reason: str
    may_be_prose: bool = False
    """Whether the text may only be about a call."""


class Reply(Struct, frozen=True):
    """A complete answer with complete tool calls."""

    blocks: tuple[Block, ...]
    stop: Stop = "end"
    usage: Usage = Usage()
    model: str = ""
    """The model that answered, as named by the provider."""
    cut_call: str = ""
    """The tool whose call was cut off; the call is not among the blocks."""
    near_call: NearCall | None = None
    cache_miss: str = ""
    """Why the provider could not read all of the last request from its cache, in its own words."""
    thinking_dropped: int = 0
    """Blocks of earlier thinking that the provider dropped because the messages before them changed."""


class Summary(Struct, frozen=True):
    """A conversation as its provider summarized it."""

    block: Opaque | None
    """Sent back unchanged; None if there is no summary."""
    text: str = ""
    """What it says; empty if only the provider can read it."""
    usage: Usage = Usage()


class Model(Protocol):
    """One model of one provider."""

    @property
    def name(self) -> str:
        """`anthropic:claude-…`."""

    @property
    def window(self) -> int:
        """Tokens of the context window; 0 if unknown."""

    @property
    def price(self) -> Price | None:
        """None if unknown, as for a local server."""

    def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        """Pieces as they arrive, then the reply. Closing the iterator ends the call."""

    async def close(self) -> None: ...


@runtime_checkable
class Summarizer(Protocol):
    """A model whose provider can summarize a conversation itself."""

    async def summarize(self, request: Request, instructions: str) -> Summary:
        """Summarise all messages of a request, without system prompt and tools. Later requests may begin with the
        summary in place of these messages."""


@runtime_checkable
class Checkable(Protocol):
    """A model whose server can be asked whether it answers."""

    async def check(self) -> None:
        """Ask it without sending a prompt. Raises ModelError."""


def window_origin(model: Model) -> str:
    """Where the window of a model comes from if its server said it, else empty."""
    return str(getattr(model, "window_origin", ""))


def found_at(model: Model) -> str:
    """The server of a model that was found on this machine rather than named by the user, else empty."""
    return str(getattr(model, "found_at", ""))


def prepare(model: Model) -> None:
    """Do what the model's first request would wait for, such as loading an SDK. Sends nothing; blocks for a while."""
    if callable(ready := getattr(model, "prepare", None)):
        ready()


async def summarize(model: Model, request: Request, instructions: str) -> Summary:
    """Summarise through the provider of a model. Raises RequestRefused if it cannot."""
    if not isinstance(model, Summarizer):
        raise RequestRefused(f"the provider of {model.name} makes no summaries")
    return await model.summarize(request, instructions)


def unreadable(arguments: str) -> dict[str, Any]:
    """The input of a call whose arguments are not a JSON object and could not be repaired."""
    return {UNREADABLE_KEY: arguments}


UNREADABLE_KEY = "__unreadable__"
