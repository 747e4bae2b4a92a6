"""The common form of recorded sessions, which every importer returns."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from msgspec import Struct

from outlive.messages import Block, Message, Role, Text, ToolCall, ToolResult

STEP = 4.0
"""Seconds between two messages without recorded times."""


class Recorded(Struct, frozen=True):
    """One message and its time, in seconds since 1970."""

    message: Message
    time: float


class RecordedUsage(Struct, frozen=True):
    """Input tokens of one model call as the provider billed them: not cached, written to the cache, read from it."""

    time: float
    model: str
    input: int
    written: int
    read: int

    @property
    def prompt(self) -> int:
        return self.input + self.written + self.read


def usage_of(form: object, time: float | None, model: str) -> RecordedUsage | None:
    """The usage in a provider's form; None if it tells nothing. OpenAI counts what was cached among the input."""
    if not isinstance(form, dict):
        return None
    cached, written = _count(form, "cached_input_tokens"), _count(form, "cache_write_input_tokens")
    read, created = _count(form, "cache_read_input_tokens"), _count(form, "cache_creation_input_tokens")
    input = max(_count(form, "input_tokens") - cached - written, 0)
    found = RecordedUsage(time or 0.0, model, input, written + created, cached + read)
    return found if found.prompt else None


def _count(form: dict[str, object], key: str) -> int:
    value = form.get(key)
    return value if isinstance(value, int) and value > 0 else 0


class Recording(Struct, frozen=True, kw_only=True):
    """A recorded session. A turn is an index into `messages`."""

    id: str
    format: str
    messages: tuple[Recorded, ...]
    system: str = ""
    model: str = ""
    folder: str = ""
    task: str = ""
    compactions: int = 0
    """How often the recorded program compacted; its summaries are left out."""
    usage: tuple[RecordedUsage, ...] = ()
    """Of each model call, where it was recorded."""
    skipped: tuple[str, ...] = ()
    """What could not be used, with its place and the reason: damaged lines first, then other kinds of entries."""
    damaged: int = 0
    """How many of these are damaged lines."""
    last_answer: tuple[int, int] | None = None
    """Index of the model's last message and where it begins in the file, in bytes; None if that is not known."""

    @property
    def turns(self) -> list[int]:
        """Indexes of the messages that a model wrote."""
        return [i for i, recorded in enumerate(self.messages) if recorded.message.role == "assistant"]


def seconds(stamp: object) -> float | None:
    """Convert a recorded time (ISO 8601, seconds or milliseconds) to seconds since 1970."""
    if isinstance(stamp, (int, float)) and not isinstance(stamp, bool):
        return stamp / 1000 if stamp > 1e11 else float(stamp)
    if not isinstance(stamp, str):
        return None
    text = re.sub(r"(\.\d{6})\d+", r"\1", stamp.strip().replace("Z", "+00:00"))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def timed(messages: Iterable[tuple[Message, float | None]]) -> Iterator[Recorded]:
    """Make times monotonic; a message without a time comes STEP seconds after the last."""
    now: float | None = None
    for message, time in messages:
        if time is None:
            time = STEP if now is None else now + STEP
        now = time if now is None else max(now, time)
        yield Recorded(message, now)


class Joiner:
    """Joins blocks into alternating messages, in which the next message answers each call."""

    def __init__(self) -> None:
        self.messages: list[tuple[Message, float | None]] = []
        self.last_answer: tuple[int, int] | None = None
        """Index and offset of the newest message of the model."""
        self._role: Role | None = None
        self._blocks: list[Block] = []
        self._time: float | None = None
        self._answered: set[str] = set()
        self._asked: set[str] = set()

    def add(
        self, role: Role, blocks: Iterable[Block], time: float | None, *, apart: bool = False, offset: int = 0
    ) -> None:
        """Add to the current message, or begin a new one (`apart`, or another role), at `offset` of the file."""
        found = [block for block in blocks if self._fits(block)]
        if not found:
            return
        if role != self._role or (apart and role == "assistant"):
            self.flush()
            self._role = role
            if role == "assistant":
                self.last_answer = len(self.messages), offset
        self._blocks += found
        self._time = time if time is not None else self._time

    def _fits(self, block: Block) -> bool:
        """Whether to keep a block: drops blank text, repeated calls, and results without a call or repeated."""
        if isinstance(block, Text):
            return bool(block.text.strip())
        if isinstance(block, ToolCall):
            new = block.id not in self._asked
            self._asked.add(block.id)
            return new
        if isinstance(block, ToolResult):
            fits = block.call_id in self._asked and block.call_id not in self._answered
            self._answered.add(block.call_id)
            return fits
        return True

    def flush(self) -> None:
        if self._role and self._blocks:
            blocks = sorted(self._blocks, key=lambda block: not isinstance(block, ToolResult))
            self.messages.append((Message(self._role, tuple(blocks)), self._time))
        self._blocks, self._time = [], None

    def done(self) -> tuple[Recorded, ...]:
        self.flush()
        return tuple(timed(self.messages))
