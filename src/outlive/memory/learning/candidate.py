"""Candidates: memories that are not stored yet, compared with those that are."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import chain, count
from typing import Literal

import msgspec
from msgspec.structs import replace

from outlive.memory.learning.explicit_requests import FENCE, Statement, kind_and_scope
from outlive.memory.refs import corrects, normalized, outranks
from outlive.printable import visible
from outlive.secrets import mask
from outlive.stores.memories.records import Kind, Memory, Provenance, Scope


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    body: str
    description: str = ""
    type: Kind = "project"
    scope: Scope = "project"
    keys: tuple[str, ...] = ()
    date: str = ""
    provenance: Provenance = Provenance()
    action: Literal["add", "update", "supersede"] = "add"
    target: str = ""
    """The memory to update or supersede, as scope/slug."""
    explicit: bool = False
    """The user asked to remember it; else it is only offered."""
    needs_confirmation: bool = False
    """It instructs and was not said by the user."""

    def memory(self) -> Memory:
        """The memory that it would be stored as."""
        now = datetime.now(UTC)
        return Memory(
            slug="-",
            name=self.name,
            description=self.description,
            type=self.type,
            scope=self.scope,
            body=self.body,
            keys=self.keys,
            date=self.date,
            provenance=self.provenance,
            created=now,
            updated=now,
        )


Near = Callable[[Candidate], Sequence[Memory]]
"""Finds the memories that a candidate may be related to. Only those are compared with it."""


def candidate_of(statement: Statement, source: Provenance) -> Candidate:
    body = statement.body
    return Candidate(
        name=short_name(body),
        description=(in_one_line(body) if FENCE.search(body) else body)[:200],
        body=body,
        type=statement.kind,
        scope=statement.scope,
        provenance=source,
        explicit=statement.asked,
    )


def asked_for(text: str, source: Provenance) -> Candidate:
    """The candidate for a text that the user asked to remember."""
    kind, scope = kind_and_scope(text.strip(), asked=False)
    return candidate_of(Statement(text.strip(), kind, scope, asked=True), source)


def known_as(candidate: Candidate, existing: Sequence[Memory]) -> Memory | None:
    """The memory with the same text."""
    wanted = normalized(candidate.body)
    return next((memory for memory in existing if normalized(memory.body or memory.description) == wanted), None)


def against(candidate: Candidate, existing: Sequence[Memory]) -> Candidate | None:
    """Classify a candidate: None if it is known, a correction of the memory that it plainly corrects, else something
    new.

    A memory that the user repeats becomes the user's word.
    """
    if known := known_as(candidate, existing):
        if known.provenance.is_users or candidate.provenance.by != "user":
            return None
        return _placed(candidate, "update", known)
    if candidate.action != "add":
        return candidate
    for memory in existing:
        if corrects(candidate.body, memory.body) and not outranks(memory.provenance, candidate.provenance):
            return _placed(candidate, "supersede", memory)
    taken = {memory.name.casefold() for memory in existing}
    short = short_name(candidate.body)
    names = chain((candidate.name, short), (f"{short} ({number})" for number in count(2)))
    return replace(candidate, name=next(name for name in names if name.casefold() not in taken))


def _placed(candidate: Candidate, action: Literal["update", "supersede"], memory: Memory) -> Candidate:
    return replace(candidate, action=action, target=f"{memory.scope}/{memory.slug}", scope=memory.scope)


def learned(memory: Memory, *, in_place_of: str = "") -> str:
    """One line for the user: what was learned, and what it replaced."""
    about = _printable(memory.description or memory.body)[:160]
    instead = f", in place of {_printable(in_place_of)[:80]}" if in_place_of else ""
    return f"remembered {memory.slug}: {about}{instead} (outlive memory undo)"


def _printable(text: str) -> str:
    return " ".join(visible(mask(text)).split())


def short_name(text: str) -> str:
    """A name of a few words."""
    line = in_one_line(text)
    return line if len(line) <= 60 else line[:60].rpartition(" ")[0].rstrip(" ,;:") or line[:60]


def in_one_line(text: str) -> str:
    """The text without line ends and fence marks."""
    bare = " ".join(" ".join(line for line in text.splitlines() if not FENCE.match(line)).split())
    return bare or " ".join(text.split())
