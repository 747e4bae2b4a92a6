"""Finding a memory by what it is called; comparing texts; reading a model's answer."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from outlive.memory.errors import InvalidAnswer, MemoryExists, UnknownMemory
from outlive.stores.memories.records import Memory, Provenance

T = TypeVar("T")

COMPARED, MOST_COMPARED = 100, 2_000
"""Characters of a name, and number of names, that are compared with a name that does not exist."""
_NOW = re.compile(r"^actually,? |\bnow |,? now$")
_NOT = re.compile(r", not (.+)$")


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
                f"there is a memory called {memory.name!r} already ({other.slug})",
                hint="supersede it, or choose another name",
                code="memory_exists",
            )
        if enough and normalized(other.body) == body and normalized(other.description) == description:
            raise MemoryExists(f"this is remembered already, as {other.name!r} ({other.slug})")


def normalized(text: str) -> str:
    """A text without its kinds of whitespace and the punctuation at its end. Texts for which this is equal say the
    same; case counts, because it does in paths and identifiers."""
    return " ".join(unicodedata.normalize("NFC", text).split()).rstrip(".!… ")


def corrects(new: str, old: str) -> bool:
    """Whether a text plainly corrects another: "X is now Y" after "X is Z", or "X is Y, not Z". Without the "now" or
    the ", not Z" it is the same text but for one word, which is not among the first two."""
    said = normalized(new).casefold()
    plain = _NOT.sub("", _NOW.sub("", said, count=1), count=1)
    if plain == said:
        return False
    mine, theirs = plain.split(), _NOW.sub("", normalized(old).casefold(), count=1).split()
    if len(mine) != len(theirs):
        return False
    other = [number for number, words in enumerate(zip(mine, theirs, strict=True)) if len({*words}) > 1]
    denied = _NOT.search(said)
    return len(other) == 1 and other[0] > 1 and (denied is None or theirs[other[0]] in denied[1].split())


def outranks(old: Provenance, new: Provenance) -> bool:
    """Whether the old one is the user's word and the new one is not."""
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
