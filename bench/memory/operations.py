"""How long whole operations on a book of many memories take, on each store, in a warm process: from the call to what
is on disk, with the lock, the checks, the change log and the index."""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.memory.speed import Words, memories
from outlive.memory.book import Memories
from outlive.memory.search import entry_of, searcher
from outlive.stores.memory_protocol import MemoryWriter
from outlive.stores.memory_records import Memory

TIMES = 41
COLUMNS = ("first add", "add", "supersede", "mark 5 as used", "forget", "search")


class Synced:
    """Time that was spent waiting for the disk, in this process."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def watched(self) -> Iterator["Synced"]:
        real = os.fsync

        def timed(descriptor: int) -> None:
            began = time.perf_counter()
            real(descriptor)
            self.seconds += time.perf_counter() - began

        os.fsync = timed
        try:
            yield self
        finally:
            os.fsync = real


def fill(book: Memories, size: int) -> None:
    """Made-up memories, one step of the log for all of them."""
    early = datetime(2026, 1, 1, tzinfo=UTC)

    def work(tx: MemoryWriter) -> None:
        for number, entry in enumerate(memories(size)):
            moment = early + timedelta(seconds=number)
            kind = "feedback" if number % 50 == 0 else "project"
            tx.put(
                Memory(
                    slug=entry.key.lower(),
                    name=entry.key,
                    description=entry.description,
                    body=entry.body,
                    date=entry.date,
                    type=kind,
                    created=moment,
                    updated=moment,
                )
            )
        tx.record("import")

    book.write("project", work)


def measure(engines: dict[str, str], size: int, folder: Path) -> None:
    print(f"\n### {size:,} memories, whole operations: milliseconds, median / 95th percentile\n")
    print("| | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS))
    for name, url in engines.items():
        for durability in ("full", "process"):
            home = folder / f"{name}-{durability}"
            home.mkdir()
            place = url.format(folder=home)
            shown = name if durability == "full" else f"{name}, not synced"
            print(f"| {shown} | " + " | ".join(cells(place, durability, size, home)) + " |", flush=True)


def cells(url: str, durability: str, size: int, home: Path) -> list[str]:
    book = Memories.open(url, home=home / "home", durability=durability)
    fill(book, size)
    book.close()
    words = Words(11)
    book = Memories.open(url, home=home / "home", durability=durability)
    made: list[str] = []

    def add() -> None:
        made.append(book.add(words(4), words(30), description=words(8)).slug)

    synced = Synced()
    with synced.watched():
        first = timed(add, synced, 1)
        adds = timed(add, synced)
        supersedes = timed(lambda: book.supersede(made.pop(), words(30)), synced)
        everything = book.all()
        retriever = searcher(book, among=everything, dense=False)
        marks = timed(lambda: book.touch(everything[:5]), synced)
        forgets = timed(lambda: book.forget(made.pop()) if made else None, synced, 20)

        def look() -> None:
            now = book.all()
            retriever.update([entry_of(memory) for memory in now])
            book.pick([hit.key for hit in retriever.select(f"which does the user prefer: {words(6)}?")], now)

        looks = timed(look, synced)
    book.close()
    return [first, adds, supersedes, marks, forgets, looks]


def timed(action: Callable[[], object], synced: Synced, times: int = TIMES) -> str:
    taken, waited = [], []
    for _ in range(times):
        before, began = synced.seconds, time.perf_counter()
        action()
        taken.append(1000 * (time.perf_counter() - began))
        waited.append(1000 * (synced.seconds - before))
    if times == 1:
        return f"{taken[0]:.1f}"
    last = statistics.quantiles(taken, n=20, method="inclusive")[-1]
    sync = statistics.median(waited)
    return f"{statistics.median(taken):.1f} / {last:.1f}" + (f" ({sync:.1f} of it fsync)" if sync > 0.05 else "")
