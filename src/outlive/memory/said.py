"""Who said what in a log: the user, the model, a tool or a page. What the harness put there belongs to nobody.

Works on the full log, so that what left the view still counts; what was taken back does not.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from outlive.events import AssistantSaid, Event, SessionStarted, SystemChanged, ToolFinished, Undone, UserSaid
from outlive.instructions import outside_tags
from outlive.memory.index import TITLE
from outlive.memory.spoken import asks_for_what_follows
from outlive.messages import ToolCall, plain_text, tool_calls
from outlive.origin import user_words
from outlive.stores.memories.records import Who

WALL = 6_000
"""Characters: a text this long was pasted. It is material, and nothing in it is the user's own statement."""
MOST_FENCES, BEFORE_FENCE = 200, 1_000
"""Pieces of code of a text, and the characters before each, that are read for whether to remember it."""
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_WEB = re.compile(r"(?i)web|fetch|browse|http|url|crawl|scrape|internet")
_WEB_COMMAND = re.compile(r"\b(?:curl|wget|http|lynx|httpie)\b|https?://")


class Utterance(msgspec.Struct, frozen=True):
    """Words, who they are from, and the event they stand in."""

    event: int
    who: Who
    text: str
    time: float = 0.0


def system_of(events: Iterable[Event]) -> str:
    """The system prompts of a log, without the memories in them: who corrects one uses its words again."""
    prompts = (event.system for event in events if isinstance(event, (SessionStarted, SystemChanged)))
    return "\n".join(dict.fromkeys(prompt.partition(TITLE)[0] for prompt in prompts))


def said(events: Sequence[Event], *, after: int = 0) -> list[Utterance]:
    """All words after an event, oldest first."""
    gone = _taken_back(events)
    calls: dict[str, ToolCall] = {}
    found = []
    for event in events:
        if isinstance(event, AssistantSaid):
            calls.update({call.id: call for call in tool_calls(event.blocks)})
        if event.id <= after or event.id in gone:
            continue
        match event:
            case UserSaid():
                found.append(Utterance(event.id, "user", typed(user_words(event.blocks)), event.time))
            case AssistantSaid():
                found.append(Utterance(event.id, "model", plain_text(event.blocks), event.time))
            case ToolFinished():
                who: Who = "web" if _from_web(calls.get(event.call_id)) else "tool"
                found.append(Utterance(event.id, who, event.text, event.time))
            case _:
                pass
    return [one for one in found if one.text.strip()]


def typed(text: str) -> str:
    """The user's words without what they pasted: markup, code, quotations. Code that they ask to remember stays."""
    if len(text) > WALL:
        return ""
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts.append(_without_pasted(text[end : fence.start()]))
        parts.append(fence[0] if asks_for_what_follows(parts[-1]) else "\n")
        end = fence.end()
    return "".join((*parts, _without_pasted(text[end:]))).strip()


def asks_for_code(text: str) -> bool:
    """Whether somewhere in it code follows that is to be remembered."""
    starts = (fence.start() for fence in islice(_FENCE.finditer(text), MOST_FENCES))
    return any(asks_for_what_follows(text[max(0, start - BEFORE_FENCE) : start]) for start in starts)


def _without_pasted(text: str) -> str:
    return _QUOTED.sub("\n", outside_tags(text))


def _taken_back(events: Sequence[Event]) -> set[int]:
    gone: set[int] = set()
    for event in events:
        if isinstance(event, Undone) and event.what != "pass":
            gone.update(other.id for other in events if event.target < other.id < event.id)
    return gone


def _from_web(call: ToolCall | None) -> bool:
    if call is None:
        return False
    command = " ".join(value for value in call.input.values() if isinstance(value, str))
    return bool(_WEB.search(call.name) or _WEB_COMMAND.search(command))
