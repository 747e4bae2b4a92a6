"""The bounded output of a command: start and end in memory, and if it is long, up to a cap in a file."""

import codecs
import os
from pathlib import Path

from outlive.secrets import MaskedStream
from outlive.stores.disk import private_folder

EDGE_BYTES = 100_000
"""Bytes that are kept of the start, and of the end."""
MAX_FILE_BYTES = 10 * 2**20
"""Bytes of the file at most."""


class MaskedBytes:
    """Masks the secrets in a program's output before it is cut or kept."""

    def __init__(self, stream: MaskedStream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def add(self, data: bytes) -> bytes:
        return _encoded(self._stream.feed(self._decoder.decode(data)))

    def release(self, *, all: bool) -> bytes:
        """The held-back part of an unfinished line: complete words, or all of it."""
        return _encoded(self._stream.finish() if all else self._stream.release())


class Edges:
    """Start and end of a stream; the bytes between are only counted."""

    def __init__(self) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = EDGE_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[max(room, 0) :][-EDGE_BYTES:]
        if len(self._tail) > 2 * EDGE_BYTES:
            del self._tail[:-EDGE_BYTES]

    def text(self, where: str = "") -> str:
        """The text; a gap is noted with its size and `where` the whole output is."""
        tail = self._tail[-EDGE_BYTES:]
        if self.total == len(self._head) + len(tail):
            return (self._head + tail).decode("utf-8", "replace")
        head = self._head[: self._head.rfind(b"\n") + 1] or self._head + b"\n"
        tail = tail[tail.find(b"\n") + 1 :] or tail
        gap = self.total - len(head) - len(tail)
        note = f"[… {gap:,} of {self.total:,} bytes left out{where} …]"
        return f"{head.decode('utf-8', 'replace')}{note}\n{tail.decode('utf-8', 'replace')}"


class Spool:
    """The whole output in a file, created once it is too long for memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self.kept = 0
        self._first = bytearray()
        self._file = -1

    def add(self, data: bytes) -> None:
        if self.problem or self.kept >= MAX_FILE_BYTES:
            return
        try:
            if self._file < 0:
                self._first += data
                if len(self._first) <= 2 * EDGE_BYTES:
                    return
                data, self._first = bytes(self._first), bytearray()
                self._file = _new_file(self.path)
            data = data[: MAX_FILE_BYTES - self.kept]
            while data:
                written = os.write(self._file, data)
                self.kept += written
                data = data[written:]
        except OSError as error:
            self.problem = error.strerror or str(error)

    @property
    def where(self) -> str:
        """Where the whole output is, as part of a sentence."""
        if self.problem:
            return f"; the whole could not be kept: {self.problem}"
        if not self.kept:
            return ""
        much = f"the first {self.kept:,} bytes are" if self.kept >= MAX_FILE_BYTES else "the whole is"
        return f"; {much} in {self.path}"

    def close(self) -> None:
        self._first.clear()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _new_file(path: Path) -> int:
    for folder in (path.parent.parent, path.parent):
        if folder.is_symlink():
            raise OSError(f"{folder} is a symlink")
        private_folder(folder)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
