"""The place where reading a transcript continues: the model's last message, if nothing before it has changed."""

import hashlib
import os
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from outlive.regular import MAX_USER_FILE_BYTES, open_to_read
from outlive.replay.importers import claude_code, codex
from outlive.replay.importers.lines import parse_lines
from outlive.replay.recording import Recording

CHECKED_BYTES = 4096
"""Bytes before the position that are compared."""
_IMPORTERS = {"claude-code": claude_code, "codex": codex}


class Position(Struct, frozen=True):
    """A place in a transcript, and what was taken from before it."""

    format: str
    inode: int
    offset: int
    check: str
    """SHA-256 of the bytes just before the place."""
    messages: int
    """How many messages are before it."""
    hash: str
    """Of all these messages."""
    event: int
    """The last event of our log that is made of them."""


def position_from(data: Any) -> Position | None:
    """A position as a log has it; None if there is none."""
    try:
        return msgspec.convert(data, Position)
    except msgspec.ValidationError:
        return None


def mark(path: Path, recording: Recording) -> tuple[int, str] | None:
    """Inode and check of the place of the last answer; None if reading cannot go on there."""
    if recording.last_answer is None or recording.format not in _IMPORTERS:
        return None
    try:
        with open_to_read(path, follow=True) as file:
            return os.fstat(file.fileno()).st_ino, _check(file, recording.last_answer[1])
    except OSError:
        return None


def read_since(path: Path, position: Position) -> Recording | None:
    """The messages from a position on. None if the file has to be read as a whole: it was replaced or cut, or what it
    has since then changes what was before."""
    importer = _IMPORTERS.get(position.format)
    try:
        with open_to_read(path, MAX_USER_FILE_BYTES, follow=True) as file:
            found = os.fstat(file.fileno())
            if importer is None or found.st_ino != position.inode or found.st_size < position.offset:
                return None
            if _check(file, position.offset) != position.check:
                return None
            file.seek(position.offset)
            raw = file.read()
    except OSError:
        return None
    lines, skipped = parse_lines(path, raw, position.offset)
    if not lines or not importer.only_goes_on(lines):
        return None
    recording = importer.read(path, lines, skipped)
    return recording if recording.messages and recording.messages[0].message.role == "assistant" else None


def _check(file: BinaryIO, offset: int) -> str:
    begin = max(0, offset - CHECKED_BYTES)
    file.seek(begin)
    return hashlib.sha256(file.read(offset - begin)).hexdigest()
