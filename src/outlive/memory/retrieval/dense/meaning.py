"""Dense search: embeds new entries, caches vectors on disk, and compares all of them with a query."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from outlive.memory.retrieval.dense.model import DIMENSIONS, Vector, shared
from outlive.memory.retrieval.dense.vectorfile import VectorFile

Cosines = npt.NDArray[np.float64]
_BATCH_SIZE = 64
"""Vectors are written to disk in batches of this size, so that an interruption loses little."""


class Vectors:
    """Rows of whole numbers stored as floats: fast to multiply, and exact, because 127 * 127 * 384 is below 2 **
    24."""

    def __init__(self) -> None:
        self._rows = np.zeros((0, DIMENSIONS), dtype=np.float32)
        self._norms = np.ones(0)

    def put(self, slot: int, vector: Vector) -> None:
        self._reserve(slot + 1)
        self._rows[slot] = vector
        self._norms[slot : slot + 1] = _norms(self._rows[slot : slot + 1])

    def put_all(self, slots: list[int], vectors: npt.NDArray[np.int8]) -> None:
        """Set many rows at once, as read from a cache."""
        if slots:
            self._reserve(max(slots) + 1)
            self._rows[slots] = vectors
            self._norms[slots] = _norms(self._rows[slots])

    def clear(self, slot: int) -> None:
        if slot < len(self._rows):
            self._rows[slot] = 0

    def cosines(self, query: Vector, count: int) -> Cosines:
        """The cosine by slot; negative values count as 0."""
        self._reserve(count)
        row = query.astype(np.float32)
        # Not `@`: its threads go on spinning after the product and slow down what the model does next.
        sums = np.einsum("ij,j->i", self._rows[:count], row).astype(np.float64)
        found: Cosines = np.maximum(sums / (self._norms[:count] * _norms(row[np.newaxis])), 0.0)
        return found

    def _reserve(self, count: int) -> None:
        have = len(self._rows)
        if count > have:
            more = max(count, 2 * have, 64) - have
            self._rows = np.concatenate([self._rows, np.zeros((more, DIMENSIONS), dtype=np.float32)])
            self._norms = np.concatenate([self._norms, np.ones(more)])


def _norms(rows: npt.NDArray[np.float32]) -> Cosines:
    """The length of each row; 1 for an empty row."""
    squares: Cosines = np.einsum("ij,ij->i", rows, rows).astype(np.float64)
    return np.maximum(np.sqrt(squares), 1.0)


class Meaning:
    def __init__(self, path: Path | None) -> None:
        self._file = VectorFile(path)
        self._vectors = Vectors()
        self._rows: dict[bytes, int] | None = None
        self._known: set[int] = set()

    def restore(self, slots: Iterable[tuple[int, bytes]]) -> None:
        """Load the cached vectors for these slots."""
        if self._rows is None:
            self._rows, self._stored = self._file.read()
        found = [(slot, self._rows[passage]) for slot, passage in slots if passage in self._rows]
        self._vectors.put_all([slot for slot, _ in found], self._stored[[row for _, row in found]])
        self._known.update(slot for slot, _ in found)

    def knows(self, slot: int) -> bool:
        return slot in self._known

    def learn(self, passages: Mapping[int, tuple[bytes, str]]) -> None:
        """Embed the texts of these slots (each with its digest), or load them from the cache."""
        self.restore((slot, passage) for slot, (passage, _) in passages.items())
        new: dict[bytes, Vector] = {}
        for slot, (passage, text) in passages.items():
            if slot in self._known:
                continue
            if passage not in new:
                new[passage] = shared().passage(text)
            self._vectors.put(slot, new[passage])
            self._known.add(slot)
            if len(new) >= _BATCH_SIZE:
                self._file.append(new)
                new.clear()
        self._file.append(new)

    def forget(self, slot: int) -> None:
        self._vectors.clear(slot)
        self._known.discard(slot)

    def cosines(self, query: str, size: int) -> Cosines:
        return self._vectors.cosines(shared().query(query), size)

    def tidy(self, used: set[bytes]) -> None:
        self._file.tidy(used)


def strongest(words: Mapping[int, float], cosines: Cosines, count: int) -> list[int]:
    """The slots with the highest sum of both scores, ties at the end included."""
    sums = cosines.copy()
    slots = np.fromiter(words.keys(), dtype=np.int64, count=len(words))
    sums[slots] += np.fromiter(words.values(), dtype=np.float64, count=len(words))
    floor = np.partition(sums, -count)[-count] if len(sums) > count else 0.0
    found: list[int] = np.flatnonzero((sums >= floor) & (sums > 0)).tolist()
    return found


def of_rank(cosines: Cosines, rank: int) -> float:
    """The cosine that only `rank - 1` others exceed."""
    return float(np.partition(cosines, -rank)[-rank])
