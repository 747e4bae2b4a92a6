"""Recordings that browsers gave us, held in memory. The file of an upload is gone once it is parsed."""

import os
import secrets
import tempfile
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from outlive.events import encode
from outlive.replay.importers import ImportRefused, read_recording
from outlive.replay.recording import Recording
from outlive.stores.logs.protocol import LogStore
from outlive.stores.logs.reading import full_log
from outlive.web.api import HttpProblem

LARGEST_UPLOAD = 64 * 1024 * 1024  # more is refused: a recording is held in memory
MOST_KEPT = 4  # the least recently used goes
DROPPED = "the file"
"""Stands for the temporary path in messages."""


class Recordings:
    """The last few recordings, by a random id."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Recording] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, id: str) -> Recording:
        with self._lock:
            if id not in self._kept:
                hint = "drop the transcript again"
                raise HttpProblem(404, "this recording is not held any more", hint=hint, code="unknown_recording")
            self._kept.move_to_end(id)
            return self._kept[id]

    def keep(self, recording: Recording) -> str:
        id = secrets.token_hex(8)
        with self._lock:
            self._kept[id] = recording
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return id

    def forget(self, id: str) -> None:
        with self._lock:
            self._kept.pop(id, None)


async def received(chunks: AsyncIterator[bytes], name: str) -> Path:
    """A body as a private temporary file, which the caller removes. Raises HttpProblem if it is too large."""
    suffix = ".jsonl.gz" if name.endswith(".gz") else ".jsonl"
    handle, path = tempfile.mkstemp(prefix="outlive-replay-", suffix=suffix)  # only its owner may read it
    size = 0
    try:
        with os.fdopen(handle, "wb") as file:
            async for chunk in chunks:
                size += len(chunk)
                if size > LARGEST_UPLOAD:
                    raise HttpProblem(413, f"more than {LARGEST_UPLOAD // 2**20} MiB", code="too_large")
                file.write(chunk)
    except BaseException:
        removed(Path(path))
        raise
    return Path(path)


def removed(path: Path) -> None:
    with suppress(FileNotFoundError):
        path.unlink()


def parsed(path: Path) -> Recording:
    """The recording in a file that was received. The file is removed, and named in no message."""
    try:
        recording = read_recording(path)
        left_out = (text.replace(str(path), DROPPED) for text in recording.skipped)
        return replace(recording, skipped=tuple(left_out))
    except ImportRefused as error:
        raise ImportRefused(error.message.replace(str(path), DROPPED)) from None
    finally:
        removed(path)


def recorded_session(logs: LogStore, session: str) -> Recording:
    """A session of the workspace as a recording."""
    events = full_log(logs, session).events
    handle, path = tempfile.mkstemp(prefix="outlive-replay-", suffix=".jsonl")
    with os.fdopen(handle, "wb") as file:
        file.writelines(encode(event) + b"\n" for event in events)
    return parsed(Path(path))
