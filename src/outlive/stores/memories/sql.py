"""Memories in a SQL database: one row per memory, one row per step. A team shares them on a server."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from outlive.errors import DamagedRecord, StoreError
from outlive.stores.clock import machine_time
from outlive.stores.logs.leases import is_alive, new_writer
from outlive.stores.memories.protocol import MemoryReader, MemoryWriter, unread
from outlive.stores.memories.records import (
    Memory,
    MemoryStep,
    decode_memory,
    decode_step,
    encode_memory,
    encode_step,
    unmarked,
)
from outlive.stores.memories.table import MemoryTable, ReadView, WriteView
from outlive.stores.memories.trust import MemoryTrust
from outlive.stores.sql.database import Connection, Database
from outlive.stores.sql.migrations import bring_up_to_date
from outlive.stores.tasks.protocol import Problem

T = TypeVar("T")

_PUT = """INSERT INTO outlive_memories (slug, archived, form, changed) VALUES (:slug, :archived, :form, :changed)
    ON CONFLICT (slug) DO UPDATE SET archived = excluded.archived, form = excluded.form, changed = excluded.changed"""
_TAKE = "UPDATE outlive_memory_locks SET holder = :holder, heard = :now WHERE purpose = :purpose"
_QUARANTINED = 2
"""Value of the column `archived` for a quarantined row."""
_NEVER = -1  # below any revision: all rows are read


class SQLMemoryStore:
    """`home` decides which memories of a database file are the user's, because the file may have come with a
    clone."""

    def __init__(
        self, database: Database, *, home: Path | None = None, clock: Callable[[], datetime] | None = None
    ) -> None:
        self.database = database
        self.clock = clock or machine_time
        self._mutex = threading.RLock()
        self._mirror = _Mirror(self.url, MemoryTrust(home, self.url))
        self.lost_steps: dict[int, str] = {}
        """Steps that cannot be read and therefore not undone; the others can."""

    @property
    def url(self) -> str:
        return self.database.url

    def read(self, work: Callable[[MemoryReader], T], *, glance: bool = False) -> T:
        """`glance` makes no difference: the database knows what changed."""
        if not self.database.current and (blank := self.database.blank()):  # a look makes nothing
            blank.close()
            return work(ReadView(MemoryTable(), list))
        self._prepare()

        def look(connection: Connection) -> T:
            self._mirror.follow(connection)
            return work(ReadView(self._mirror.table, lambda: self._steps(connection)))

        with self._mutex:
            return self.database.read(look)

    def write(self, work: Callable[[MemoryWriter], T]) -> T:
        self._prepare()
        done: list[tuple[int, bytes]] = []

        def alone(connection: Connection) -> T:
            step = connection.first("SELECT step FROM outlive_memory_locks WHERE purpose = 'write' FOR UPDATE")
            self._mirror.follow(connection)
            draft = WriteView(
                self._mirror.table,
                lambda: self._steps(connection),
                now=self.clock(),
                last=lambda: int(step),
                taken=self._mirror.lowered.__contains__,
            )
            result = work(draft)
            self._mirror.trust_written(connection, filter(None, draft.after.values()))
            done[:] = _commit(connection, draft)
            return result

        def landed(connection: Connection) -> bool:
            number, written = done[-1] if done else (0, None)
            form = connection.first("SELECT form FROM outlive_memory_steps WHERE id = :id", id=number)
            return form is not None and bytes(form) == written

        with self._mutex:
            return self.database.write(alone, landed=landed)

    def publish(self, render: Callable[[MemoryReader], str], *, glance: bool = False) -> bool:
        """Does nothing: a database has no place for the index."""
        return False

    @contextmanager
    def exclusive(self, purpose: str) -> Iterator[bool]:
        self._prepare()
        me = new_writer()

        def take(connection: Connection) -> bool:
            connection.run(
                "INSERT INTO outlive_memory_locks (purpose, step, holder, heard) VALUES (:purpose, 0, '', 0) "
                "ON CONFLICT (purpose) DO NOTHING",
                purpose=purpose,
            )
            rows = connection.rows(
                "SELECT holder, heard FROM outlive_memory_locks WHERE purpose = :purpose FOR UPDATE", purpose=purpose
            )
            now = self.database.now(connection).timestamp()
            if rows[0][0] and is_alive(rows[0][0], rows[0][1], now):
                return False
            connection.run(_TAKE, purpose=purpose, holder=me, now=now)
            return True

        holder = "SELECT holder FROM outlive_memory_locks WHERE purpose = :purpose"
        mine = self.database.write(take, landed=lambda c: c.first(holder, purpose=purpose) == me)
        try:
            yield mine
        finally:
            if mine:
                with suppress(StoreError):  # the name makes way anyway once its process is gone
                    self.database.write(lambda c: c.run(_TAKE, purpose=purpose, holder="", now=0))

    def left_out(self) -> list[Problem]:
        return [unread(slug, error) for slug, error in sorted(self._mirror.damaged.items())]

    def check(self) -> list[Problem]:
        self.read(lambda tx: tx.steps())
        found = [Problem(self.url, text, "restore a backup") for text in self.database.integrity()]
        for number, what in sorted(self.lost_steps.items()):
            found.append(Problem(f"step {number}", what, "the row stays, the rest is used", harmless=True))
        return found + self.left_out()

    def repair(self) -> list[str]:
        self.read(lambda _: None)
        bad = [problem.where for problem in self.left_out() if problem.repairable]
        return [f"set row {slug!r} apart" for slug in bad if self.set_apart(slug)]

    def set_apart(self, slug: str) -> str:
        self._prepare()
        statement = "UPDATE outlive_memories SET archived = :apart WHERE slug = :slug"
        self.database.write(lambda c: c.run(statement, apart=_QUARANTINED, slug=slug))
        self.read(lambda _: None)
        return f"row {slug!r} of outlive_memories, archived = {_QUARANTINED}"

    def adopt(self) -> None:
        self._prepare()
        with self._mutex:
            self.database.write(self._mirror.adopt)

    def disown(self) -> bool:
        self.read(lambda _: None)
        return self._mirror.trust.disown()

    def close(self) -> None:
        self.database.close()

    def _steps(self, connection: Connection) -> list[MemoryStep]:
        rows = connection.rows("SELECT id, form FROM outlive_memory_steps ORDER BY id")
        found = []
        for number, form in rows:
            try:
                found.append(decode_step(bytes(form), where=f"{self.url}, step {number}"))
            except DamagedRecord as error:
                self.lost_steps[number] = str(error)
        return found

    def _prepare(self) -> None:
        if bring_up_to_date(self.database):
            self._mirror.made_here = True


class _Mirror:
    """The rows at the last read, updated by those that changed since."""

    def __init__(self, url: str, trust: MemoryTrust) -> None:
        self._url = url
        self.trust = trust
        self.made_here = False
        """Whether there were no tables before. An empty table may have a trigger that fills it."""
        self.table = MemoryTable()
        self.damaged: dict[str, StoreError] = {}
        self._rows: set[str] = set()
        """All slugs, including those of damaged and quarantined rows."""
        self.lowered: set[str] = set()
        """The same in lower case: some file systems ignore case."""
        self._at = _NEVER

    def follow(self, connection: Connection) -> None:
        """Update the mirror. One at a time: an older snapshot must not overwrite a newer one."""
        now = connection.first("SELECT last FROM outlive_memory_clock")
        news = self.trust.asked and self.trust.follow(_tokens(connection))
        if now == self._at and not news:
            return
        since = self._at if now >= self._at and not news else _NEVER  # else it was restored from a backup
        rows = connection.rows(
            "SELECT slug, archived, form FROM outlive_memories WHERE changed > :since", since=since
        )
        for slug, archived, form in sorted(rows):
            self._take(slug, archived, bytes(form))
        if connection.first("SELECT count(*) FROM outlive_memories") != len(self._rows):
            slugs = {slug for (slug,) in connection.rows("SELECT slug FROM outlive_memories")}
            for slug in self._rows - slugs:
                self._drop(slug)
            self.lowered = {slug.lower() for slug in slugs}
        self._at = now

    def _take(self, slug: str, archived: int, form: bytes) -> None:
        self._rows.add(slug)
        self.lowered.add(slug.lower())
        self.damaged.pop(slug, None)
        if archived >= _QUARANTINED:
            self.table.put(slug, None)
            return
        try:
            memory = decode_memory(form, where=f"{self._url}, row {slug!r} of outlive_memories")
        except StoreError as error:
            self.damaged[slug] = error
            self.table.put(slug, None)
            return
        if bool(archived) != (memory.archived is not None):  # the column decides
            memory = replace(memory, archived=memory.updated if archived else None)
        self.table.put(slug, self.trust.seen(memory))

    def trust_written(self, connection: Connection, memories: Iterable[Memory]) -> None:
        """Record that the memories about to be written are the user's."""
        self.trust.wrote(memories, first=self.made_here and not self._rows, keep=partial(_keep_token, connection))

    def adopt(self, connection: Connection) -> None:
        """Record that everything in the store is the user's."""
        self.follow(connection)
        self.trust.adopt(partial(_keep_token, connection))
        self._at = _NEVER

    def _drop(self, slug: str) -> None:
        self._rows.discard(slug)
        self.damaged.pop(slug, None)
        self.table.put(slug, None)


def _commit(connection: Connection, draft: WriteView) -> list[tuple[int, bytes]]:
    """Write the draft within the transaction; returns its steps as written."""
    if draft.after:
        connection.run("UPDATE outlive_memory_clock SET last = last + 1")
        now = connection.first("SELECT last FROM outlive_memory_clock")
        puts = []
        for slug, memory in draft.after.items():
            if memory is None:
                connection.run("DELETE FROM outlive_memories WHERE slug = :slug", slug=slug)
            else:
                archived, form = int(bool(memory.archived)), encode_memory(unmarked(memory))
                puts.append({"slug": slug, "archived": archived, "form": form, "changed": now})
        connection.run_many(_PUT, puts)
    forms = [(step.id, encode_step(step)) for step in draft.recorded]
    for number, form in forms:
        connection.run("INSERT INTO outlive_memory_steps (id, form) VALUES (:id, :form)", id=number, form=form)
    if forms:
        connection.run("UPDATE outlive_memory_locks SET step = :step WHERE purpose = 'write'", step=forms[-1][0])
    return forms


def _tokens(connection: Connection) -> str:
    return "\n".join(token for (token,) in connection.rows("SELECT token FROM outlive_memory_token"))


def _keep_token(connection: Connection, token: str) -> None:
    connection.run("INSERT INTO outlive_memory_token (token) VALUES (:token)", token=token)
