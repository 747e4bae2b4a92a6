"""The text of an answer while it arrives: what can be shown, and what is kept."""

import re

from outlive.models.errors import RequestRefused
from outlive.models.written_calls.markers import HELD_BACK
from outlive.request import STATE_END, STATE_START

MAX_ANSWER_CHARS = 8 * 2**20
"""Characters of one answer, text and arguments together. Only a broken server sends more."""
RUNAWAY_CHARS = 16_384
"""An answer whose last characters, so many, repeat a part of at most `MAX_PERIOD` never ends by itself."""
MAX_PERIOD = 512  # a repeated paragraph; longer parts may be real data
ECHO = re.compile(re.escape(STATE_START))
CALL_OR_ECHO = HELD_BACK
_UNDECIDED = re.compile(r"[<\[{`]")
_FIRST_LINE = re.compile(r"\s{0,8}([^\n]{0,200})")
MAX_OPENING_CHARS = 48
"""Characters at the end of a text that may become the start of a call."""


class AnswerSize:
    """Limits the size of an answer, and ends one that only repeats itself."""

    def __init__(self) -> None:
        self._characters = self._checked = 0
        self._end = ""

    def add(self, piece: str) -> None:
        """Raises RequestRefused for an endless answer."""
        self._characters += len(piece)
        if self._characters > MAX_ANSWER_CHARS:
            raise RequestRefused(f"the answer has more than {MAX_ANSWER_CHARS:,} characters; the rest was not read")
        self._end += piece
        if self._characters - self._checked >= RUNAWAY_CHARS // 4:
            self._checked = self._characters
            self._end = self._end[-RUNAWAY_CHARS:]
            if len(self._end) == RUNAWAY_CHARS and 0 < period(self._end) <= MAX_PERIOD:
                raise RequestRefused(
                    f"the answer repeats {self._end[-period(self._end) :].strip()[:60]!r} without end; it was stopped"
                )


def period(text: str) -> int:
    """The length of the part that all of a text repeats; 0 if there is none, or only a long one."""
    last = text[-MAX_PERIOD:]
    before = text.rfind(last, 0, len(text) - 1)
    length = len(text) - len(last) - before
    return length if before >= 0 and text[length:] == text[:-length] else 0


class AnswerText:
    """Text as it arrives. From a match of `held` on, it is not shown before the answer is complete."""

    def __init__(self, held: re.Pattern[str] | None) -> None:
        self._held = held
        self._parts: list[str] = []
        self._shown: list[str] = []
        self._waiting = ""
        self._holds = False

    def take(self, piece: str) -> str:
        """Add a piece and return what can be shown now."""
        self._parts.append(piece)
        if self._holds:
            return ""
        self._waiting += piece
        found = self._held.search(self._waiting) if self._held else None
        self._holds = found is not None
        if found is None and self._held:
            found = _UNDECIDED.search(self._waiting, max(0, len(self._waiting) - MAX_OPENING_CHARS))
        end = found.start() if found else len(self._waiting)
        shown, self._waiting = self._waiting[:end], self._waiting[end:]
        self._shown.append(shown)
        return shown

    def rest(self, kept: str) -> str:
        """The part of the kept text that has not been shown."""
        shown = "".join(self._shown)
        return kept[len(shown) :] if kept.startswith(shown) else kept[len(shown.strip()) :]

    def kept(self, state_block: str) -> str:
        """All text, without an echo of the state block."""
        return without_echo("".join(self._parts), state_block)


def without_echo(text: str, state_block: str) -> str:
    """The text without echoes of the state block, which are recognised by their first line."""
    known = {line.strip()[:200] for line in state_block.splitlines()} - {"", STATE_START, STATE_END}
    last_end = text.rfind(STATE_END)
    kept: list[str] = []
    begin = at = 0
    while known and (start := text.find(STATE_START, at)) >= 0:
        at = start + len(STATE_START)
        first = _FIRST_LINE.match(text, at)
        if first and first[1].strip() in known:
            kept.append(text[begin:start])
            begin = at = (
                text.find(STATE_END, at) + len(STATE_END) if at <= last_end else _behind_known(text, at, known)
            )
    return "\n\n".join(filter(None, map(str.strip, [*kept, text[begin:]]))) if kept else text


def _behind_known(text: str, at: int, known: set[str]) -> int:
    """The end of the consecutive lines that also occur in the state block."""
    while at < len(text):
        line_end = text.find("\n", at) + 1 or len(text)
        line = text[at:line_end].strip()
        if line and line[:200] not in known:
            break
        at = line_end
    return at
