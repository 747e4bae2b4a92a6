"""The vectors of the entries, one row a slot, and the cosine of all of them with a query."""

import numpy as np
import numpy.typing as npt

from outlive.memory.retrieval.dense.model import SIZE, Vector

Cosines = npt.NDArray[np.float64]


class Vectors:
    """Rows hold whole numbers as floats: fast to multiply, and exact, because 127 * 127 * 384 is below 2 ** 24."""

    def __init__(self) -> None:
        self._rows = np.zeros((0, SIZE), dtype=np.float32)
        self._norms = np.ones(0)

    def put(self, slot: int, vector: Vector) -> None:
        self._reserve(slot + 1)
        self._rows[slot] = vector
        self._norms[slot : slot + 1] = _norms(self._rows[slot : slot + 1])

    def put_all(self, slots: list[int], vectors: npt.NDArray[np.int8]) -> None:
        """Many rows at once, as read from a cache."""
        if slots:
            self._reserve(max(slots) + 1)
            self._rows[slots] = vectors
            self._norms[slots] = _norms(self._rows[slots])

    def clear(self, slot: int) -> None:
        if slot < len(self._rows):
            self._rows[slot] = 0

    def cosines(self, query: Vector, count: int) -> Cosines:
        """By slot; what points away from the query counts as having nothing to do with it."""
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
            self._rows = np.concatenate([self._rows, np.zeros((more, SIZE), dtype=np.float32)])
            self._norms = np.concatenate([self._norms, np.ones(more)])


def _norms(rows: npt.NDArray[np.float32]) -> Cosines:
    """The lengths of rows; that of an empty one is taken as 1."""
    squares: Cosines = np.einsum("ij,ij->i", rows, rows).astype(np.float64)
    return np.maximum(np.sqrt(squares), 1.0)
