"""The user's words, appended to the file of a session without loading events and engine: a client waits for this.

The lines are those that the store itself would write. Anything that is not plain (a busy or damaged file, text that
is not Unicode) is left to the store.
"""

import fcntl
import json
import os
from pathlib import Path

from outlive.regular import open_regular
from outlive.stores.disk import append, errors_named, last_lines, private_folder, sync_folder
from outlive.stores.locations import TRANSCRIPTS
from outlive.stores.logs.names import file_name

VERSION = 10
"""`outlive.events.VERSION`; a test compares them."""
MAX_LOG_BYTES = 1 << 30  # as in `lines.py`; larger logs are left to the store
MAX_LINE_BYTES = 16 * 2**20  # a last line that is longer, too
_APPEND = os.O_RDWR | os.O_APPEND


def append_words(root: Path, session: str, words: str, *, folder: str, now: float, durable: bool) -> bool:
    """Log the user's words as queued, and begin the session if there is none. False if nothing was done.

    `root` holds the folder of transcripts, `folder` is where the session works.
    """
    transcripts = root / TRANSCRIPTS
    path = transcripts / file_name(session)
    with errors_named("appending to", path):
        private_folder(transcripts)
        descriptor = _opened(path, durable=durable)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            last = _last_event(path, descriptor)
            if last is None or path.with_name(f".{path.name}.old").exists():  # a takeover that is not finished
                return False
            events = [] if last else [_started(session, folder, now)]
            last = last or 1
            events.append({"type": "user_queued", "id": last + 1, "time": now, "parent": last, "text": words})
            append(descriptor, b"".join(map(_line, events)), durable=durable)
            return _in_place(path, descriptor)
        except (BlockingIOError, UnicodeEncodeError):
            return False
        finally:
            os.close(descriptor)


def _opened(path: Path, *, durable: bool) -> int:
    try:
        descriptor = os.open(path, _APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return open_regular(path, _APPEND)
    if durable:
        sync_folder(path.parent)
    return descriptor


def _last_event(path: Path, descriptor: int) -> int | None:
    """The id of the last event, 0 in an empty file; None if the file was replaced or cannot be read."""
    size = os.fstat(descriptor).st_size
    if not _in_place(path, descriptor) or size > MAX_LOG_BYTES:
        return None
    for line in last_lines(descriptor, longest=MAX_LINE_BYTES):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and type(event.get("id")) is int:
            return int(event["id"])
    return None if size else 0


def _in_place(path: Path, descriptor: int) -> bool:
    """Whether an open file still is the one at the path: another writer may have put a copy there."""
    held, found = os.fstat(descriptor), path.lstat()
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)


def _started(session: str, folder: str, now: float) -> dict[str, object]:
    event = {"type": "session_started", "id": 1, "time": now, "session": session, "version": VERSION}
    return event | {"folder": folder} if folder else event


def _line(event: dict[str, object]) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
