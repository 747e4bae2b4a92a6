"""The inverted index: which documents contain a term, and with which weight. Scored by BM25, addressed by slot.

Lists from a cache stay packed until a query or a change needs them, so that a fresh process answers at once.
"""

import heapq
import math
from array import array
from collections.abc import Iterable, Mapping

from outlive.memory.retrieval.document import Document

K1, B = 0.9, 0.4
"""Low saturation and length normalisation: entries are short, and a long one is not worse."""
BACKGROUND_DOCUMENTS = 100
"""Virtual documents of everyday text, so that in a store of three entries a word in all of them still counts."""

WORK, REFINED = 20_000, 1000
"""Postings examined per query, and results that are then scored completely."""


class Postings:
    def __init__(self, packed: Mapping[str, bytes] | None = None) -> None:
        self._packed = dict(packed or {})
        self._open: dict[str, dict[int, float]] = {}
        self._lengths: list[float] = []
        self._total = 0.0
        self._count = 0

    def restore(self, documents: Iterable[Document]) -> None:
        """Take over the lengths of documents whose lists are already packed, with slots from 0."""
        self._lengths = [document.length for document in documents]
        self._total = sum(self._lengths)
        self._count = len(self._lengths)

    def add(self, slot: int, document: Document, weights: Mapping[str, float]) -> None:
        while slot >= len(self._lengths):
            self._lengths.append(0.0)
        self._lengths[slot] = document.length
        self._total += document.length
        self._count += 1
        for term, weight in weights.items():
            self._list(term, make=True)[slot] = weight

    def remove(self, slot: int, document: Document) -> None:
        self._total -= document.length
        self._count -= 1
        for term in document.terms.split():
            holders = self._list(term)
            holders.pop(slot, None)
            if not holders:
                self._open.pop(term, None)

    def weigh(self, query: Iterable[str]) -> dict[str, float]:
        """The weight of each query term: high for rare terms, highest for unknown ones."""
        found = {}
        for term in dict.fromkeys(query):
            holders = len(self._list(term))
            found[term] = math.log(1 + (self._count + BACKGROUND_DOCUMENTS - holders + 0.5) / (holders + 0.5))
        return found

    def scores(self, weighed: Mapping[str, float]) -> dict[int, float]:
        """BM25 scores by slot, rare terms first.

        Past a bounded amount of work, common terms only add to the best results of the rarer ones.
        """
        found: dict[int, float] = {}
        average = self._total / self._count if self._total else 1.0
        flat, slope = K1 * (1 - B), K1 * B / average
        lengths, before = self._lengths, found.get
        work, best = 0, None
        for term, tells in sorted(weighed.items(), key=lambda pair: -pair[1]):
            holders = self._list(term)
            work += len(holders)
            if found and work > WORK:
                best = best or strongest(found, REFINED)
                holders = {slot: holders[slot] for slot in best if slot in holders}
            for slot, weight in holders.items():
                found[slot] = before(slot, 0.0) + tells * weight / (weight + flat + slope * lengths[slot])
        return found

    def holds(self, term: str, slot: int) -> bool:
        return slot in self._list(term)

    def packed(self, renumbered: Mapping[int, int] | None) -> dict[str, bytes]:
        """Every list in packed form, with slots renumbered if asked for."""
        if renumbered is None:
            return self._packed | {term: _pack(holders) for term, holders in self._open.items()}
        return {
            term: _pack({renumbered[slot]: weight for slot, weight in self._list(term).items()})
            for term in [*self._packed, *self._open]
        }

    def _list(self, term: str, *, make: bool = False) -> dict[int, float]:
        holders = self._open.get(term)
        if holders is None:
            raw = self._packed.pop(term, None)
            if raw is None and not make:
                return {}
            holders = self._open[term] = _unpack(raw or b"")
        return holders


def strongest(scores: Mapping[int, float], count: int) -> list[int]:
    """The slots with the highest scores, ties at the end included."""
    if len(scores) <= count:
        return list(scores)
    floor = heapq.nlargest(count, scores.values())[-1]
    return [slot for slot, score in scores.items() if score >= floor]


def _pack(holders: Mapping[int, float]) -> bytes:
    return array("I", holders.keys()).tobytes() + array("f", holders.values()).tobytes()


def _unpack(raw: bytes) -> dict[int, float]:
    half = len(raw) // 2
    slots, weights = array("I"), array("f")
    slots.frombytes(raw[:half])
    weights.frombytes(raw[half:])
    return dict(zip(slots, weights, strict=True))
