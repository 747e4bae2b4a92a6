"""A text looked through for secrets from its beginning to its end, in one piece or in many: the result is the same.

Private keys are blocks of lines, so that a scan knows whether it is inside of one. Everything else is found within a
line and what is just before it; so all up to the end of the last whole line is settled.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from outlive.secrets.finding import LOOK_BACK, Secret, by_form, by_words, plain

LONGEST_LINE = 64 * 1024
"""Characters that are waited for until a line ends."""
MARGIN = 4_096
"""Characters at the end of an unfinished line that are not settled yet."""
_FOREIGN = 4
"""Lines in a row that are not of a private key end it, though its last line is missing."""
_LABEL = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
_BEGIN = re.compile(rf"-----BEGIN {_LABEL}-----|---- BEGIN {_LABEL} ----|PuTTY-User-Key-File-\d")
_END = re.compile(rf"-----END {_LABEL}-----|---- END {_LABEL} ----|Private-MAC: ?[0-9a-f]{{40,64}}")
_HINTS = ("PRIVATE KEY", "PuTTY-User-Key-File-", "Private-MAC")
_ENCODED = re.compile(r"[A-Za-z0-9+/]{32,}={0,2}[^A-Za-z0-9+/=]{0,8}\s*$")
_LAST = re.compile(r"(?:^|[^A-Za-z0-9+/=])[A-Za-z0-9+/]{1,80}={0,2}[^A-Za-z0-9+/=]{0,8}\s*$")
_HEADER = re.compile(r"\W{0,8}[A-Z][A-Za-z-]{2,20}: ")
_RUN = re.compile(r"[A-Za-z0-9_.+/=~%-]*")
KEY = "private key"
Known = Callable[[str], Iterable[Secret]]


class Scan:
    """One pass over a text that may come in pieces. `inside` says that it begins within a private key."""

    def __init__(self, known: Known = lambda _: (), *, inside: bool = False) -> None:
        self._known = known
        self._inside = inside
        self._foreign = 0
        self._words = 0
        """Before each line of the key, as a time or a line number."""
        self._open = False
        """The last secret went on at the end of what was settled."""
        self._after_key = False
        """What was settled ends with a private key."""

    def settle(self, text: str, start: int, *, final: bool) -> tuple[list[Secret], int]:
        """The secrets from `start` on, in order and apart, and up to where they are all known."""
        shadow = plain(text)
        end = len(text) if final else self._settled(shadow, start)
        if end <= start:
            return [], start
        begin = self._rest_of_open(text, start, end)
        found = [Secret(start, begin, "secret", "")] if begin > start else []
        found += self._blocks(shadow, begin, end)
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

    def _settled(self, shadow: str, start: int) -> int:
        end = shadow.rfind("\n", start) + 1
        if end:
            end = max(start, _before_encoded(shadow, start, end))
        if len(shadow) - max(end, start) > LONGEST_LINE:
            end = len(shadow) - MARGIN
        return end

    def _rest_of_open(self, text: str, start: int, end: int) -> int:
        if not self._open:
            return start
        self._open = False
        run = _RUN.match(text, start, end)
        return run.end() if run else start

    def _blocks(self, text: str, start: int, end: int) -> Iterator[Secret]:
        """Private keys, line by line while inside of one."""
        if not self._inside and not any(hint in text[start:end] for hint in _HINTS):
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
            if (begin and at == begin.start()) or self._is_of_key(text[at : min(line_end, at + MARGIN)]):
                yield Secret(at, line_end, KEY)
            at = line_end + 1

    def _is_of_key(self, line: str) -> bool:
        """Whether a line inside of a private key belongs to it; enough others in a row end it."""
        if not line.strip():
            return False
        encoded = _ENCODED.search(line) is not None
        self._foreign = 0 if encoded else self._foreign + 1
        self._inside = self._foreign < _FOREIGN
        words = line.split()
        short = len(words) == self._words + 1 and _LAST.search(line) and (not self._words or not words[-1].islower())
        return encoded or bool(short) or _HEADER.match(line) is not None


def _before_encoded(text: str, start: int, end: int) -> int:
    """Where the encoded lines begin that end at `end`, the last of them short: the end of a private key may follow."""
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
