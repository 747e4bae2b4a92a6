"""Entries by what they mean: embeds what is new, keeps it on disk, compares all of it with a query."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from outlive.memory.retrieval.dense.model import Vector, shared
from outlive.memory.retrieval.dense.vectorfile import VectorFile
from outlive.memory.retrieval.dense.vectors import Cosines, Vectors

_AT_ONCE = 64
"""So many new vectors go to disk together: what was embedded before an interruption need not be embedded again."""


class Meaning:
    def __init__(self, path: Path | None) -> None:
        self._file = VectorFile(path)
        self._vectors = Vectors()
        self._rows: dict[bytes, int] | None = None
        self._known: set[int] = set()

    def restore(self, slots: Iterable[tuple[int, bytes]]) -> None:
        """Take over from disk what is there for the passages of these slots."""
        if self._rows is None:
            self._rows, self._stored = self._file.read()
        found = [(slot, self._rows[passage]) for slot, passage in slots if passage in self._rows]
        self._vectors.put_all([slot for slot, _ in found], self._stored[[row for _, row in found]])
        self._known.update(slot for slot, _ in found)

    def knows(self, slot: int) -> bool:
        return slot in self._known

    def learn(self, passages: Mapping[int, tuple[bytes, str]]) -> None:
        """Embed the texts of these slots (each with its digest), or take them from disk."""
        self.restore((slot, passage) for slot, (passage, _) in passages.items())
        new: dict[bytes, Vector] = {}
        for slot, (passage, text) in passages.items():
            if slot in self._known:
                continue
            if passage not in new:
                new[passage] = shared().passage(text)
            self._vectors.put(slot, new[passage])
            self._known.add(slot)
            if len(new) >= _AT_ONCE:
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
