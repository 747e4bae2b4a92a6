"""The retriever over a book: the seam between what is remembered and how it is found."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from outlive.memory.book import Memories
from outlive.memory.inject import key_of
from outlive.stores.memory_records import Memory

if TYPE_CHECKING:
    from outlive.memory.retrieval import Entry, Retriever


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


def searcher(
    memories: Memories,
    *,
    among: Iterable[Memory] | None = None,
    dense: bool | None = None,
    cache: Path | None = None,
) -> "Retriever":
    """A retriever over what is in use now. `Memories.pick` turns its hits into memories, and leaves out what must
    not reach a model. `among` saves another look at the store for whoever has just taken one."""
    from outlive.memory.retrieval import Retriever

    retriever = Retriever(dense=dense, cache=cache or cache_of(memories))
    retriever.update([entry_of(memory) for memory in (memories.all() if among is None else among)])
    return retriever
