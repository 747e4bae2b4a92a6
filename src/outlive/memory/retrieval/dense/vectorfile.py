"""Vectors on disk by the digest of the text they stand for: embedding is the one thing in here that takes long.

Records of one size are only ever appended, under a lock, each with a checksum: one that a dying writer left half
done is cut off by the next, one that was damaged is embedded again. When most are unused the file is rewritten.
"""

import fcntl
import os
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from outlive.memory.retrieval.atomic import replace
from outlive.memory.retrieval.dense.model import SIZE, Vector
from outlive.private import make_private
from outlive.regular import MIB, open_regular, read_regular

LARGEST = 1024 * MIB

_HEADER = b"outlive vectors 1 minilm-l6-v2-int8\n"
_DIGEST = 16
_RECORD = _DIGEST + SIZE + 4
_SPARE = 1000
"""Unused records up to which the file is not rewritten."""


class VectorFile:
    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self) -> tuple[dict[bytes, int], npt.NDArray[np.int8]]:
        """Which row belongs to which digest, and the rows. What is damaged is left out."""
        raw = self._raw()
        count = max(0, len(raw) - len(_HEADER)) // _RECORD
        whole = np.frombuffer(raw, dtype=np.int8, count=count * _RECORD, offset=len(_HEADER)) if count else None
        rows: dict[bytes, int] = {}
        for row in range(count):
            record = _record(raw, row)
            if zlib.crc32(record[:-4]).to_bytes(4, "big") == record[-4:]:
                rows[record[:_DIGEST]] = row
        if whole is None:
            return {}, np.zeros((0, SIZE), dtype=np.int8)
        return rows, whole.reshape(count, _RECORD)[:, _DIGEST : _DIGEST + SIZE]

    def append(self, vectors: Mapping[bytes, Vector]) -> None:
        """Keep new vectors. A cache that cannot be written is not kept."""
        if self._path is None or not vectors:
            return
        data = b"".join(_sealed(digest + vector.tobytes()) for digest, vector in vectors.items())
        try:
            with self._locked(self._path) as descriptor:
                size = os.fstat(descriptor).st_size
                if os.pread(descriptor, len(_HEADER), 0) != _HEADER:
                    os.ftruncate(descriptor, 0)
                    data = _HEADER + data
                else:
                    os.ftruncate(descriptor, size - (size - len(_HEADER)) % _RECORD)
                while data:
                    data = data[os.write(descriptor, data) :]
        except OSError:
            return

    def tidy(self, used: Collection[bytes]) -> None:
        """Rewrite the file with the records in use, if most are unused."""
        if self._path is None:
            return
        try:
            if os.stat(self._path).st_size < len(_HEADER) + (2 * len(used) + _SPARE) * _RECORD:
                return
            with self._locked(self._path):
                raw = self._raw()
                rows, _ = self.read()
                kept = sorted(row for digest, row in rows.items() if digest in used)
                replace(self._path, _HEADER + b"".join(_record(raw, row) for row in kept))
        except OSError:
            return

    def _raw(self) -> bytes:
        try:
            raw = read_regular(self._path, LARGEST) if self._path else b""
        except OSError:
            return b""
        return raw if raw.startswith(_HEADER) else b""

    @contextmanager
    def _locked(self, path: Path) -> Iterator[int]:
        """The file, held alone; opened again when another process put a new one in its place meanwhile."""
        make_private(path.parent)
        while True:
            descriptor = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if os.path.exists(path) and os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)


def _sealed(record: bytes) -> bytes:
    return record + zlib.crc32(record).to_bytes(4, "big")


def _record(raw: bytes, row: int) -> bytes:
    start = len(_HEADER) + row * _RECORD
    return raw[start : start + _RECORD]
