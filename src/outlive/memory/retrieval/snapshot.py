"""The word index on disk, as one file with a checksum. Anything else in its place is ignored."""

import zlib
from pathlib import Path

import msgspec

from outlive.memory.retrieval.analysis import VERSION
from outlive.memory.retrieval.atomic import replace
from outlive.memory.retrieval.document import Document
from outlive.regular import MIB, read_regular

MAX_FILE_BYTES = 512 * MIB
_HEADER = f"outlive index 1 terms {VERSION}\n".encode()


class Snapshot(msgspec.Struct, frozen=True, array_like=True):
    """Documents by slot, and the packed list of each term."""

    documents: list[Document]
    postings: dict[str, bytes]


_decoder = msgspec.msgpack.Decoder(Snapshot)


def read(path: Path) -> Snapshot | None:
    try:
        raw = read_regular(path, MAX_FILE_BYTES)
    except OSError:
        return None
    body = memoryview(raw)[len(_HEADER) + 4 :]
    if not raw.startswith(_HEADER) or raw[len(_HEADER) : len(_HEADER) + 4] != zlib.crc32(body).to_bytes(4, "big"):
        return None
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def write(path: Path, snapshot: Snapshot) -> None:
    """Write the cache; if that fails (full disk, no permission, unencodable text), there is none."""
    try:
        body = msgspec.msgpack.encode(snapshot)
        replace(path, _HEADER + zlib.crc32(body).to_bytes(4, "big") + body)
    except (OSError, UnicodeEncodeError):
        return
