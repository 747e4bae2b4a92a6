"""A simulated prompt cache that prices each request in multiples of one uncached input token."""

import json
from collections.abc import Sequence
from os.path import commonprefix

from msgspec import Struct

from outlive.context.tokens import CHARS_PER_TOKEN, IMAGE_TOKENS
from outlive.messages import Block, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from outlive.request import Request

WRITE, READ, OUTPUT = 1.25, 0.1, 5.0
CACHE_LIFETIME_SECONDS = 300.0
"""Seconds a cached prefix lives after its last use."""


class RequestCost(Struct, frozen=True):
    """Tokens of one request (read from the cache, written to it, output) and their cost."""

    read: float
    written: float
    output: float

    @property
    def cost(self) -> float:
        return READ * self.read + WRITE * self.written + OUTPUT * self.output


class Cache:
    """The cache of one conversation: it holds the last request until its lifetime ends."""

    def __init__(self) -> None:
        self._last: Sequence[str] = ()
        self._used = 0.0

    def ask(self, parts: Sequence[str], time: float, output: float) -> RequestCost:
        """Send a request made of these parts, in cache order, and return its cost."""
        cached = _shared(self._last, parts) if time - self._used <= CACHE_LIFETIME_SECONDS else 0
        self._last, self._used = parts, time
        return RequestCost(cached / CHARS_PER_TOKEN, (sum(map(len, parts)) - cached) / CHARS_PER_TOKEN, output)


def _shared(before: Sequence[str], now: Sequence[str]) -> int:
    """Return the length of the common prefix in characters."""
    shared = 0
    for old, new in zip(before, now, strict=False):
        if old is not new and old != new:
            return shared + len(commonprefix((old, new)))  # noqa: RUF071 - characters are meant
        shared += len(new)
    return shared


class Texts:
    """Renders blocks as the text that is counted, each block once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Block, str]] = {}

    def of(self, block: Block) -> str:
        found = self._known.get(id(block))
        if found is None or found[0] is not block:
            found = self._known[id(block)] = (block, _text(block))
        return found[1]

    def request(self, request: Request) -> list[str]:
        """Return the texts of a request in cache order."""
        tools = json.dumps(request.tools, ensure_ascii=False) if request.tools else ""
        return [tools, request.system, *(self.of(block) for m in request.messages for block in m.blocks)]

    def tokens(self, message: Message) -> float:
        return sum(len(self.of(block)) for block in message.blocks) / CHARS_PER_TOKEN


def _text(block: Block) -> str:
    match block:
        case Text() | Thinking():
            return block.text
        case ToolCall():
            return f"{block.name} {json.dumps(block.input, ensure_ascii=False)}"
        case ToolResult():
            return block.text + "".join(map(_picture, block.images))
        case Image():
            return _picture(block)
        case Opaque():
            return json.dumps(block.data, ensure_ascii=False)


def _picture(image: Image) -> str:
    """Return a text as long as an image costs, different for different images."""
    return f"{image.url}{image.data[:40]}".ljust(round(IMAGE_TOKENS * CHARS_PER_TOKEN))
