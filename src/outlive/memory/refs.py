"""Finding out that nothing is called so, or that something is known already."""

from collections.abc import Iterable, Sequence

from outlive.memory.errors import MemoryExists, UnknownMemory
from outlive.memory.similar import same, words
from outlive.stores.memories.records import Memory

COMPARED, MOST_COMPARED = 100, 2_000
"""Characters of a name, and names, that are compared with one that does not exist."""


def unknown(ref: str, slugs: Sequence[str]) -> UnknownMemory:
    """The error for what is called like none of these, with those that are spelled like it."""
    from difflib import get_close_matches

    close = get_close_matches(ref[:COMPARED], slugs[:MOST_COMPARED], n=3, cutoff=0.5)
    hint = f"; did you mean {', '.join(close)}?" if close else "; list them with: outlive memory list"
    return UnknownMemory(f"no memory is called {ref[:COMPARED]!r}{hint}")


def refuse_known(memory: Memory, present: Iterable[Memory]) -> None:
    """Nothing is remembered twice, and a name stands for one thing."""
    mine = f"{memory.description}\n{memory.body}"
    enough = len(words(mine)) > 2
    for other in present:
        if other.name.casefold() == memory.name.casefold():
            if same(other.body, memory.body):
                raise MemoryExists(f"{memory.name!r} is remembered already ({other.slug})")
            raise MemoryExists(
                f"there is a memory called {memory.name!r} already ({other.slug}); "
                "supersede it, update it, or choose another name"
            )
        if enough and memory.body.strip() and same(mine, f"{other.description}\n{other.body}"):
            raise MemoryExists(f"this is remembered already, as {other.name!r} ({other.slug})")


def first_line(text: str) -> str:
    """What a body begins with, as its description."""
    line = next((line.strip(" #*->\t") for line in text.splitlines() if line.strip(" #*->\t")), "")
    return line if len(line) <= 200 else line[:199] + "…"
