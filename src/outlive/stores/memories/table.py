"""The memories of a store as a process holds them, and the views of readers and writers on them, for all engines.

An engine updates the table before each read, by what changed. Callers ask what changed since an earlier moment.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from outlive.stores.memories.names import free_slug
from outlive.stores.memories.records import Memory, MemoryChange, MemoryStep, in_utc, mended, unmarked
from outlive.stores.memories.text import render

BEFORE_FIRST = -1
"""The moment before the first change."""


class MemoryTable:
    """Memories by slug, each with the moment of its last change here."""

    def __init__(self) -> None:
        self._held: dict[str, Memory] = {}
        self._moments: dict[str, int] = {}
        """In the order of change. Removed memories stay, so that `changed` can report them."""
        self.moment = 0

    def __len__(self) -> int:
        return len(self._held)

    def get(self, slug: str) -> Memory | None:
        return self._held.get(slug)

    def all(self) -> list[Memory]:
        """In the order of their slugs."""
        return [self._held[slug] for slug in sorted(self._held)]

    def put(self, slug: str, memory: Memory | None) -> None:
        """Set the memory of a slug; None removes it."""
        before = self._held.get(slug)
        if before is memory or before == memory:
            return
        self.moment += 1
        self._moments.pop(slug, None)
        self._moments[slug] = self.moment
        if memory is None:
            del self._held[slug]
        else:
            self._held[slug] = memory

    def changed(self, since: int = BEFORE_FIRST) -> Mapping[str, Memory | None]:
        """What changed after a moment, in the order of change; None for a removed memory."""
        if since == BEFORE_FIRST:
            return self._held
        found = []
        for slug, moment in reversed(self._moments.items()):
            if moment <= since:
                break
            found.append(slug)
        return {slug: self._held.get(slug) for slug in reversed(found)}


class ReadView:
    """What a reader is given. `refresh` is called before a single memory is looked up, for engines whose records can
    change without the table being updated."""

    def __init__(
        self,
        table: MemoryTable,
        read_steps: Callable[[], list[MemoryStep]],
        refresh: Callable[[str], None] | None = None,
    ) -> None:
        self._table = table
        self._read_steps = read_steps
        self._refresh = refresh

    def get(self, slug: str) -> Memory | None:
        if self._refresh is not None:
            self._refresh(slug)
        return self._table.get(slug)

    def all(self, *, archived: bool = False) -> list[Memory]:
        return [memory for memory in self._table.all() if archived or memory.archived is None]

    def steps(self) -> list[MemoryStep]:
        return self._read_steps()

    def changed(self, since: int = BEFORE_FIRST) -> tuple[int, Mapping[str, Memory | None]]:
        return self._table.moment, self._table.changed(since)


class WriteView(ReadView):
    """What a writer is given: the table, and changes on top of it. The engine knows which slugs are `taken` and
    the id of the last step (`last`), and commits `after` and `recorded` when the work is done."""

    def __init__(
        self,
        table: MemoryTable,
        read_steps: Callable[[], list[MemoryStep]],
        refresh: Callable[[str], None] | None = None,
        *,
        now: datetime,
        last: Callable[[], int],
        taken: Callable[[str], bool],
    ) -> None:
        super().__init__(table, read_steps, refresh)
        self.now = now
        self.after: dict[str, Memory | None] = {}
        self.recorded: list[MemoryStep] = []
        self._told: dict[str, Memory | None] = {}
        """Memories as of the last recorded step."""
        self._last = last
        self._taken = taken
        self._given: set[str] = set()

    def get(self, slug: str) -> Memory | None:
        return self.after[slug] if slug in self.after else super().get(slug)

    def all(self, *, archived: bool = False) -> list[Memory]:
        found = {**self._table.changed(), **self.after}
        memories = (found[slug] for slug in sorted(found))
        return [memory for memory in memories if memory and (archived or memory.archived is None)]

    def steps(self) -> list[MemoryStep]:
        return [*super().steps(), *self.recorded]

    def new_slug(self, name: str) -> str:
        slug = free_slug(name, lambda slug: slug in self._given or self._taken(slug))
        self._given.add(slug)
        return slug

    def put(self, memory: Memory) -> None:
        memory = in_utc(mended(memory))
        render(memory)  # refuses what is too large before anything is written
        self._write(memory.slug, memory)

    def remove(self, slug: str) -> None:
        self._write(slug, None)

    def record(self, op: str, *, actor: str = "", note: str = "", undoes: int = 0, **data: Any) -> MemoryStep:
        changes = []
        for slug, after in self.after.items():
            before = self._told[slug] if slug in self._told else self._table.get(slug)
            if before != after:
                plain = [memory and unmarked(memory) for memory in (before, after)]
                changes.append(MemoryChange(slug=slug, before=plain[0], after=plain[1]))
                self._told[slug] = after
        last = self.recorded[-1].id if self.recorded else self._last()
        step = MemoryStep(
            id=last + 1, at=self.now, op=op, actor=actor, note=note, changes=tuple(changes), undoes=undoes, data=data
        )
        self.recorded.append(step)
        return step

    def _write(self, slug: str, memory: Memory | None) -> None:
        if slug not in self.after and self._refresh is not None:
            self._refresh(slug)  # the log gets what is overwritten as it is now
        self.after[slug] = memory
