"""How long a query, an addition and a fresh process take over many memories made up of words as rare as real ones."""

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

from outlive.memory.retrieval import Entry, Retriever
from outlive.memory.retrieval.document import passage
from outlive.memory.retrieval.entry import digest
from outlive.memory.retrieval.retriever import VECTORS
from outlive.memory.retrieval.stopwords import STOP

_COLD = """
import sys
from pathlib import Path
from outlive.memory.retrieval import Retriever
print(len(Retriever(dense=sys.argv[2] == "True", cache=Path(sys.argv[1])).search(sys.argv[3], 5)))
"""
_LONG = 120
COLUMNS = ("select", f"select, {_LONG} words", "add one", "update, one changed", "cold process", "build", "embed one")


class Words:
    """English words by Zipf's law: the commonest are in most entries, most are in a few."""

    def __init__(self, seed: int) -> None:
        pieces = files("outlive.memory.retrieval.dense").joinpath("vocab.txt").read_text("utf-8").split()
        self._known = [piece for piece in pieces if piece.isascii() and piece.isalpha() and piece not in STOP]
        self._source = random.Random(seed)

    def __call__(self, count: int) -> str:
        last = len(self._known) - 1
        ranks = (min(last, int(self._source.paretovariate(0.7)) - 1) for _ in range(count))
        return " ".join(self._known[rank] for rank in ranks)


def memories(size: int, prefix: str = "", seed: int = 5) -> Iterator[Entry]:
    words = Words(seed)
    for number in range(size):
        name = words(3).replace(" ", "-")
        date = f"2024-{1 + number % 12:02}-{1 + number % 28:02}"
        yield Entry(f"{prefix}{name}-{number}", name, f"User prefers {words(10)}", words(40), date)


def measure(ways: dict[str, bool], size: int, folder: Path) -> None:
    print(f"\n### {size:,} memories: milliseconds, median (in brackets: of processor time)\n")
    print("| | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS))
    for name, dense in ways.items():
        print(f"| {name} | " + " | ".join(_cells(dense, size, folder / f"speed-{dense}")) + " |", flush=True)


def _cells(dense: bool, size: int, cache: Path) -> list[str]:
    words, entries, fresh = Words(7), list(memories(size)), memories(60, "new ", 9)
    embedding = embedded(entries, cache) if dense else "–"
    retriever = Retriever(dense=dense, cache=cache)
    building = _median(lambda: retriever.update(entries), 1)
    retriever.select("which one")
    return [
        _median(lambda: retriever.select(f"which of these does the user prefer: {words(6)}?")),
        _median(lambda: retriever.select(words(_LONG))),
        _median(lambda: retriever.add(next(fresh))),
        _median(lambda: retriever.update([*entries[1:], next(fresh)]), 5),
        _median(lambda: _cold(cache, dense, f"User prefers {words(6)}"), 7, children=True),
        building,
        embedding,
    ]


def embedded(entries: list[Entry], cache: Path) -> str:
    """Put made-up vectors into the cache for all entries, as real ones would take minutes; say what one takes."""
    import numpy as np

    from outlive.memory.retrieval.dense.model import DIMENSIONS, EmbeddingModel
    from outlive.memory.retrieval.dense.vectorfile import VectorFile

    rows = np.random.default_rng(3).integers(-127, 128, (len(entries), DIMENSIONS)).astype(np.int8)
    passages = [passage(entry) for entry in entries]
    VectorFile(cache / VECTORS).append({digest(text): row for text, row in zip(passages, rows, strict=True)})
    model, texts = EmbeddingModel(), iter(passages)
    return _median(lambda: model.passage(next(texts)))


def _cold(cache: Path, dense: bool, query: str) -> None:
    subprocess.run([sys.executable, "-c", _COLD, str(cache), str(dense), query], check=True, capture_output=True)


def _median(action: Callable[[], object], times: int = 21, *, children: bool = False) -> str:
    taken, worked = [], []
    for _ in range(times):
        began, before = time.perf_counter(), _processor(children)
        action()
        taken.append(time.perf_counter() - began)
        worked.append(_processor(children) - before)
    return f"{1000 * statistics.median(taken):.1f} ({1000 * statistics.median(worked):.1f})"


def _processor(children: bool) -> float:
    used = os.times()
    return used.children_user + used.children_system if children else time.process_time()
