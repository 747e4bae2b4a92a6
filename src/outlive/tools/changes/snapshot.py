"""The files of a workspace at one moment. A local cache keeps their contents: after a command has changed a file, its
earlier content is gone.

The cache is an SQLite file in outlive's folder of the user's home and never leaves the machine. Without it, files
cannot be restored. Ignored files, links, and files of git or outlive are not looked at.
"""

import hashlib
import os
import sqlite3
import stat
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from outlive.config import home
from outlive.private import make_private
from outlive.regular import read_regular, refuse_irregular
from outlive.tools.files.workspace import files_below
from outlive.tools.permissions.fence import DOTENV

MAX_FILES = 20_000
"""A workspace with more files is not compared; only the files that edits name are recorded."""
MAX_FILE_BYTES = 2**20  # larger files are seen to change, but not restored
MAX_CACHE_BYTES = 256 * 2**20  # of contents that are kept; later ones are not, and cannot be restored
SETTLED_AFTER_NS = 2 * 10**9
"""A file written more recently than this may change again with the same timestamps."""
UNUSED_SECONDS = 24 * 3600.0
"""Contents that no workspace file has had for so long are dropped from the cache."""
FOREVER = 1e12
"""When a content was used that only this cache has."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    path BLOB PRIMARY KEY, mark TEXT NOT NULL, digest TEXT NOT NULL, mode INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS contents (
    digest TEXT PRIMARY KEY, data BLOB NOT NULL, size INTEGER NOT NULL, used REAL NOT NULL);
CREATE TABLE IF NOT EXISTS running (call TEXT NOT NULL);
"""


class WorkspaceFile(Struct, frozen=True, gc=False):
    """A file: its SHA-256 (empty if it is too large to be read), its permission bits, and a mark that changes with
    it."""

    mark: str
    digest: str
    mode: int


Snapshot = Mapping[bytes, WorkspaceFile]
"""Files by path, relative to the root."""


class Snapshots:
    """Takes snapshots of one workspace. Not thread-safe: used by one thread at a time."""

    def __init__(self, root: Path, place: Path) -> None:
        self.root = root
        self._place = place
        ours = home().resolve()
        self._ours = os.fsencode(ours.relative_to(root)) + b"/" if ours.is_relative_to(root) else None
        """Outlive's own folder, if it is in the workspace."""
        self._known: dict[bytes, WorkspaceFile] = {}
        self._kept: set[str] = set()
        self._size = 0
        self._open = False

    def take(self, before: str = "") -> Snapshot | None:
        """The files as they are now, their contents in the cache; None if there are too many.

        `before` names the call that runs next, so that `left_by` finds this snapshot if the process dies.
        """
        listing = files_below(self.root, most=MAX_FILES)
        if listing.cut_short:
            return None
        with self._database() as database:
            found = {}
            for path in listing.files:
                name = os.fsencode(path.relative_to(self.root))
                if self._ours is not None and name.startswith(self._ours):
                    continue
                if path.name != DOTENV and (state := self._state(database, path, name)):
                    found[name] = state
            self._save(database, found)
            database.execute("DELETE FROM running")
            database.execute("INSERT INTO running VALUES (?)", (before,))
        self._known = found
        return found

    def content(self, digest: str) -> bytes | None:
        """A cached content; None if the cache does not have it."""
        with self._database() as database:
            row = database.execute("SELECT data FROM contents WHERE digest = ?", (digest,)).fetchone()
        if row is None:
            return None
        with suppress(zlib.error):
            data = zlib.decompress(row[0])
            if hashlib.sha256(data).hexdigest() == digest:
                return data
        return None

    def keep(self, data: bytes) -> bool:
        """Keep a content in the cache, for as long as the session may want it back; False if there is no room."""
        digest = hashlib.sha256(data).hexdigest()
        with self._database() as database:
            self._keep(database, digest, data)
            database.execute("UPDATE contents SET used = ? WHERE digest = ?", (FOREVER, digest))
        return digest in self._kept

    def left_by(self, call: str) -> Snapshot | None:
        """The snapshot before a call whose process died; None if another one was taken since."""
        with self._database() as database:
            running = database.execute("SELECT call FROM running").fetchone()
            return dict(self._known) if running == (call,) else None

    def _state(self, database: sqlite3.Connection, path: Path, name: bytes) -> WorkspaceFile | None:
        """The state of a file, read only if its mark is new; None if it is no regular file, or gone."""
        try:
            found = os.lstat(path)
            if not stat.S_ISREG(found.st_mode):
                return None
            settled = time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) > SETTLED_AFTER_NS
            mark = f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"
            known = self._known.get(name)
            if known is not None and known.mark == mark:
                return known
            digest = ""
            if found.st_size <= MAX_FILE_BYTES:
                data = read_regular(path, MAX_FILE_BYTES)
                digest = hashlib.sha256(data).hexdigest()
                self._keep(database, digest, data)
            return WorkspaceFile(mark if settled or not digest else "", digest, stat.S_IMODE(found.st_mode))
        except OSError:
            return None

    def _keep(self, database: sqlite3.Connection, digest: str, data: bytes) -> None:
        if digest in self._kept or self._size + len(data) > MAX_CACHE_BYTES:
            return
        row = (digest, zlib.compress(data, 1), len(data), time.time())
        database.execute("INSERT OR IGNORE INTO contents VALUES (?, ?, ?, ?)", row)
        self._kept.add(digest)
        self._size += len(data)

    def _save(self, database: sqlite3.Connection, found: dict[bytes, WorkspaceFile]) -> None:
        gone = [(name,) for name in self._known.keys() - found.keys()]
        new = [(name, s.mark, s.digest, s.mode) for name, s in found.items() if s != self._known.get(name)]
        database.executemany("DELETE FROM files WHERE path = ?", gone)
        database.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", new)

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """A transaction. A cache that is damaged is begun again."""
        try:
            connection = self._opened()
        except sqlite3.DatabaseError:
            self._place.unlink(missing_ok=True)
            connection = self._opened()
        with closing(connection), connection:
            yield connection

    def _opened(self) -> sqlite3.Connection:
        make_private(self._place.parent)
        refuse_irregular(self._place)
        connection = sqlite3.connect(self._place, timeout=30)
        try:
            if not self._open:
                self._place.chmod(0o600)
                connection.executescript(f"PRAGMA journal_mode = WAL; {_SCHEMA}")
                self._load(connection)
                self._open = True
            connection.execute("PRAGMA synchronous = OFF")
        except BaseException:
            connection.close()
            raise
        return connection

    def _load(self, connection: sqlite3.Connection) -> None:
        rows = connection.execute("SELECT path, mark, digest, mode FROM files")
        self._known = {name: WorkspaceFile(mark, digest, mode) for name, mark, digest, mode in rows}
        with connection:
            connection.execute(
                "UPDATE contents SET used = ? WHERE digest IN (SELECT digest FROM files)", (time.time(),)
            )
            connection.execute("DELETE FROM contents WHERE used < ?", (time.time() - UNUSED_SECONDS,))
        kept = connection.execute("SELECT digest, size FROM contents").fetchall()
        self._kept, self._size = {digest for digest, _ in kept}, sum(size for _, size in kept)
