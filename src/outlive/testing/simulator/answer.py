"""Answers in a form common to both providers: parts with ids, stop reason, usage."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from outlive.testing.simulator.seen import ReportedUsage
from outlive.testing.simulator.steps import Call, Part, Say, Step, Think
from outlive.testing.simulator.tokens import compact, tokens_of

NOTHING_USED = ReportedUsage()
CHUNK_CHARS = 24
"""Characters of text or JSON in one event."""


@dataclass(frozen=True)
class WireToolCall:
    """A call as sent: its arguments are JSON text, perhaps cut off; of a custom tool, any text."""

    id: str
    name: str
    arguments: str
    custom: bool = False


@dataclass(frozen=True)
class SentSummary:
    """The summary of a compaction, signed or encrypted; empty if the compaction failed."""

    text: str
    signature: str = ""


SentPart: TypeAlias = Say | Think | WireToolCall | SentSummary


@dataclass(frozen=True)
class Answer:
    """The model's answer to one request."""

    id: str
    model: str
    parts: tuple[SentPart, ...]
    stop: str = "end"
    """Why it stops: end, tools, length, refusal or compaction."""
    usage: ReportedUsage = NOTHING_USED
    report: Mapping[str, Any] = field(default_factory=dict)
    """Anthropic: more fields of the message, which speak of the request."""
    compacts: bool = False
    """Whether it answers a compaction request."""

    @property
    def characters(self) -> int:
        return sum(length_of(part) for part in self.parts)

    @property
    def output_tokens(self) -> int:
        """At least one, for the end of the answer."""
        return max(1, tokens_of(self.characters))

    @property
    def thinking_tokens(self) -> int:
        return tokens_of(sum(len(part.text) for part in self.parts if isinstance(part, Think)))


def answer_of(step: Step, mark: str, model: str, *, prefix: str, call_prefix: str) -> Answer:
    """Make the answer of a step; the unique `mark` becomes part of its id and its call ids."""
    parts = tuple(_sent(part, f"{call_prefix}{mark}{index:02d}") for index, part in enumerate(step.parts))
    calls = any(isinstance(part, WireToolCall) for part in parts)
    return Answer(prefix + mark, model, parts, "tools" if calls else "end")


def _sent(part: Part, call_id: str) -> SentPart:
    if not isinstance(part, Call):
        return part
    return WireToolCall(part.id or call_id, part.name, compact(dict(part.input)).decode())


def length_of(part: SentPart) -> int:
    return len(part.name) + len(part.arguments) if isinstance(part, WireToolCall) else len(part.text)


def characters_for(tokens: int) -> int:
    """Return the number of characters in so many tokens."""
    return tokens * 16 // 5


def cut_to(answer: Answer, characters: int) -> Answer:
    """Cut the answer to a length; unchanged if it fits."""
    if answer.characters <= characters:
        return answer
    kept: list[SentPart] = []
    remaining = characters
    for part in answer.parts:
        if remaining <= 0:
            break
        kept.append(_shortened(part, remaining))
        remaining -= length_of(part)
    return replace(answer, parts=tuple(kept), stop="length")


def _shortened(part: SentPart, characters: int) -> SentPart:
    if isinstance(part, WireToolCall):
        return replace(part, arguments=part.arguments[: max(0, characters - len(part.name))])
    return replace(part, text=part.text[:characters])


def chunks(text: str) -> Iterator[str]:
    """Split a text into the pieces of a stream; a long text into at most about 64."""
    size = max(CHUNK_CHARS, len(text) // 64)
    return (text[start : start + size] for start in range(0, len(text), size))
