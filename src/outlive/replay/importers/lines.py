"""JSON lines, plain or gzipped, with line numbers. Lines that are not JSON are reported and skipped."""

import gzip
import json
import re
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from outlive.errors import OutliveError
from outlive.models.sanitize import is_deeper
from outlive.regular import MAX_USER_FILE_BYTES, read_named
from outlive.stores.logs.lines import mended_value

MAX_DEPTH = 128
"""Nesting of a line; a deeper one could not be masked or written again."""
_GZIP = b"\x1f\x8b"


class ImportRefused(OutliveError):
    """A file is not a recorded session; the message names file and line."""


class TranscriptLine(Struct, frozen=True):
    """One JSON object and its line number."""

    number: int
    value: dict[str, Any]
    offset: int = 0
    """Where it begins in the file, in bytes."""


def read_lines(path: Path) -> tuple[list[TranscriptLine], tuple[str, ...]]:
    """Read all JSON objects of a file, and report skipped lines. A file may also be one object over many lines."""
    raw = _bytes(path)
    if (whole := _one_object(raw)) is not None:
        return [TranscriptLine(1, whole)], ()
    return parse_lines(path, raw)


def parse_lines(path: Path, raw: bytes, offset: int = 0) -> tuple[list[TranscriptLine], tuple[str, ...]]:
    """The JSON objects in bytes that begin at `offset` of a file, and the skipped lines."""
    lines: list[TranscriptLine] = []
    skipped: list[str] = []
    for number, text in enumerate(BytesIO(raw), start=1):  # unlike split(), without a second copy of the file
        begin, offset = offset, offset + len(text)
        if not text.strip():
            continue
        try:
            value = loads(text)
        except ValueError as error:
            skipped.append(f"{path}, line {number}: not JSON ({error})")
            continue
        if isinstance(value, dict):
            lines.append(TranscriptLine(number, value, begin))
        else:
            skipped.append(f"{path}, line {number}: not a JSON object")
    return lines, tuple(skipped)


def _one_object(raw: bytes) -> dict[str, Any] | None:
    """Return the object if the file is a single one over many lines."""
    if re.match(rb"\s*\{[^\S\n]*\n", raw):
        try:
            value = loads(raw)
        except ValueError:
            return None
        return value if isinstance(value, dict) else None
    return None


def loads(text: bytes) -> Any:
    """Decode JSON strictly, then leniently, because other programs write lone surrogates. Raises ValueError."""
    try:
        value = _decoded(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count(b"[") + text.count(b"{") > MAX_DEPTH and is_deeper(value, MAX_DEPTH):
        raise ValueError("nested too deeply")
    return value


def _decoded(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return mended_value(json.loads(text.decode("utf-8", "replace")))


def _bytes(path: Path) -> bytes:
    try:
        raw = read_named(path)
        return _unzipped(raw, path) if raw.startswith(_GZIP) else raw
    except OSError as error:
        raise ImportRefused(f"{path}: cannot be read ({error.strerror or error})") from None
    except (EOFError, zlib.error) as error:
        raise ImportRefused(f"{path}: the gzip file is cut off or damaged ({error})") from None


def _unzipped(raw: bytes, path: Path) -> bytes:
    with gzip.open(BytesIO(raw)) as file:
        data = file.read(MAX_USER_FILE_BYTES + 1)
    if len(data) > MAX_USER_FILE_BYTES:
        raise ImportRefused(f"{path}: has more than {MAX_USER_FILE_BYTES // 2**20} MiB when unpacked; split it")
    return data
