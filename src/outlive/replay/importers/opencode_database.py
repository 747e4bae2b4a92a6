"""The SQLite database in which opencode keeps its sessions, read without touching it.

A session in it is named like a file below the database: `~/.local/share/opencode/opencode.db/ses_…`. Opening the
database in place would create or change files beside it, and the newest messages are in its write-ahead log; so both
are copied to a private folder, opened there, and the copies (opencode also keeps credentials in this database) are
removed before anything is read.
"""

import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct

from outlive.regular import MAX_USER_FILE_BYTES, open_to_read
from outlive.replay.importers.lines import ImportRefused, loads
from outlive.replay.importers.opencode import Form, recording_of
from outlive.replay.recording import Recording, seconds

WAL_HEADER = 32
"""Bytes at the start of a write-ahead log that change when it starts over."""
COPY_ATTEMPTS = 10
"""How often a database is copied that changes meanwhile."""
MAX_ROW_BYTES = 64 * 2**20  # SQLite refuses larger values, before they are in memory
MAX_SESSION_BYTES = 512 * 2**20
"""Bytes of a session that are read."""
TIME_LIMIT = 60.0
"""Seconds for all queries: a planted database can make them arbitrarily slow."""
MAX_SESSIONS = 10_000  # newest ones that are listed
NAMED_SESSIONS = 5
"""Sessions that an error names."""
_TABLES = {"session", "message", "part"}


class SessionRow(Struct, frozen=True):
    """A session of the database that the user began."""

    id: str
    folder: str
    changed: float
    first_prompt: list[Form]
    """The parts of the user's first message."""


def read(database: Path, session: str) -> Recording:
    """Read one session. Raises ImportRefused; without a session, also if there is not exactly one."""
    with _opened(database) as connection:
        if not session:
            session = _only_session(database, connection)
        where = f"{database}/{session}"
        info = _session_info(connection, session)
        if info is None:
            raise ImportRefused(f"{where}: the database has no such session")
        damaged: list[str] = []
        messages = list(_messages(connection, session, where, damaged))
    return recording_of(where, info, messages, tuple(damaged))


def sessions(database: Path) -> list[SessionRow]:
    """The sessions that the user began. Raises ImportRefused."""
    with _opened(database) as connection:
        rows = connection.execute(
            "SELECT id, directory, time_updated FROM session WHERE parent_id IS NULL "
            "ORDER BY time_updated DESC LIMIT ?",
            [MAX_SESSIONS],
        ).fetchall()
        return [_row(connection, *row) for row in rows]


def _row(connection: sqlite3.Connection, id: str, folder: str, updated: Any) -> SessionRow:
    first = connection.execute(
        "SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT 1", [id]
    ).fetchone()
    parts = [form for _, form, _ in _parts(connection, first[0]) if form] if first else []
    return SessionRow(str(id), str(folder), seconds(updated) or 0.0, parts)


@contextmanager
def _opened(database: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of the database; the files of the copy are already deleted. Raises ImportRefused."""
    try:
        with TemporaryDirectory(prefix="outlive-") as folder:
            copy = Path(folder, "copy.db")
            _copy(database, copy)
            connection = sqlite3.connect(copy, isolation_level=None)
            try:
                _prepare(connection, database)
            except BaseException:
                connection.close()
                raise
        with closing(connection):
            yield connection
    except sqlite3.Error as error:
        raise ImportRefused(f"{database}: cannot be read ({error})") from None
    except OSError as error:
        raise ImportRefused(f"{database}: cannot be read ({error.strerror or error})") from None


def _prepare(connection: sqlite3.Connection, database: Path) -> None:
    """Bound what a planted database can do, and read from it once so that all files are open."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES)
    until = time.monotonic() + TIME_LIMIT
    connection.set_progress_handler(lambda: time.monotonic() > until, 10_000)
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA query_only = ON")
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables >= _TABLES:
        raise ImportRefused(f"{database}: is a database, but not one of opencode")


def _copy(database: Path, copy: Path) -> None:
    """Copy the database and its write-ahead log as they were at one moment. Appending to the log meanwhile does no
    harm; moving it into the database does, and is noticed."""
    log = database.with_name(database.name + "-wal")
    for _ in range(COPY_ATTEMPTS):
        before = _mark(database, log)
        _copy_file(database, copy)
        copied_log = copy.with_name(copy.name + "-wal")
        copied_log.unlink(missing_ok=True)
        if before[1]:
            _copy_file(log, copied_log)
        if _mark(database, log) == before:
            return
    raise ImportRefused(f"{database}: opencode is writing to it all the time; try again later")


def _copy_file(path: Path, copy: Path) -> None:
    with open_to_read(path, MAX_USER_FILE_BYTES, follow=True) as source, copy.open("wb") as target:
        shutil.copyfileobj(source, target, 2**20)


def _mark(database: Path, log: Path) -> tuple[tuple[int, ...], bytes]:
    """Differs when the database was written to or its log started over."""
    found = database.stat()
    try:
        with open_to_read(log, MAX_USER_FILE_BYTES, follow=True) as file:
            header = file.read(WAL_HEADER)
    except FileNotFoundError:
        header = b""
    return (found.st_ino, found.st_size, found.st_mtime_ns), header


def _only_session(database: Path, connection: sqlite3.Connection) -> str:
    rows = connection.execute(
        "SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT ?", [NAMED_SESSIONS + 1]
    ).fetchall()
    ids = [str(id) for (id,) in rows]
    if len(ids) == 1:
        return ids[0]
    if not ids:
        raise ImportRefused(f"{database}: there are no sessions in it")
    named = ", ".join(ids[:NAMED_SESSIONS]) + (" …" if len(ids) > NAMED_SESSIONS else "")
    raise ImportRefused(
        f"{database}: has more than one session ({named}, newest first)", hint=f"name one: {database}/{ids[0]}"
    )


def _session_info(connection: sqlite3.Connection, session: str) -> Form | None:
    """What opencode's export has as `info`, as far as it is used."""
    row = connection.execute("SELECT parent_id, directory, revert FROM session WHERE id = ?", [session]).fetchone()
    if row is None:
        return None
    parent, folder, revert = row
    return {"id": session, "parentID": parent, "directory": folder, "revert": _form(revert)}


def _messages(connection: sqlite3.Connection, session: str, where: str, damaged: list[str]) -> Iterator[Form]:
    """Each message with its parts. What cannot be read is named in `damaged`, and the rest is read."""
    rows = connection.execute(
        "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", [session]
    ).fetchall()
    budget = MAX_SESSION_BYTES
    for id, data in rows:
        parts: list[Form] = []
        try:
            for part, form, size in _parts(connection, id):
                budget -= size
                if form is None:
                    damaged.append(f"{where}, part {part}: not a JSON object")
                else:
                    parts.append({**form, "id": part})
        except sqlite3.OperationalError:
            raise  # the time is up
        except sqlite3.DatabaseError as error:
            damaged.append(f"{where}, message {id}: cannot be read ({error})")
        if budget < 0:
            raise ImportRefused(f"{where}: has more than {MAX_SESSION_BYTES // 2**20} MiB")
        info = _form(data)
        if info is None:
            damaged.append(f"{where}, message {id}: not a JSON object")
        else:
            yield {"info": {**info, "id": id}, "parts": parts}


def _parts(connection: sqlite3.Connection, message: str) -> Iterator[tuple[str, Form | None, int]]:
    """Id, content and size of each part of a message."""
    for id, data in connection.execute("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", [message]):
        yield str(id), _form(data), len(str(data))


def _form(data: Any) -> Form | None:
    if not isinstance(data, str):
        return None
    try:
        value = loads(data.encode("utf-8", "replace"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
