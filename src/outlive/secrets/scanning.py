"""A text looked through for secrets from its beginning to its end, in one piece or in many: the result is the same.

Private keys are blocks of lines, so that a scan knows whether it is inside of one. Everything else is found within a
line and what is just before it; so all up to the end of the last whole line is settled.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from outlive.secrets.finding import LOOK_BACK, Secret, by_form, by_words, plain
from outlive.secrets.judging import lazy

LONGEST_LINE = 64 * 1024
"""Characters that are waited for until a line ends."""
MARGIN = 4_096
"""Characters at the end of an unfinished line that are not settled yet."""
_BLOCK = 1 << 20
_FOREIGN = 4
"""Lines in a row that are not of a private key end it, though its last line is missing."""
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
    """Follows private keys through the lines of a text that may come in pieces."""

    def __init__(self, *, inside: bool = False) -> None:
        self._inside = inside
        self._foreign = 0
        self._words = 0
        """Before each line of the key, as a time or a line number."""

    def find(self, text: str, start: int, end: int) -> Iterator[Secret]:
        """The lines of private keys between two places, both of them where a line begins."""
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
                before = text[max(text.rfind("\n", 0, at) + 1, at - MARGIN) : at]
                self._inside, self._foreign, self._words = True, 0, len(f"{before}|".split()) - 1
            line_end = text.find("\n", at, end)
            line_end = end if line_end < 0 else line_end
            if last := _END.search(text, at, line_end):
                yield Secret(at, last.end(), KEY)
                at, self._inside = last.end(), False
                continue
            if (begin and at == begin.start()) or self._goes_on(text[at : min(line_end, at + MARGIN)]):
                yield Secret(at, line_end, KEY)
            at = line_end + 1

    def _goes_on(self, line: str) -> bool:
        """Whether a line after the first belongs to the key; enough others in a row end it."""
        if not line.strip():
            return False
        encoded = _ENCODED.search(line) is not None
        self._foreign = 0 if encoded else self._foreign + 1
        self._inside = self._foreign < _FOREIGN
        words = line.split()
        short = (
            len(words) in (1, self._words + 1) and _LAST.search(line) and not (self._words and words[-1].islower())
        )
        return encoded or bool(short) or _HEADER.match(line) is not None


class KeyLines:
    """Which lines of a file are of private keys. It is read as far as it is asked about, a block at a time."""

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
        block = self._file.read(_BLOCK).decode("latin-1")
        text = self._rest + block
        end = text.rfind("\n") + 1 if block else len(text)
        if not end and len(text) > 2 * _BLOCK:
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
    """One pass over a text that may come in pieces. `inside` says that it begins within a private key."""

    def __init__(self, known: Known = lambda _: (), *, inside: bool = False) -> None:
        self._known = known
        self._keys = KeyBlocks(inside=inside)
        self._open = False
        """The last secret went on at the end of what was settled."""
        self._after_key = False
        """What was settled ends with a private key."""

    def settle(self, text: str, start: int, *, final: bool, upto: int = 0) -> tuple[list[Secret], int]:
        """The secrets from `start` on, in order and apart, and up to where they are all known: to the end when it is
        the `final` part, at least `upto`."""
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
        words = by_words(shadow, lowered, max(0, begin - LOOK_BACK))
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
    """Up to where a text that goes on is settled: the end of its last line, or within a line that is too long."""
    line = max(start, shadow.rfind("\n", start) + 1)
    end = _before_encoded(shadow, start, line)
    if end == line:
        end = max(end, upto)
    return end if len(shadow) - end <= LONGEST_LINE else len(shadow) - MARGIN


def _before_encoded(text: str, start: int, end: int) -> int:
    """Where the encoded lines begin that end at `end`; the last may be short. The end of a private key may follow."""
    at, found = end, end
    while at > start and end - at < LONGEST_LINE // 2:
        line = max(start, text.rfind("\n", start, at - 1) + 1)
        row = text[max(line, at - 200) : at]
        if _ENCODED.search(row):
            found = line
        elif at < end or not _LAST.search(row):
            break
        at = line
    return found


def _apart(found: list[Secret], text: str) -> Iterator[Secret]:
    """None within another; parts of a private key in one."""
    last: Secret | None = None
    for secret in sorted(found, key=_by_place):
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
    return end - start < MARGIN and not text[start:end].strip()


def _by_place(secret: Secret) -> tuple[int, bool, int]:
    return secret.start, secret.label is None, -secret.end
