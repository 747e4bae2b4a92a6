"""Memories in a SQL database: a memory is a row, a step of the log is a row. A team on a server shares them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, TypeVar

from outlive.errors import DamagedRecord, StoreError
from outlive.stores.memory_names import free_slug
from outlive.stores.memory_protocol import MemoryReader, MemoryWriter
from outlive.stores.memory_records import (
    Memory,
    MemoryChange,
    Step,
    decode_memory,
    decode_step,
    encode_memory,
    encode_step,
    in_utc,
    mended,
)
from outlive.stores.memory_text import render
from outlive.stores.protocol import Problem
from outlive.stores.sql.database import Connection, Database
from outlive.stores.sql.log import is_alive, new_writer
from outlive.stores.sql.migrations import bring_up_to_date

T = TypeVar("T")

_PUT = """INSERT INTO outlive_memories (slug, archived, form) VALUES (:slug, :archived, :form)
    ON CONFLICT (slug) DO UPDATE SET archived = excluded.archived, form = excluded.form"""
_TAKE = "UPDATE outlive_memory_locks SET holder = :holder, heard = :now WHERE purpose = :purpose"
_APART = 2
"""In the column `archived`: set apart."""


class SQLMemoryStore:
    def __init__(self, database: Database, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.database = database
        self.clock = clock
        self._current = False
        self._damaged: dict[str, str] = {}
        self.lost_steps: dict[int, str] = {}
        """Entries of the log that cannot be read, so that they cannot be undone; the rest can."""

    @property
    def url(self) -> str:
        return self.database.url

    def read(self, work: Callable[[MemoryReader], T]) -> T:
        database = self.database if self._current else self.database.blank() or self.database
        if database is not self.database:  # there is nothing yet, and a look makes nothing
            bring_up_to_date(database)
            try:
                return database.read(lambda connection: work(_Look(self, connection)))
            finally:
                database.close()
        self._prepare()
        return self.database.read(lambda connection: work(_Look(self, connection)))

    def write(self, work: Callable[[MemoryWriter], T]) -> T:
        self._prepare()
        done: list[tuple[int, bytes]] = []

        def alone(connection: Connection) -> T:
            rows = connection.rows("SELECT step FROM outlive_memory_locks WHERE purpose = 'write' FOR UPDATE")
            transaction = _Transaction(self, connection, self.clock(), int(rows[0][0]))
            result = work(transaction)
            transaction.commit()
            done[:] = transaction.recorded
            return result

        def landed(connection: Connection) -> bool:
            return bool(done) and _form(connection, done[-1][0]) == done[-1][1]

        return self.database.write(alone, landed=landed)

    def publish(self, render: Callable[[list[Memory]], str]) -> bool:
        """There is no place for it: whoever wants the index asks for it."""
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
            if rows[0][0] and is_alive(*rows[0]):
                return False
            connection.run(_TAKE, purpose=purpose, holder=me, now=time.time())
            return True

        mine = self.database.write(take, landed=lambda connection: _holder(connection, purpose) == me)
        try:
            yield mine
        finally:
            if mine:
                with suppress(StoreError):  # the name makes way anyway once its process is gone
                    self.database.write(
                        lambda connection: connection.run(_TAKE, purpose=purpose, holder="", now=time.time()),
                        landed=lambda _: False,
                    )

    def left_out(self) -> list[Problem]:
        remedy = "outlive memory doctor --repair sets it apart"
        return [Problem(slug, what, remedy, repairable=True) for slug, what in sorted(self._damaged.items())]

    def check(self) -> list[Problem]:
        self.read(lambda tx: (tx.all(archived=True), tx.steps()))
        found = [Problem(self.url, text, "restore a backup") for text in self.database.integrity()]
        for number, what in sorted(self.lost_steps.items()):
            found.append(Problem(f"step {number}", what, "the row stays, the rest is used", harmless=True))
        return found + self.left_out()

    def repair(self) -> list[str]:
        self.read(lambda tx: tx.all(archived=True))
        return [f"set row {slug!r} apart" for slug in sorted(self._damaged) if self.set_apart(slug)]

    def set_apart(self, slug: str) -> str:
        self._prepare()
        self.database.write(
            lambda c: c.run(
                "UPDATE outlive_memories SET archived = :apart WHERE slug = :slug", apart=_APART, slug=slug
            ),
            landed=lambda _: False,
        )
        self._damaged.pop(slug, None)
        return f"row {slug!r} of outlive_memories, archived = {_APART}"

    def close(self) -> None:
        self.database.close()

    def decoded(self, slug: str, archived: int, form: Any) -> Memory | None:
        """For readers: what cannot be read is remembered, and left out."""
        try:
            memory = decode_memory(bytes(form), where=f"{self.url}, row {slug!r} of outlive_memories")
        except StoreError as error:
            self._damaged[slug] = str(error)
            return None
        self._damaged.pop(slug, None)
        return memory

    def _prepare(self) -> None:
        if not self._current:
            bring_up_to_date(self.database)
            self._current = True


class _Look:
    def __init__(self, store: SQLMemoryStore, connection: Connection) -> None:
        self._store = store
        self._connection = connection

    def get(self, slug: str) -> Memory | None:
        rows = self._connection.rows(
            "SELECT slug, archived, form FROM outlive_memories WHERE slug = :slug AND archived < :apart",
            slug=slug,
            apart=_APART,
        )
        return self._store.decoded(*rows[0]) if rows else None

    def all(self, *, archived: bool = False) -> list[Memory]:
        rows = self._connection.rows(
            "SELECT slug, archived, form FROM outlive_memories WHERE archived <= :archived", archived=int(archived)
        )
        found = (self._store.decoded(*row) for row in rows)
        return sorted((memory for memory in found if memory), key=lambda memory: memory.slug)

    def steps(self) -> list[Step]:
        rows = self._connection.rows("SELECT id, form FROM outlive_memory_steps ORDER BY id")
        found = []
        for number, form in rows:
            try:
                found.append(decode_step(bytes(form), where=f"{self._store.url}, step {number}"))
            except DamagedRecord as error:
                self._store.lost_steps[number] = str(error)
        return found


class _Transaction(_Look):
    """Writes at once, within the transaction of the database; remembers what was there for the log."""

    def __init__(self, store: SQLMemoryStore, connection: Connection, now: datetime, last: int) -> None:
        super().__init__(store, connection)
        self.now = now
        self.last = last
        self._first = last
        self._before: dict[str, Memory | None] = {}
        self._after: dict[str, Memory | None] = {}
        self.recorded: list[tuple[int, bytes]] = []

    def new_slug(self, name: str) -> str:
        def taken(slug: str) -> bool:
            return bool(self._connection.rows("SELECT 1 FROM outlive_memories WHERE lower(slug) = :slug", slug=slug))

        return free_slug(name, taken)

    def put(self, memory: Memory) -> None:
        memory = in_utc(mended(memory))
        render(memory)  # refuses what is too large, here as in files
        self._remember(memory.slug, memory)
        archived = int(memory.archived is not None)
        self._connection.run(_PUT, slug=memory.slug, archived=archived, form=encode_memory(memory))

    def remove(self, slug: str) -> None:
        self._remember(slug, None)
        self._connection.run("DELETE FROM outlive_memories WHERE slug = :slug", slug=slug)

    def record(self, op: str, *, actor: str = "", note: str = "", undoes: int = 0, **data: Any) -> Step:
        changes = tuple(
            MemoryChange(slug=slug, before=before, after=self._after[slug])
            for slug, before in self._before.items()
            if before != self._after[slug]
        )
        self._before = {}
        self.last += 1
        step = Step(
            id=self.last, at=self.now, op=op, actor=actor, note=note, changes=changes, undoes=undoes, data=data
        )
        form = encode_step(step)
        self._connection.run("INSERT INTO outlive_memory_steps (id, form) VALUES (:id, :form)", id=step.id, form=form)
        self.recorded.append((step.id, form))
        return step

    def _remember(self, slug: str, after: Memory | None) -> None:
        if slug not in self._before:
            self._before[slug] = self.get(slug)
        self._after[slug] = after

    def commit(self) -> None:
        if self.last != self._first:
            self._connection.run(
                "UPDATE outlive_memory_locks SET step = :step WHERE purpose = 'write'", step=self.last
            )


def _form(connection: Connection, step: int) -> bytes:
    rows = connection.rows("SELECT form FROM outlive_memory_steps WHERE id = :id", id=step)
    return bytes(rows[0][0]) if rows else b""


def _holder(connection: Connection, purpose: str) -> str:
    rows = connection.rows("SELECT holder FROM outlive_memory_locks WHERE purpose = :purpose", purpose=purpose)
    return str(rows[0][0]) if rows else ""
