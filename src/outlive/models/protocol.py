"""What a model is to the rest of the house: a request goes in, pieces of the answer come out, and then the reply.

A model keeps its provider's formats to itself. It raises only `outlive.models.errors.ModelError`; what can be tried
again is tried by `outlive.models.retry`, not here.
"""

from collections.abc import AsyncGenerator
from typing import Any, Literal, Protocol

from msgspec import Struct

from outlive.context.engine import Request
from outlive.messages import Block
from outlive.stream import Arriving

Stop = Literal["end", "tools", "length", "refusal", "other"]
"""Why an answer ended. `length`: it was cut off at the limit of the answer."""


class Usage(Struct, frozen=True):
    """Tokens as the provider counted them; `input` is what was neither read from nor written to the cache."""

    input: int = 0
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0


class Price(Struct, frozen=True):
    """Dollars for a million tokens; some models ask more for every token of a request with a long prompt."""

    input: float
    cache_write: float
    cache_read: float
    output: float
    long_prompt: int = 0
    """A prompt of more tokens than this is a long one; 0 when its length makes no difference."""
    long_input: float = 1.0
    long_output: float = 1.0
    """What the prices are multiplied with then."""

    def of(self, usage: Usage) -> float:
        """What the usage of one request costs, in dollars."""
        prompt = usage.input * self.input + usage.cache_write * self.cache_write + usage.cache_read * self.cache_read
        answer = usage.output * self.output
        if self.long_prompt and usage.input + usage.cache_write + usage.cache_read > self.long_prompt:
            prompt *= self.long_input
            answer *= self.long_output
        return (prompt + answer) / 1_000_000


class NearCall(Struct, frozen=True):
    """Something in a text that looks like a tool call and was not taken as one, and why."""

    reason: str
    may_be_prose: bool = False
    """The text may be about a call instead of being one."""


class Reply(Struct, frozen=True):
    """A whole answer. Every tool call in it is complete."""

    blocks: tuple[Block, ...]
    stop: Stop = "end"
    usage: Usage = Usage()
    model: str = ""
    """Which model answered, as the provider names it."""
    cut_call: str = ""
    """The tool whose call was being written when the answer was cut off; the call is not among the blocks."""
    near_call: NearCall | None = None


class Model(Protocol):
    """One model of one provider."""

    @property
    def name(self) -> str:
        """`anthropic:claude-…`."""

    @property
    def window(self) -> int:
        """Tokens that fit into a request, 0 when nobody knows."""

    @property
    def price(self) -> Price | None:
        """None when nobody knows, as with a local server."""

    def stream(self, request: Request) -> AsyncGenerator[Arriving | Reply, None]:
        """Pieces as they arrive, and last the reply. Closing the iterator ends the call."""

    async def close(self) -> None: ...


def unreadable(arguments: str) -> dict[str, Any]:
    """The input of a call whose arguments are no JSON object and could not be repaired; tools answer it with why."""
    return {UNREADABLE: arguments}


UNREADABLE = "__unreadable__"
