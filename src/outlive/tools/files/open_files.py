"""How tools open files: inside the fence, regular files only, with their encoding detected."""

import hashlib
import os
import stat
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO, NoReturn

from msgspec import Struct

from outlive.tools.files.workspace import files_below
from outlive.tools.protocol import ToolContext, ToolError

MAX_HASHED_BYTES = 32 * 2**20
"""Bytes; larger files are identified by size and time only, and cannot be edited."""
PEEK_BYTES = 8192  # a NUL byte within them makes a file binary; git looks at about as many
NEAR, COMPARED = 5, 500
"""Files that an error suggests, and those that it compares."""
_BLOCK_BYTES = 1 << 20  # of a read, so that a large file is hashed without being in memory
_SPECIAL_FILES = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_MAGIC = (
    (b"\x7fELF", "an ELF program"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive (also jar, docx, whl)"),
    (b"\x1f\x8b", "gzip data"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"MZ", "a Windows program"),
)
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


class Coding(Struct, frozen=True):
    """The encoding of a text file and its byte order mark."""

    name: str = "utf-8"
    mark: bytes = b""

    def decode(self, raw: bytes) -> str:
        """Decode so that `encode` restores every byte; also invalid UTF-8."""
        return raw[len(self.mark) :].decode(self.name, self._errors)

    def encode(self, text: str) -> bytes:
        return self.mark + text.encode(self.name, self._errors)

    @property
    def _errors(self) -> str:
        return "surrogateescape" if self.name == "utf-8" else "surrogatepass"


def coding(head: bytes) -> Coding | None:
    """The encoding of a file by its first bytes; None for a binary file."""
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return Coding(name, mark)
    return None if b"\0" in head[:PEEK_BYTES] else Coding()


def kind_of(head: bytes) -> str:
    """A description of a binary file by its first bytes."""
    return next((kind for magic, kind in _MAGIC if head.startswith(magic)), "binary data")


def open_file(context: ToolContext, path: str) -> tuple[Path, BinaryIO]:
    """The real path and the file. Raises ToolError unless it is a regular file."""
    real = context.fence.inside(path)
    try:
        return real, open_existing(context, path, real)
    except (FileNotFoundError, NotADirectoryError):
        missing(context, path, real)


def open_existing(context: ToolContext, path: str, real: Path) -> BinaryIO:
    """Open a regular file. Raises ToolError for a folder, a pipe and the like."""
    _check_regular(path, os.lstat(real))
    file = os.fdopen(context.fence.open_inside(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    try:
        _check_regular(path, os.fstat(file.fileno()))
    except BaseException:
        file.close()
        raise
    return file


def _check_regular(path: str, state: os.stat_result) -> None:
    """Raise ToolError unless this is a regular file."""
    if stat.S_ISDIR(state.st_mode):
        raise ToolError(f'{path} is a folder; list it with glob{{"pattern": "*", "path": "{path}"}}')
    if not stat.S_ISREG(state.st_mode):
        raise ToolError(f"{path} is {_SPECIAL_FILES.get(stat.S_IFMT(state.st_mode), 'no file')}, not a file")


def missing(context: ToolContext, path: str, real: Path) -> NoReturn:
    """Raise ToolError with the names of similar files."""
    hint = ""
    if not real.parent.is_dir():
        existing = next(parent for parent in real.parents if parent.is_dir())
        hint = f"; of its folders {context.fence.shown(existing)} is the last that exists"
    files = {str(context.fence.shown(file)): file.name for file in files_below(context.root).files}
    same = [shown for shown, name in files.items() if name == real.name]
    beside = [shown for shown, file in files.items() if (context.root / shown).parent == real.parent]
    close = get_close_matches(context.fence.shown(real), beside[:COMPARED], n=NEAR, cutoff=0.6)
    similar = list(dict.fromkeys([*same, *close]))[:NEAR]
    raise ToolError(f"there is no file {path}{hint}" + (f". Near: {', '.join(similar)}" if similar else ""))


class Sum(Struct, frozen=True):
    """Digest and line counts of a whole file."""

    digest: str
    newlines: int
    ends_open: bool
    """The last line has no line end."""
    crlf: bool
    """Every line ends with CRLF."""


def summed(file: BinaryIO) -> Sum:
    """Read a whole file in blocks."""
    digest = hashlib.sha256()
    newlines = returns = 0
    last = b""
    while block := file.read(_BLOCK_BYTES):
        digest.update(block)
        newlines += block.count(b"\n")
        returns += block.count(b"\r\n") + (last.endswith(b"\r") and block.startswith(b"\n"))
        last = block[-1:]
    return Sum(digest.hexdigest(), newlines, last not in (b"", b"\n"), 0 < newlines == returns)


def digest_of(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def size_text(size: int) -> str:
    """`812 bytes`, `3.4 MB`."""
    if size < 10_000:
        return f"{size:,} bytes"
    unit = min((size.bit_length() - 1) // 10, 4)
    return f"{size / 1024**unit:.1f} {['B', 'KB', 'MB', 'GB', 'TB'][unit]}"
