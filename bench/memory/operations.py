"""How long whole operations on many memories take on each store, in a warm process: from the call until it
is acknowledged, with the lock, the checks, the change log and MEMORY.md."""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.memory.speed import Words, embedded
from bench.memory.speed import memories as made_up
from bench.postgres import schema
from outlive.memory.memories import Memories
from outlive.memory.retrieval import Entry
from outlive.memory.search import Finder, cache_of, entry_of
from outlive.stores.memories.protocol import MemoryWriter
from outlive.stores.memories.records import Kind, Memory

TIMES = 41
COLUMNS = ("first add", "add", "supersede", "forget", "search", "search after an add")
DENSE = ("search, dense", "search after an add, dense")


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


def measure(server: str | None, size: int, folder: Path, *, dense: bool) -> None:
    columns = (*COLUMNS, *(DENSE if dense else ()))
    print(f"\n### Whole operations over {size:,} memories: milliseconds, median / 95th percentile (processor)\n")
    print("| | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    rows = [(engine, synced) for engine in ("files", "SQLite") for synced in (True, False)]
    rows += [("PostgreSQL", True)] if server else []  # there the server decides
    for engine, synced in rows:
        home = folder / f"operations-{engine}-{synced}"
        (home / "home").mkdir(parents=True)
        durability = "full" if synced else "process"
        with place(engine, home, server or "") as url:
            with closing(Memories.open(url, home=home / "home", durability=durability)) as memories:
                fill(memories, size, dense=dense)
            with closing(Memories.open(url, home=home / "home", durability=durability)) as memories:
                name = engine if synced else f"{engine}, not synced"
                print(f"| {name} | " + " | ".join(cells(memories, dense=dense)) + " |", flush=True)


@contextmanager
def place(engine: str, folder: Path, server: str) -> Iterator[str]:
    if engine == "PostgreSQL":
        with schema(server) as url:
            yield url
    else:
        yield f"files:{folder}/.tasks" if engine == "files" else f"sqlite:///{folder}/memories.db"


def fill(memories: Memories, size: int, *, dense: bool) -> None:
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
        for number, entry in enumerate(made_up(size)):
            tx.put(kept(number, entry))
        tx.record("import")

    memories.write("project", work)
    cache = cache_of(memories)
    if dense and cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
        embedded([entry_of(memory) for memory in memories.all()], cache)


def cells(memories: Memories, *, dense: bool) -> list[str]:
    words, synced = Words(11), Synced()
    made: list[str] = []

    def add() -> None:
        made.append(memories.add(f"{words(3)} {len(made)}", words(30), description=words(8)).slug)

    def search() -> None:
        finder.look().select(f"which of these does the user prefer: {words(6)}?", 5)

    with synced.watched():
        first = timed(add, synced, times=1)
        adds = timed(add, synced)
        there = iter([memory.slug for memory in memories.all()])
        supersedes = timed(lambda: memories.supersede(next(there), words(30), name=f"not {next(there)}"), synced)
        searches = []
        for with_model in (False, True) if dense else (False,):
            finder = Finder(memories, dense=with_model).look()
            search()
            searches += [timed(search, synced), timed(search, synced, before=add)]
        forgets = timed(lambda: memories.forget(made.pop()), synced)
    return [first, adds, supersedes, forgets, *searches]


def timed(
    action: Callable[[], object], synced: Synced, *, times: int = TIMES, before: Callable[[], object] | None = None
) -> str:
    taken, waited, worked = [], [], []
    for _ in range(times):
        if before is not None:
            before()
        so_far, began, used = synced.seconds, time.perf_counter(), time.process_time()
        action()
        taken.append(1000 * (time.perf_counter() - began))
        worked.append(1000 * (time.process_time() - used))
        waited.append(1000 * (synced.seconds - so_far))
    if times == 1:
        return f"{taken[0]:.0f} ({worked[0]:.0f})"
    sync = f", fsync {statistics.median(waited):.1f}" if statistics.median(waited) > 0.05 else ""
    last = statistics.quantiles(taken, n=20, method="inclusive")[-1]
    return f"{statistics.median(taken):.1f} / {last:.1f} ({statistics.median(worked):.1f}{sync})"
