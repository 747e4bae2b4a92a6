"""`@src/app.py`, `@src/app.py:10-40` and `@docs/` in the user's words: which files and folders they name.

Only what exists counts, so an e-mail address or a decorator in pasted code names nothing.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from outlive.tools.permissions.fence import MAX_PATH_BYTES

MAX_MENTIONS = 20
"""Files and folders that one prompt puts in."""
MAX_CANDIDATES = 500
"""Words with an @ that are looked up; pasted code may have any number."""
MAX_SPELLINGS = 8
"""Readings of one word, with less and less of the punctuation at its end."""
_MENTION = re.compile(r"""(?<![\w@./\\-])@(?:"([^"\n]+)"((?::\d+(?:-\d+)?)?)|([^\s"'`<>|,;@]+))""")
_LINES = re.compile(r"(.+?):(\d+)(?:-(\d+))?")
_CODE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_ENDS = ".,:!?)]}*_"
"""Punctuation that may follow a path."""


class Mention(Struct, frozen=True):
    """A file or folder that exists, and the lines that are wanted of it (0: all)."""

    path: str
    first: int = 0
    last: int = 0
    is_folder: bool = False

    @property
    def label(self) -> str:
        if not self.first:
            return self.path
        if self.first == self.last:
            return f"{self.path}, line {self.first}"
        return f"{self.path}, lines {self.first}-{self.last}"


def mentions(words: str, root: Path) -> list[Mention]:
    """The files and folders that the words name, once each."""
    found: dict[Mention, None] = {}
    for number, match in enumerate(_MENTION.finditer(_CODE.sub("", words))):
        if number >= MAX_CANDIDATES:
            break
        quoted, lines, plain = match.groups()
        spellings = [quoted + lines] if quoted else _spellings(plain)
        if mention := next(filter(None, (_existing(text, root) for text in spellings)), None):
            found[mention] = None
    return list(found)


def _spellings(text: str) -> Iterator[str]:
    """The text, then without the punctuation at its end, one mark less each time."""
    for _ in range(MAX_SPELLINGS if len(text) <= MAX_PATH_BYTES else 0):
        yield text
        if not text or text[-1] not in _ENDS:
            return
        text = text[:-1]


def _existing(text: str, root: Path) -> Mention | None:
    if text and (found := _state(root, text)):
        return Mention(text, is_folder=_is_folder(found))
    if (parts := _LINES.fullmatch(text)) and (found := _state(root, parts[1])) and not _is_folder(found):
        first = max(1, int(parts[2][:9]))
        return Mention(parts[1], first, max(first, int((parts[3] or parts[2])[:9])))
    return None


def _state(root: Path, path: str) -> os.stat_result | None:
    try:
        return os.stat(root / Path(path).expanduser())
    except (OSError, ValueError, RuntimeError):
        return None


def _is_folder(found: os.stat_result) -> bool:
    return stat.S_ISDIR(found.st_mode)
