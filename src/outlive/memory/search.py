"""The retriever over a book: the seam between what is remembered and how it is found."""

import hashlib
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from outlive.memory.memories import Memories
from outlive.memory.prompt_block import key_of
from outlive.stores.memories.records import Memory, Scope

if TYPE_CHECKING:
    from outlive.memory.retrieval import Entry, Retriever, SearchHit


def entry_of(memory: Memory) -> "Entry":
    """A memory as the retrieval index takes it; its key is scope/slug."""
    from outlive.memory.retrieval import Entry  # loaded when something is looked for, not before

    return Entry(
        key=key_of(memory),
        name=memory.name,
        description=memory.description,
        body=memory.body,
        date=memory.date,
        keys=memory.keys,
    )


def cache_of(memories: Memories) -> Path | None:
    """Where the index over these memories is kept between processes: beside the files, else in the user's folder.

    None where nothing is stored yet or nothing may be written: a look makes nothing, and the index is derived."""
    local = Path(memories.stores["project"].url.removeprefix("files:")) / ".local"
    if local.is_dir() and os.access(local, os.W_OK):
        return local / "retrieval"
    if memories.home is None or not memories.home.is_dir() or not os.access(memories.home, os.W_OK):
        return None
    digest = hashlib.sha256(memories.stores["project"].url.encode()).hexdigest()[:16]
    return memories.home / "cache" / "retrieval" / digest


class Finder:
    """Finds memories of a book. It follows the book when it is told to look, by what changed since the last time."""

    def __init__(self, memories: Memories, *, dense: bool | None = None, cache: Path | None = None) -> None:
        self._memories = memories
        self._dense = dense
        self._cache = cache
        self._retriever: Retriever | None = None
        self._seen: dict[Scope, int] = {}
        self._lock = threading.Lock()

    def look(self) -> "Finder":
        """Take in what is in use now, whoever changed it."""
        with self._lock:
            return self._look()

    def _look(self) -> "Finder":
        seen, changes = self._memories.changed(self._seen)
        entries = [entry_of(memory) for memory in changes.values() if memory is not None]
        if self._retriever is not None:
            for key in (key for key, memory in changes.items() if memory is None):
                self._retriever.remove(key)
            for entry in entries:
                self._retriever.add(entry)
        elif entries or self._dense:
            from outlive.memory.retrieval import Retriever

            retriever = Retriever(dense=self._dense, cache=self._cache or cache_of(self._memories))
            retriever.update(entries)
            self._retriever = retriever
        self._seen = seen
        return self

    def search(self, query: str, k: int, *, foreign: bool = False) -> list[tuple[Memory, float]]:
        """The best for a query, each with its score, without what must not reach a model; for a person also what
        came with the folder (`foreign`)."""
        return self._found(self._retriever.search(query, k), foreign=foreign) if self._retriever else []

    def select(self, query: str, k: int) -> list[tuple[Memory, float]]:
        """The same, of those that are worth showing unasked."""
        return self._found(self._retriever.select(query, k)) if self._retriever else []

    def near(self, text: str, k: int) -> list[Memory]:
        """Those that have most words in common with a text, what must not reach a model included; not what came with
        the folder, so that it keeps nothing of the user's out."""
        found = self._memories.held(self._retriever.near(text, k)) if self._retriever else []
        return [memory for memory in found if not memory.provenance.foreign]

    def close(self) -> None:
        """Keep the index for the next process."""
        if self._retriever is not None:
            self._retriever.keep()

    def _found(self, hits: Iterable["SearchHit"], *, foreign: bool = False) -> list[tuple[Memory, float]]:
        scores = {hit.key: float(hit.score) for hit in hits}
        found = self._memories.pick(scores, look=False, foreign=foreign)
        return [(memory, scores[key_of(memory)]) for memory in found]
