"""Finds a memory by name, compares texts, and parses a model's answer."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from outlive.memory.errors import InvalidAnswer, MemoryExists, UnknownMemory
from outlive.stores.memories.protocol import MemoryReader
from outlive.stores.memories.records import Memory, Provenance

T = TypeVar("T")

COMPARED, MAX_COMPARED = 100, 2_000
"""Characters of a name, and number of names, that are compared to suggest a name."""
_NOW = re.compile(r"^actually,? |\bnow |,? now$")
_NOT = re.compile(r", not (.+)$")


class Match(NamedTuple):
    """A memory and how well it matches a name; the lowest rank is the best match."""

    rank: tuple[int, bool, bool]
    memory: Memory


def find(ref: str, memories: Iterable[Memory], hidden: Collection[str]) -> Match | None:
    """The memory with this slug, else this name, else this name in another case.

    Memories in use are preferred to superseded ones, and those to forgotten ones.
    """
    slug, folded = ref.removesuffix(".md"), ref.casefold()
    found = []
    for memory in memories:
        if memory.name.casefold() == folded or memory.slug == slug:
            way = 0 if memory.slug == slug else 1 if memory.name == ref else 2
            found.append(Match((way, memory.archived is not None, memory.slug in hidden), memory))
    return min(found, key=lambda match: match.rank, default=None)


def unknown(ref: str, slugs: Sequence[str]) -> UnknownMemory:
    """The error for an unknown name, with slugs that are spelled like it."""
    from difflib import get_close_matches

    close = get_close_matches(ref[:COMPARED], slugs[:MAX_COMPARED], n=3, cutoff=0.5)
    message = f"no memory is called {ref[:COMPARED]!r}"
    if close:
        return UnknownMemory(message, hint=f"did you mean {', '.join(close)}?", code="misspelled_memory")
    return UnknownMemory(message)


def forgotten(memory: Memory) -> UnknownMemory:
    """The error for a memory that cannot be changed because it was forgotten."""
    return UnknownMemory(f"{memory.name!r} was forgotten", hint="undo that", code="forgotten_memory")


def slug_of(ref: str, live: Sequence[Memory], hidden: Collection[str]) -> str:
    """The slug of the memory with this name. Raises UnknownMemory."""
    if found := find(ref, live, hidden):
        return found.memory.slug
    raise unknown(ref, [memory.slug for memory in live])


def live_in(tx: MemoryReader, memory: Memory) -> Memory:
    """The memory as it is now in the transaction. Raises UnknownMemory if it was forgotten."""
    now = tx.get(memory.slug)
    if now is None or now.archived:
        raise forgotten(memory)
    return now


def refuse_known(memory: Memory, present: Iterable[Memory]) -> None:
    """Raise MemoryExists if one of these has the same name or the same text."""
    name, (description, body) = memory.name.casefold(), map(normalized, (memory.description, memory.body))
    enough = bool(body) and len(f"{description} {body}".split()) > 2
    for other in present:
        if other.name.casefold() == name:
            if normalized(other.body) == body:
                raise MemoryExists(f"{memory.name!r} is remembered already ({other.slug})")
            raise MemoryExists(
                f"there is a memory called {memory.name!r} already ({other.slug})",
                hint="supersede it, or choose another name",
                code="memory_exists",
            )
        if enough and normalized(other.body) == body and normalized(other.description) == description:
            raise MemoryExists(f"this is remembered already, as {other.name!r} ({other.slug})")


def normalized(text: str) -> str:
    """Normalise whitespace and drop punctuation at the end. Texts with equal results say the same; case counts,
    because it does in paths and identifiers."""
    return " ".join(unicodedata.normalize("NFC", text).split()).rstrip(".!… ")


def corrects(new: str, old: str) -> bool:
    """Whether a text plainly corrects another: "X is now Y" after "X is Z", or "X is Y, not Z".

    Without the "now" or the ", not Z" the texts differ in one word, which is not among the first two.
    """
    text = normalized(new).casefold()
    plain = _NOT.sub("", _NOW.sub("", text, count=1), count=1)
    if plain == text:
        return False
    mine, theirs = plain.split(), _NOW.sub("", normalized(old).casefold(), count=1).split()
    if len(mine) != len(theirs):
        return False
    other = [number for number, words in enumerate(zip(mine, theirs, strict=True)) if len({*words}) > 1]
    denied = _NOT.search(text)
    return len(other) == 1 and other[0] > 1 and (denied is None or theirs[other[0]] in denied[1].split())


def outranks(old: Provenance, new: Provenance) -> bool:
    """Whether the old memory is the user's word and the new one is not."""
    return old.by == "user" and new.by != "user"


def read_answer(answer: str, form: type[T]) -> T:
    """The JSON of a model's answer: all of it, or the content of its only fence. Raises InvalidAnswer."""
    text = answer.strip()
    fences = re.findall(r"```(?:json)?\s*\n(.*?)```", text, re.DOTALL)
    try:
        return msgspec.json.decode(fences[0].strip() if len(fences) == 1 else text, type=form)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidAnswer(f"the answer is not what was asked for ({error}); nothing was changed") from None


def first_line(text: str) -> str:
    """The first line of a body, as its description."""
    line = next((line.strip(" #*->\t") for line in text.splitlines() if line.strip(" #*->\t")), "")
    return line if len(line) <= 200 else line[:199] + "…"
