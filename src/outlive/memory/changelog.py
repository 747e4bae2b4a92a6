"""The change log as text and as diffs, and undoing a step."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from outlive.memory.errors import UndoConflict, UnknownMemory
from outlive.secrets import mask
from outlive.stores.memories.protocol import MemoryWriter
from outlive.stores.memories.records import Memory, MemoryChange, MemoryStep, Scope, unmarked
from outlive.stores.memories.text import render


class ChangelogEntry(msgspec.Struct, frozen=True):
    """A step and the scope it changed. Its id is `12` in a project and `u12` in the user-wide memory."""

    scope: Scope
    step: MemoryStep
    undone: bool = False

    @property
    def id(self) -> str:
        return f"{'u' if self.scope == 'user' else ''}{self.step.id}"


def entries(scope: Scope, steps: Sequence[MemoryStep]) -> list[ChangelogEntry]:
    """The steps of one store, each with whether it still holds."""
    undone: dict[int, bool] = {}
    for step in steps:
        if step.undoes:
            # Undoing an undo brings the step back.
            for number in (step.undoes, *(s.undoes for s in steps if s.id == step.undoes and s.undoes)):
                undone[number] = not undone.get(number, False)
    return [ChangelogEntry(scope, step, undone.get(step.id, False)) for step in steps]


def last_undoable(found: Sequence[ChangelogEntry]) -> ChangelogEntry | None:
    """The newest step that changed something, was not undone, and is not an undo itself."""
    fit = (entry for entry in reversed(found) if not entry.undone and not entry.step.undoes and entry.step.changes)
    return next(fit, None)


def take_back(tx: MemoryWriter, entry: ChangelogEntry) -> None:
    """Restore everything to before the step. Refused if later changes depend on it."""
    step = entry.step
    for change in step.changes:
        if bare(tx.get(change.slug)) != bare(change.after):
            raise UndoConflict(
                f"step {entry.id} cannot be undone: the memory {change.slug!r} was changed since",
                hint="undo the later steps first",
            )
    _refuse_in_the_middle(tx, entry)
    for change in step.changes:
        if change.before is None:
            tx.remove(change.slug)
        else:
            now = tx.get(change.slug) or change.before
            source = replace(change.before.provenance, untrusted=True)  # the log alone does not make it trusted
            tx.put(replace(change.before, revision=now.revision + 1, provenance=source))


def _refuse_in_the_middle(tx: MemoryWriter, entry: ChangelogEntry) -> None:
    """Refuse to undo a correction that was itself corrected: the oldest error would be back. A memory with a newer
    correction does not get a second one either."""
    mine = {change.slug for change in entry.step.changes}
    others = [memory for memory in tx.all(archived=True) if memory.slug not in mine]
    for change in entry.step.changes:
        freed, taken = _superseded(change.after) - _superseded(change.before), _superseded(change.before)
        taken -= _superseded(change.after)
        for other in others:
            depends = change.before is None and change.slug in (*other.supersedes, *other.derived_from)
            if depends or (freed and other.archived is None and change.slug in other.supersedes):
                raise _depends_on(tx, entry, other, change.slug)
            if other.archived is None and (both := sorted(taken.intersection(other.supersedes))):
                raise _depends_on(tx, entry, other, both[0])


def _superseded(memory: Memory | None) -> set[str]:
    return set(memory.supersedes) if memory and memory.archived is None else set()


def _depends_on(tx: MemoryWriter, entry: ChangelogEntry, other: Memory, slug: str) -> UndoConflict:
    what = f"step {entry.id} cannot be undone: {other.slug!r} depends on {slug!r}"
    for later in reversed(tx.steps()):
        for change in later.changes:
            after = change.after
            if change.slug == other.slug and after and slug in (*after.supersedes, *after.derived_from):
                number = ChangelogEntry(entry.scope, later).id
                return UndoConflict(f"{what} since step {number}", hint="undo that first", step=number)
    return UndoConflict(what, hint="change that first")


def diff(change: MemoryChange) -> Iterator[str]:
    """One memory before and after, as a unified diff of its file."""
    from difflib import unified_diff

    old = f"a/{change.slug}.md" if change.before else "/dev/null"
    new = f"b/{change.slug}.md" if change.after else "/dev/null"
    yield from unified_diff(_lines(change.before), _lines(change.after), old, new, lineterm="")


def find_step(found: Sequence[ChangelogEntry], number: str) -> ChangelogEntry:
    for entry in found:
        if entry.id == number:
            return entry
    raise UnknownMemory(f"no step {number!r} in the log", code="unknown_step")


def _lines(memory: Memory | None) -> list[str]:
    return mask(render(memory).decode()).splitlines() if memory else []


def bare(memory: Memory | None) -> Memory | None:
    """The memory without fields that change by mere use."""
    return replace(unmarked(memory), revision=0, updated=datetime.min) if memory else None
