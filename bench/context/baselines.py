"""What other agents do, as policies over a recorded session: the messages each would send at a turn."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bench.context.sessions import Session, block_text, message_text
from outlive.events import Receipt
from outlive.messages import Block, Message, Opaque, Text, ToolCall, ToolResult

CHARS = 3.2
CLEARED = "[Old tool result content cleared]"


@dataclass(slots=True)
class Answer:
    """What is sent at a turn, and what else had to be paid for it (tokens read from the cache, tokens put out)."""

    messages: tuple[Message, ...]
    passed: bool = False
    extra_read: float = 0.0
    extra_output: float = 0.0
    receipts: tuple[Receipt, ...] = ()


class Runner:
    """A policy at work on one session."""

    def __init__(self, session: Session, window: int) -> None:
        self.session = session
        self.window = window

    def answer(self, turn: int) -> Answer:
        raise NotImplementedError

    def page(self, _handle: int) -> str:
        return ""


@dataclass(slots=True)
class Base:
    """Recorded messages as neutral ones, with their sizes."""

    messages: list[Message] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)


def neutral(session: Session) -> list[Message]:
    """The recorded messages."""
    return [Message(m["role"], tuple(_block(b) for b in m["content"])) for m in session.messages]


def _block(block: dict[str, object]) -> Block:
    if block["type"] == "text":
        return Text(str(block["text"]) or " ")
    if block["type"] == "tool_use":
        return ToolCall(str(block["id"]), str(block["name"]), block["input"])  # type: ignore[arg-type]
    if block["type"] == "tool_result":
        return ToolResult(str(block["tool_use_id"]), str(block["content"]))
    return Opaque("anthropic", dict(block))


def tokens(message: Message) -> float:
    return len(message_text(message)) / CHARS


class Listed(Runner):
    """Keeps a list of messages and lets `step` change it before each turn."""

    def __init__(self, session: Session, window: int) -> None:
        super().__init__(session, window)
        self.source = neutral(session)
        self.view: list[Message] = []
        self.sizes: list[float] = []
        self.at = 0
        self.overhead = len(session.system) / CHARS
        self.passed = False
        self.extra_read = self.extra_output = 0.0

    def size(self) -> float:
        return self.overhead + sum(self.sizes)

    def put(self, number: int, message: Message) -> None:
        self.view[number] = message
        self.sizes[number] = tokens(message)

    def answer(self, turn: int) -> Answer:
        for message in self.source[self.at : turn]:
            if self.view and self.view[-1].role == message.role:
                self.put(len(self.view) - 1, Message(message.role, self.view[-1].blocks + message.blocks))
            else:
                self.view.append(message)
                self.sizes.append(tokens(message))
        self.at = turn
        self.passed, self.extra_read, self.extra_output = False, 0.0, 0.0
        self.step()
        return Answer(tuple(self.view), self.passed, self.extra_read, self.extra_output)

    def step(self) -> None:
        """Nothing: no compaction at all."""

    def results(self) -> list[int]:
        return [n for n, m in enumerate(self.view) if any(isinstance(b, ToolResult) for b in m.blocks)]

    def clear(self, keep: int, marker: str = CLEARED) -> None:
        """Replace all but the newest results."""
        places = [
            (n, i) for n in self.results() for i, b in enumerate(self.view[n].blocks) if isinstance(b, ToolResult)
        ]
        for n, i in places[: max(0, len(places) - keep)]:
            block = self.view[n].blocks[i]
            if isinstance(block, ToolResult) and block.text != marker and len(block.text) > len(marker):
                blocks = list(self.view[n].blocks)
                blocks[i] = ToolResult(block.call_id, marker)
                self.put(n, Message("user", tuple(blocks)))

    def replace(self, messages: list[Message]) -> None:
        self.view = messages
        self.sizes = [tokens(m) for m in messages]
        self.passed = True

    def truncate(self, down_to: float) -> None:
        """Drop the oldest exchanges, pairs together."""
        start = 0
        total = self.size()
        while start + 2 < len(self.view) and (total > down_to or not _opens(self.view[start])):
            total -= self.sizes[start]
            start += 1
        while start < len(self.view) - 1 and not _opens(self.view[start]):
            start += 1
        head = self.view[start]
        kept = tuple(b for b in head.blocks if not isinstance(b, ToolResult))
        self.replace([Message("user", kept or (Text("[earlier conversation removed]"),)), *self.view[start + 1 :]])


def _opens(message: Message) -> bool:
    """A view may start here: a user message (its results, orphaned now, are dropped)."""
    return message.role == "user"


class Truncate(Listed):
    def step(self) -> None:
        if self.size() > 0.95 * self.window:
            self.truncate(0.5 * self.window)


class MaskEveryTurn(Listed):
    def step(self) -> None:
        self.clear(10)
        if self.size() > 0.95 * self.window:
            self.truncate(0.5 * self.window)


class ClearAtHalf(Listed):
    def step(self) -> None:
        if self.size() > 0.5 * self.window:
            self.clear(3)
            self.passed = True
        if self.size() > 0.95 * self.window:
            self.truncate(0.5 * self.window)


def summary_of(view: list[Message], limit: int = 6000) -> str:
    """A stand-in for a model's summary of about 1,900 tokens: what was said last and the files that were named."""
    said = [b.text.strip() for m in view if m.role == "assistant" for b in m.blocks if isinstance(b, Text)]
    calls = [block_text(b) for m in view for b in m.blocks if isinstance(b, ToolCall)]
    half = limit // 2
    lines = [text.split("\n", 1)[0][:200] for text in said]
    return (
        "Summary of the work so far.\n" + "\n".join(lines)[-half:] + "\n" + "\n".join(c[:120] for c in calls)[-half:]
    )


class SummaryAndWords(Listed):
    """At 90%: a summary and the newest 20k tokens of user words, nothing else."""

    share = 0.9

    def step(self) -> None:
        if self.size() <= self.share * self.window:
            return
        self.extra_read, self.extra_output = self.size(), 1900.0
        newest = self.view[-1]
        words: list[Message] = []
        room = min(20_000.0, 0.3 * self.window)
        for message in reversed(self.view):
            text = "\n".join(b.text for b in message.blocks if isinstance(b, Text)) if message.role == "user" else ""
            room -= len(text) / CHARS
            if room < 0:
                break
            if text:
                words.insert(0, Message("user", (Text(text),)))
        blocks = tuple(b for m in words for b in m.blocks)
        last = "\n".join(b.text for b in newest.blocks if isinstance(b, Text))
        self.replace([Message("user", (*blocks, Text(summary_of(self.view) + ("\n" + last if last else ""))))])


class MicroAndSummary(Listed):
    """Every turn all but the last three results are masked; at 50k tokens a summary replaces everything."""

    def step(self) -> None:
        self.clear(3, "[Previous tool result]")
        if self.size() > min(50_000.0, 0.9 * self.window):
            self.extra_read, self.extra_output = self.size(), 1900.0
            self.replace([Message("user", (Text(summary_of(self.view)),))])


BASELINES: dict[str, Callable[[Session, int], Runner]] = {
    "no compaction": Listed,
    "truncate oldest": Truncate,
    "mask all but 10 every turn": MaskEveryTurn,
    "clear at 50% keeping 3": ClearAtHalf,
    "summary + 20k user words at 90%": SummaryAndWords,
    "micro every turn + summary at 50k": MicroAndSummary,
}
