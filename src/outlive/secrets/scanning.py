"""A scan for secrets over a text that may arrive in pieces; the pieces do not change the result.

Private keys span lines, so a scan tracks whether it is inside one. Every other secret is found within a line and a
little text before it, so everything up to the end of the last complete line is settled.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from outlive.secrets.finding import LOOK_BACK_CHARS, Secret, by_form, by_words, plain
from outlive.secrets.judging import lazy

MAX_HELD_LINE_CHARS = 64 * 1024
"""Characters of an unfinished line that are held back at most."""
HELD_BACK_CHARS = 4_096
"""Characters at the end of a longer unfinished line that are still held back."""
_BLOCK_BYTES = 1 << 20  # of a read, so that a large file is never in memory
_MAX_FOREIGN_LINES = 4
"""So many consecutive lines that do not belong to a private key end it without an END line."""
_LABEL = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
_BEGIN = lazy(rf"-----BEGIN {_LABEL}-----|---- BEGIN {_LABEL} ----|PuTTY-User-Key-File-\d")
_END = lazy(rf"-----END {_LABEL}-----|---- END {_LABEL} ----|Private-MAC: ?[0-9a-f]{{40,64}}")
_HINTS = ("PRIVATE KEY", "PuTTY-User-Key-File-", "Private-MAC")
_ENCODED = lazy(r"[A-Za-z0-9+/]{32,}={0,2}[^A-Za-z0-9+/=]{0,8}\s*$")
_LAST = lazy(r"(?:^|[^A-Za-z0-9+/=])[A-Za-z0-9+/]{1,80}={0,2}[^A-Za-z0-9+/=]{0,8}\s*$")
_HEADER = lazy(r"\W{0,8}[A-Z][A-Za-z-]{2,20}: ")
_RUN = lazy(r"[A-Za-z0-9_.+/=~%-]*")
KEY = "private key"
Known = Callable[[str], Iterable[Secret]]


class KeyBlocks:
    """Tracks private keys across the lines of a text that may arrive in pieces."""

    def __init__(self, *, inside: bool = False) -> None:
        self._inside = inside
        self._foreign = 0
        self._words = 0
        """Words before each line of the key, such as a time or a line number."""

    def find(self, text: str, start: int, end: int) -> Iterator[Secret]:
        """The lines of private keys between two line starts."""
        if not self._inside and not any(text.find(hint, start, end) >= 0 for hint in _HINTS):
            return
        at, begin = start, _BEGIN.search(text, start, end)
        while at < end:
            if not self._inside:
                if begin and begin.start() < at:
                    begin = _BEGIN.search(text, at, end)
                if last := _END.search(text, at, begin.start() if begin else end):
                    line = text.rfind("\n", 0, last.start()) + 1
                    yield Secret(max(at, _before_encoded(text, start, line)), last.end(), KEY)
                    at = last.end()
                    continue
                if begin is None:
                    return
                at = begin.start()
                before = text[max(text.rfind("\n", 0, at) + 1, at - HELD_BACK_CHARS) : at]
                self._inside, self._foreign, self._words = True, 0, len(f"{before}|".split()) - 1
            line_end = text.find("\n", at, end)
            line_end = end if line_end < 0 else line_end
            if last := _END.search(text, at, line_end):
                yield Secret(at, last.end(), KEY)
                at, self._inside = last.end(), False
                continue
            if (begin and at == begin.start()) or self._goes_on(text[at : min(line_end, at + HELD_BACK_CHARS)]):
                yield Secret(at, line_end, KEY)
            at = line_end + 1

    def _goes_on(self, line: str) -> bool:
        """Whether a line after the first belongs to the key; `_MAX_FOREIGN_LINES` others in a row end the key."""
        if not line.strip():
            return False
        encoded = _ENCODED.search(line) is not None
        self._foreign = 0 if encoded else self._foreign + 1
        self._inside = self._foreign < _MAX_FOREIGN_LINES
        words = line.split()
        alone = len(words) in (1, self._words + 1) and not (self._words and words[-1].islower())
        return encoded or bool(alone and _LAST.search(line)) or _HEADER.match(line) is not None


class KeyLines:
    """The set of line numbers that belong to private keys in a file, which is read in blocks as far as needed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._blocks = KeyBlocks()
        self._lines: set[int] = set()
        self._read = 0
        self._rest = ""

    def __contains__(self, number: int) -> bool:
        while self._read < number and self._next():
            pass
        return number in self._lines

    def _next(self) -> bool:
        block = self._file.read(_BLOCK_BYTES).decode("latin-1")
        text = self._rest + block
        end = text.rfind("\n") + 1 if block else len(text)
        if not end and len(text) > 2 * _BLOCK_BYTES:
            end = len(text)
        line, at = self._read + 1, 0
        for secret in self._blocks.find(text, 0, end):
            line += text.count("\n", at, secret.start)
            at = secret.start
            self._lines.update(range(line, line + text.count("\n", at, secret.end) + 1))
        self._read += text.count("\n", 0, end)
        self._rest = text[end:]
        return bool(block)


class Scan:
    """One pass over a text that may arrive in pieces. `inside`: it begins within a private key."""

    def __init__(self, known: Known = lambda _: (), *, inside: bool = False) -> None:
        self._known = known
        self._keys = KeyBlocks(inside=inside)
        self._open = False
        """Whether the last secret reached the end of the settled text and may continue."""
        self._after_key = False
        """Whether the settled text ends with a private key."""

    def settle(self, text: str, start: int, *, final: bool, upto: int = 0) -> tuple[list[Secret], int]:
        """The secrets from `start` on, in order and without overlaps, and the end of the settled text: the end of the
        text if it is `final`, at least `upto`."""
        shadow = plain(text)
        end = len(text) if final else _settled(shadow, start, upto)
        if end <= start:
            return [], start
        begin = self._rest_of_open(text, start, end)
        found = [Secret(start, begin, "secret", "")] if begin > start else []
        found += self._keys.find(shadow, begin, end)
        lowered = shadow.lower()
        lowered = lowered if len(lowered) == len(text) else shadow
        found += (secret for secret in self._known(text) if begin <= secret.start < end)
        found += (secret for secret in by_form(shadow, begin) if secret.start < end)
        words = by_words(shadow, lowered, max(0, begin - LOOK_BACK_CHARS))
        found += (secret for secret in words if begin <= secret.start < end)
        if self._after_key:
            found.append(Secret(start, start, KEY, ""))
        apart = list(_apart(found, shadow))
        if apart:
            last = apart[-1]
            self._after_key = last.kind == KEY and _blank(shadow, last.end, end)
            end = last.end if self._after_key and not final else max(end, last.end)
            self._open = not final and last.end == len(text)
        return apart, end

    def _rest_of_open(self, text: str, start: int, end: int) -> int:
        if not self._open:
            return start
        self._open = False
        run = _RUN.match(text, start, end)
        return run.end() if run else start


def _settled(shadow: str, start: int, upto: int) -> int:
    """The end of the settled part: the end of the last line, or a place within a line that is too long."""
    line = max(start, shadow.rfind("\n", start) + 1)
    end = _before_encoded(shadow, start, line)
    if end == line:
        end = max(end, upto)
    return end if len(shadow) - end <= MAX_HELD_LINE_CHARS else len(shadow) - HELD_BACK_CHARS


def _before_encoded(text: str, start: int, end: int) -> int:
    """The start of the base64 lines that end at `end`; the END line of a private key may follow them."""
    at, found = end, end
    while at > start and end - at < MAX_HELD_LINE_CHARS // 2:
        line = max(start, text.rfind("\n", start, at - 1) + 1)
        row = text[max(line, at - 200) : at]
        if _ENCODED.search(row):
            found = line
        elif at < end or not _LAST.search(row):
            break
        at = line
    return found


def _apart(found: list[Secret], text: str) -> Iterator[Secret]:
    """The secrets in order, with overlapping ones and adjacent parts of a private key merged."""
    last: Secret | None = None
    for secret in sorted(found, key=lambda item: (item.start, item.label is None, -item.end)):
        if last is None:
            last = secret
        elif secret.start < last.end or (secret.kind == last.kind == KEY and _blank(text, last.end, secret.start)):
            last = Secret(last.start, max(last.end, secret.end), last.kind, last.label)
        else:
            yield last
            last = secret
    if last is not None:
        yield last


def _blank(text: str, start: int, end: int) -> bool:
    return end - start < HELD_BACK_CHARS and not text[start:end].strip()
