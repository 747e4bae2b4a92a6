"""Finding a memory by what it is called, telling that a text is known already, and small helpers for texts."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from outlive.memory.errors import MemoryExists, UnknownMemory
from outlive.stores.memories.records import Memory

COMPARED, MOST_COMPARED = 100, 2_000
"""Characters of a name, and number of names, that are compared with a name that does not exist."""


class Match(NamedTuple):
    """A memory, and how well it fits a name: the lowest rank fits best."""

    rank: tuple[int, bool, bool]
    memory: Memory


def find(ref: str, memories: Iterable[Memory], hidden: Collection[str]) -> Match | None:
    """The memory with this slug, else this name, else this name in another case. One in use is preferred to a
    superseded one, and that to a forgotten one."""
    slug, folded = ref.removesuffix(".md"), ref.casefold()
    found = []
    for memory in memories:
        if memory.name.casefold() == folded or memory.slug == slug:
            way = 0 if memory.slug == slug else 1 if memory.name == ref else 2
            found.append(Match((way, memory.archived is not None, memory.slug in hidden), memory))
    return min(found, key=lambda match: match.rank, default=None)


def unknown(ref: str, slugs: Sequence[str]) -> UnknownMemory:
    """The error for a name that does not exist, with slugs that are spelled like it."""
    from difflib import get_close_matches

    close = get_close_matches(ref[:COMPARED], slugs[:MOST_COMPARED], n=3, cutoff=0.5)
    hint = f"; did you mean {', '.join(close)}?" if close else "; list them with: outlive memory list"
    return UnknownMemory(f"no memory is called {ref[:COMPARED]!r}{hint}")


def refuse_known(memory: Memory, present: Iterable[Memory]) -> None:
    """Raise MemoryExists where one of these has the same name or the same text."""
    name, (description, body) = memory.name.casefold(), map(normalized, (memory.description, memory.body))
    enough = bool(body) and len(f"{description} {body}".split()) > 2
    for other in present:
        if other.name.casefold() == name:
            if normalized(other.body) == body:
                raise MemoryExists(f"{memory.name!r} is remembered already ({other.slug})")
            raise MemoryExists(
                f"there is a memory called {memory.name!r} already ({other.slug}); "
                "supersede it, update it, or choose another name"
            )
        if enough and normalized(other.body) == body and normalized(other.description) == description:
            raise MemoryExists(f"this is remembered already, as {other.name!r} ({other.slug})")


def normalized(text: str) -> str:
    """A text without its case, its kinds of whitespace and the punctuation at its end. Texts for which this is equal
    say the same."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).rstrip(".!… ")


def json_of(answer: str) -> str:
    """The JSON in a model's answer: all of it, or the content of its only fence."""
    text = answer.strip()
    fences = re.findall(r"```(?:json)?\s*\n(.*?)```", text, re.DOTALL)
    return fences[0].strip() if len(fences) == 1 else text


def first_line(text: str) -> str:
    """The first line of a body, as its description."""
    line = next((line.strip(" #*->\t") for line in text.splitlines() if line.strip(" #*->\t")), "")
    return line if len(line) <= 200 else line[:199] + "…"
