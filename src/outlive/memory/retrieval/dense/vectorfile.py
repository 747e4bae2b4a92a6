"""Vectors on disk by the digest of their text: embedding is the slow step of retrieval.

Records of fixed size are appended under a lock, each with a checksum: a record that a dying writer left incomplete is
cut off by the next one, a damaged one is embedded again. If most records are unused, the file is rewritten.
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
from outlive.memory.retrieval.dense.model import DIMENSIONS, Vector
from outlive.private import make_private
from outlive.regular import MIB, open_regular, read_regular

MAX_FILE_BYTES = 1024 * MIB

_HEADER = b"outlive vectors 1 minilm-l6-v2-int8\n"
_DIGEST_BYTES = 16  # of the text; it is the key of a record
_RECORD_BYTES = _DIGEST_BYTES + DIMENSIONS + 4
_MAX_UNUSED_RECORDS = 1000
"""The file is not rewritten for fewer unused records."""


class VectorFile:
    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self) -> tuple[dict[bytes, int], npt.NDArray[np.int8]]:
        """The row of each digest, and the rows. Damaged records are skipped."""
        raw = self._raw()
        count = max(0, len(raw) - len(_HEADER)) // _RECORD_BYTES
        whole = np.frombuffer(raw, dtype=np.int8, count=count * _RECORD_BYTES, offset=len(_HEADER)) if count else None
        rows: dict[bytes, int] = {}
        for row in range(count):
            record = _record(raw, row)
            if zlib.crc32(record[:-4]).to_bytes(4, "big") == record[-4:]:
                rows[record[:_DIGEST_BYTES]] = row
        if whole is None:
            return {}, np.zeros((0, DIMENSIONS), dtype=np.int8)
        return rows, whole.reshape(count, _RECORD_BYTES)[:, _DIGEST_BYTES : _DIGEST_BYTES + DIMENSIONS]

    def append(self, vectors: Mapping[bytes, Vector]) -> None:
        """Append new vectors. If the cache cannot be written, they are dropped."""
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
                    os.ftruncate(descriptor, size - (size - len(_HEADER)) % _RECORD_BYTES)
                while data:
                    data = data[os.write(descriptor, data) :]
        except OSError:
            return

    def tidy(self, used: Collection[bytes]) -> None:
        """Rewrite the file with the records in use, if most are unused."""
        if self._path is None:
            return
        try:
            if os.stat(self._path).st_size < len(_HEADER) + (2 * len(used) + _MAX_UNUSED_RECORDS) * _RECORD_BYTES:
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
            raw = read_regular(self._path, MAX_FILE_BYTES) if self._path else b""
        except OSError:
            return b""
        return raw if raw.startswith(_HEADER) else b""

    @contextmanager
    def _locked(self, path: Path) -> Iterator[int]:
        """The file under an exclusive lock; opened again if another process replaced it meanwhile."""
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
    start = len(_HEADER) + row * _RECORD_BYTES
    return raw[start : start + _RECORD_BYTES]
