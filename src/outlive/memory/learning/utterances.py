"""Who said what in a log: the user, the model, a tool or a web page; and whether a text quotes the user.

Works on the full log, so text that left the view still counts; undone text does not. Text that the harness injected
belongs to no one.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from outlive.events import AssistantSaid, Event, SessionStarted, SystemChanged, ToolFinished, Undone, UserSaid
from outlive.memory.index import TITLE
from outlive.memory.learning.explicit_requests import asks_for_what_follows, statements
from outlive.memory.refs import normalized
from outlive.messages import ToolCall, plain_text, tool_calls
from outlive.origin import user_words
from outlive.sentences import outside_tags, sentence_end
from outlive.stores.memories.records import Provenance, Who

PASTED_WALL_CHARS = 6_000
"""A longer message counts as pasted: nothing in it is the user's own statement."""
MAX_FENCES, BEFORE_FENCE = 200, 1_000
"""Number of fences of a text, and characters before each, that are searched for a request to remember the code."""
MIN_QUOTE_WORDS = 3
"""Minimum length of a quotation, unless it is the whole message: a shorter one is found anywhere."""
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_BLANK = re.compile(r"\n[ \t]*\n\s*")
_WEB = re.compile(r"(?i)web|fetch|browse|http|url|crawl|scrape|internet")
_WEB_COMMAND = re.compile(r"\b(?:curl|wget|http|lynx|httpie)\b|https?://")


class Utterance(msgspec.Struct, frozen=True):
    """A text, who said it, and its event in the log."""

    event: int
    who: Who
    text: str
    time: float = 0.0


def system_of(events: Iterable[Event]) -> str:
    """The system prompts of a log without the memories in them, because a correction repeats the words of what it
    corrects."""
    prompts = (event.system for event in events if isinstance(event, (SessionStarted, SystemChanged)))
    return "\n".join(dict.fromkeys(prompt.partition(TITLE)[0] for prompt in prompts))


def utterances(events: Sequence[Event], *, after: int = 0) -> list[Utterance]:
    """Everything that was said after an event, oldest first."""
    gone = _undone(events)
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
    return [utterance for utterance in found if utterance.text.strip()]


def typed(text: str) -> str:
    """The user's words without pasted markup, code and quotations. Code that they ask to remember stays."""
    if len(text) > PASTED_WALL_CHARS:
        return ""
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts.append(_without_pasted(text[end : fence.start()]))
        parts.append(fence[0] if asks_for_what_follows(parts[-1]) else "\n")
        end = fence.end()
    return "".join((*parts, _without_pasted(text[end:]))).strip()


def asks_for_code(text: str) -> bool:
    """Whether a text asks to remember the code that follows."""
    starts = (fence.start() for fence in islice(_FENCE.finditer(text), MAX_FENCES))
    return any(asks_for_what_follows(text[max(0, start - BEFORE_FENCE) : start]) for start in starts)


def _without_pasted(text: str) -> str:
    return _QUOTED.sub("\n", outside_tags(text))


def _undone(events: Sequence[Event]) -> set[int]:
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


# -- attribution


def attribute(text: str, events: Sequence[Event], *, session: str = "") -> tuple[str, Provenance]:
    """The text to store and who said it: the user if it quotes them (in their exact words), else the tool or page
    that contains it literally, else the model."""
    heard = utterances(events)
    for utterance in reversed(heard):
        if utterance.who == "user" and (own := quoted_sentences(text, utterance.text)):
            return own, Provenance(who="user", session=session, event=utterance.event)
    if read := found_in_reading(text, heard):
        return text, Provenance(who=read.who, session=session, event=read.event)
    return text, Provenance(who="model", session=session, event=events[-1].id if events else 0)


def quoted_sentences(text: str, message: str) -> str:
    """The whole sentences of a message that contain the text literally; empty if there are none.

    Whole sentences, and a list with the line above it: a part may say the opposite ("never" + "push to main").
    """
    if len(text) > PASTED_WALL_CHARS or len(message) > PASTED_WALL_CHARS or _words_of(text) not in _words_of(message):
        return ""
    wanted = normalized(text).casefold()
    for statement in statements(message):
        if normalized(statement.body).casefold() == wanted:
            return statement.body
    if not is_quote(text, message):
        return ""
    words = text.strip().rstrip(".!? ").split()
    found = re.search(r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)", message, re.IGNORECASE)
    if found is None:
        return ""
    start, end = _paragraphs(message, *found.span())
    if "\n" not in message[start:end].strip():
        start, end = _sentences(message, start, end, *found.span())
    return message[start:end].strip()


def is_quote(quote: str, text: str) -> bool:
    """Whether a text contains these words in sequence. Fewer than `MIN_QUOTE_WORDS` have to be the whole text."""
    part, whole = _words_of(quote), _words_of(text)
    return part.strip() != "" and (part == whole or (part.count(" ") > MIN_QUOTE_WORDS and part in whole))


def _words_of(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def found_in_reading(text: str, heard: Sequence[Utterance]) -> Utterance | None:
    """The newest tool result or page that contains the words of a text in sequence."""
    read = (utterance for utterance in reversed(heard) if utterance.who in ("tool", "web"))
    return next((utterance for utterance in read if is_quote(text, utterance.text)), None)


def _paragraphs(text: str, start: int, end: int) -> tuple[int, int]:
    """The span extended to whole paragraphs, and to the one before if it ends in a colon."""
    breaks = [(0, 0), *(match.span() for match in _BLANK.finditer(text)), (len(text), len(text))]
    first = max(number for number, (_, after) in enumerate(breaks) if after <= start)
    while first and text[: breaks[first][0]].rstrip().endswith(":"):
        first -= 1
    return breaks[first][1], min(before for before, _ in breaks if before >= end)


def _sentences(text: str, begin: int, stop: int, start: int, end: int) -> tuple[int, int]:
    """The span from `start` to `end` extended to whole sentences of the line from `begin` to `stop`."""
    first = last = begin
    while last < min(stop, end):
        if last <= start:
            first = last
        last = min(stop, sentence_end(text, last))
    return first, last
