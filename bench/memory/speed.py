"""How long a query, an addition and a fresh process take over many memories made up of words as rare as real ones."""

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from outlive.memory.retrieval import Entry, Retriever
from outlive.memory.retrieval.document import passage
from outlive.memory.retrieval.entry import digest
from outlive.memory.retrieval.retriever import VECTORS

_COLD = """
import sys
from pathlib import Path
from outlive.memory.retrieval import Retriever
print(len(Retriever(dense=sys.argv[2] == "True", cache=Path(sys.argv[1])).search(sys.argv[3], 5)))
"""
_SYLLABLES = "ba co di fu ga he ji ko lu ma ne pi qua ro sa te vu wo xi za tra ble sto cre plu".split()
_LONG = 120


def words(source: random.Random, count: int) -> list[str]:
    """Words by Zipf's law out of 20,000: the commonest are in most entries, most are in a few."""
    ranks = (min(19_999, int(source.paretovariate(0.7)) - 1) for _ in range(count))
    return [_word(rank) for rank in ranks]


def _word(rank: int) -> str:
    made = ""
    rank += 25
    while rank:
        rank, rest = divmod(rank, len(_SYLLABLES))
        made += _SYLLABLES[rest]
    return made


def memories(size: int, prefix: str = "", seed: int = 5) -> Iterator[Entry]:
    source = random.Random(seed)
    for number in range(size):
        name = "-".join(words(source, 3))
        date = f"2024-{1 + number % 12:02}-{1 + number % 28:02}"
        described, body = " ".join(words(source, 10)), " ".join(words(source, 40))
        yield Entry(f"{prefix}{name}-{number}", name, f"User prefers {described}", body, date)


def measure(ways: dict[str, bool], size: int, folder: Path) -> None:
    print(f"\n### Speed over {size:,} memories, median, in milliseconds\n")
    columns = (
        "select",
        f"select, {_LONG} words",
        "add one",
        "embed one",
        "update, one changed",
        "cold process",
        "build",
    )
    print("| | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for name, dense in ways.items():
        cache = folder / f"speed-{dense}"
        source = random.Random(7)
        entries = list(memories(size))
        embedding = _embedded(entries, cache) if dense else 0.0
        retriever = Retriever(dense=dense, cache=cache)
        began = time.perf_counter()
        retriever.update(entries)
        built = time.perf_counter() - began
        fresh = memories(40, "new", 9)
        cells = [
            _median(lambda: retriever.select("which of these does the user prefer: " + " ".join(words(source, 6)))),
            _median(lambda: retriever.select(" ".join(words(source, _LONG)))),
            _median(lambda: retriever.add(next(fresh))),
            embedding,
            _median(lambda: retriever.update([*entries[1:], next(fresh)]), 5),
            _median(lambda: _cold(cache, dense, "User prefers " + " ".join(words(source, 6))), 7),
        ]
        print(f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + f" | {1000 * built:.0f} |", flush=True)


def _embedded(entries: list[Entry], cache: Path) -> float:
    """Put made-up vectors into the cache for all these entries: ten thousand real ones take minutes. What one takes."""
    import numpy as np

    from outlive.memory.retrieval.dense.model import SIZE, Model
    from outlive.memory.retrieval.dense.vectorfile import VectorFile

    rows = np.random.default_rng(3).integers(-127, 128, (len(entries), SIZE)).astype(np.int8)
    passages = [passage(entry) for entry in entries]
    VectorFile(cache / VECTORS).append({digest(text): row for text, row in zip(passages, rows, strict=True)})
    model, texts = Model(), iter(passages)
    return _median(lambda: model.passage(next(texts)))


def _cold(cache: Path, dense: bool, query: str) -> None:
    subprocess.run([sys.executable, "-c", _COLD, str(cache), str(dense), query], check=True, capture_output=True)


def _median(action: Callable[[], object], times: int = 21) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return 1000 * statistics.median(taken)
