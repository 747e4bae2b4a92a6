"""How long whole operations on a book of many memories take on each store, in a warm process: from the call until it
is acknowledged, with the lock, the checks, the change log and MEMORY.md."""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.memory.speed import Words, embedded, memories
from outlive.memory.book import Memories
from outlive.memory.retrieval import Entry
from outlive.memory.search import Finder, cache_of, entry_of
from outlive.stores.memory_protocol import MemoryWriter
from outlive.stores.memory_records import Kind, Memory

TIMES = 41
COLUMNS = ("first add", "add", "supersede", "mark 5 as used", "forget", "search", "search after an add")


class Synced:
    """How long this process has waited for the disk."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        real = os.fsync

        def fsync(descriptor: int) -> None:
            began = time.perf_counter()
            real(descriptor)
            self.seconds += time.perf_counter() - began

        os.fsync = fsync  # type: ignore[assignment]
        try:
            yield
        finally:
            os.fsync = real


def measure(engines: dict[str, str], ways: dict[str, bool], size: int, folder: Path) -> None:
    """`engines` are URLs, in which {folder} and {schema} stand for a place of their own."""
    print(f"\n### Whole operations over {size:,} memories: milliseconds, median / 95th percentile\n")
    print("| | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS))
    number = 0
    for engine, url in engines.items():
        for durability, said in (("full", ""), ("process", ", not synced")):
            if said and engine == "PostgreSQL":
                continue  # the server decides
            for dense in ways.values():
                number += 1
                home = folder / f"operations-{number}"
                home.mkdir()
                book = Memories.open(url.format(folder=home), home=home / "home", durability=durability)
                fill(book, size, dense=dense)
                book.close()
                book = Memories.open(url.format(folder=home), home=home / "home", durability=durability)
                name = f"{engine}{said}{', with dense' if dense else ''}"
                print(f"| {name} | " + " | ".join(cells(book, dense=dense)) + " |", flush=True)
                book.close()


def fill(book: Memories, size: int, *, dense: bool) -> None:
    """Made-up memories, one step of the log for all of them; with `dense` made-up vectors for them too."""
    early = datetime(2026, 1, 1, tzinfo=UTC)

    def kept(number: int, entry: Entry) -> Memory:
        moment = early + timedelta(seconds=number)
        kind: Kind = "feedback" if number % 50 == 0 else "project"
        return Memory(
            slug=entry.key.lower(),
            name=entry.key,
            description=entry.description,
            body=entry.body,
            date=entry.date,
            type=kind,
            created=moment,
            updated=moment,
        )

    def work(tx: MemoryWriter) -> None:
        for number, entry in enumerate(memories(size)):
            tx.put(kept(number, entry))
        tx.record("import")

    (book.home or Path()).mkdir(exist_ok=True)
    book.write("project", work)
    cache = cache_of(book)
    if dense and cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
        embedded([entry_of(memory) for memory in book.all()], cache)


def cells(book: Memories, *, dense: bool) -> list[str]:
    words, synced = Words(11), Synced()
    made: list[str] = []

    def add() -> None:
        made.append(book.add(f"{words(3)} {len(made)}", words(30), description=words(8)).slug)

    def search() -> None:
        finder.look().select(f"which of these does the user prefer: {words(6)}?", 5)

    with synced.watched():
        first = timed(add, synced, times=1)
        adds = timed(add, synced)
        there = iter([memory.slug for memory in book.all()])
        supersedes = timed(lambda: book.supersede(next(there), words(30), name=f"not {next(there)}"), synced)
        used = book.all()[::1000][:5]
        marks = timed(lambda: book.touch(used), synced)
        finder = Finder(book, dense=dense).look()
        time.sleep(0.2)  # files that were just written are read again until then
        search()
        searches = timed(search, synced)
        after = timed(search, synced, before=add)
        forgets = timed(lambda: book.forget(made.pop()), synced)
    return [first, adds, supersedes, marks, forgets, searches, after]


def timed(
    action: Callable[[], object], synced: Synced, *, times: int = TIMES, before: Callable[[], object] | None = None
) -> str:
    taken, waited = [], []
    for _ in range(times):
        if before is not None:
            before()
        so_far, began = synced.seconds, time.perf_counter()
        action()
        taken.append(1000 * (time.perf_counter() - began))
        waited.append(1000 * (synced.seconds - so_far))
    if times == 1:
        return f"{taken[0]:.1f}"
    sync = statistics.median(waited)
    last = statistics.quantiles(taken, n=20, method="inclusive")[-1]
    return f"{statistics.median(taken):.1f} / {last:.1f}" + (f" (fsync {sync:.1f})" if sync > 0.05 else "")
