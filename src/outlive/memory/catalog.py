"""What is asked about all memories of a store at each change, kept up to date by what changed: which are in use, what
they are called, which say the same, what the index says. Pure; whoever has a look at the store lets it follow.
"""

from collections.abc import Iterator
from typing import NamedTuple

from outlive.memory.following import Grouped, Ordered
from outlive.memory.index import capped, entry, rank
from outlive.memory.refs import refuse_known, unknown
from outlive.memory.similar import spelling
from outlive.memory.supersession import Hiding, cascade
from outlive.stores.memories.protocol import MemoryReader
from outlive.stores.memories.records import Memory, unmarked
from outlive.stores.memories.table import NOTHING, MemoryTable


class CatalogHit(NamedTuple):
    """A memory, and how well it is what was asked for: the lowest is it."""

    standing: tuple[int, bool, bool]
    memory: Memory


class Catalog:
    """Of one store. `in_use` has the live ones that no other supersedes, `everything` forgotten ones too."""

    def __init__(self) -> None:
        self.everything = MemoryTable()
        self.in_use = MemoryTable()
        self._hiding = Hiding()
        self._names = Grouped(self.everything, lambda memory: (memory.name,))
        self._folded = Grouped(self.everything, lambda memory: (memory.name.casefold(),))
        self._derived = Grouped(self.everything, lambda memory: memory.derived_from)
        self._spelled = Grouped(self.in_use, lambda memory: (_spelling(memory),))
        self._ranked = Ordered(self.in_use, rank)
        self._entries: dict[str, tuple[Memory, tuple[str, str]]] = {}
        """Of the index, as they were made of a memory."""
        self._at = NOTHING

    def follow(self, look: MemoryReader) -> "Catalog":
        """Take in what changed since the last time."""
        self._at, changes = look.changed(self._at)
        for slug, memory in changes.items():
            self.everything.put(slug, memory)
            live = memory is not None and memory.archived is None
            foreign = memory is not None and memory.provenance.foreign
            below = memory.supersedes if memory is not None and live else None
            for other in self._hiding.put(slug, below, foreign=foreign):
                self._show(other)
            self._show(slug)
        return self

    @property
    def hidden(self) -> dict[str, str]:
        """Slugs of superseded memories, each with the one that took its place."""
        return self._hiding.by

    def newest(self, slug: str) -> str:
        """What counts instead of a memory: the last of its corrections, or itself."""
        seen = {slug}
        while (above := self.hidden.get(slug)) and above not in seen:
            seen.add(slug := above)
        return slug

    def all(self, *, superseded: bool = False, archived: bool = False) -> list[Memory]:
        """Those in use, or more, by slug."""
        if not superseded and not archived:
            return self.in_use.all()
        return [
            memory
            for memory in self.everything.all()
            if (archived or memory.archived is None) and (superseded or memory.slug not in self.hidden)
        ]

    def changed(self, since: int) -> tuple[int, dict[str, Memory | None]]:
        """The moment, and what came into use, changed or went out of use (None) after an earlier one."""
        return self.in_use.moment, dict(self.in_use.changed(since))

    def find(self, ref: str, *, archived: bool = True) -> "CatalogHit | None":
        """By slug, else by name, else by name in whatever case; one in use goes before a superseded one, and that
        before a forgotten one."""
        ways = ({ref.removesuffix(".md")}, self._names.of(ref), self._folded.of(ref.casefold()))
        for way, slugs in enumerate(ways):
            found = [
                CatalogHit((way, memory.archived is not None, slug in self.hidden), memory)
                for slug in sorted(slugs)
                if (memory := self.everything.get(slug)) and (archived or memory.archived is None)
            ]
            if found:
                return min(found, key=lambda one: one.standing)
        return None

    def called(self, name: str) -> list[Memory]:
        """Those in use of that name, whatever its case, that are the user's."""
        found = map(self.in_use.get, sorted(self._folded.of(name.casefold())))
        return [memory for memory in found if memory and not memory.provenance.foreign]

    def slug_of(self, ref: str) -> str:
        """Of a live one that is called so."""
        found = self.find(ref, archived=False)
        if found is None:
            raise unknown(ref, self.slugs())
        return found.memory.slug

    def slugs(self) -> list[str]:
        """Of those that are not forgotten."""
        return [memory.slug for memory in self.everything.all() if memory.archived is None]

    def refuse_known(self, memory: Memory) -> None:
        """Raise MemoryExists where another in use, that this one does not supersede, is called or says the same."""
        alike = {*self._folded.of(memory.name.casefold()), *self._spelled.of(_spelling(memory))}
        found = (self.in_use.get(slug) for slug in sorted(alike.difference(memory.supersedes)))
        refuse_known(memory, (one for one in found if one and not one.provenance.foreign))

    def cascade(self, slug: str) -> list[Memory]:
        """What goes when this one goes, itself first."""

        def follows(other: str) -> Iterator[str]:
            memory = self.everything.get(other)
            for found in (*(memory.supersedes if memory else ()), *sorted(self._derived.of(other))):
                goes = self.everything.get(found)
                if goes is not None and goes.archived is None:
                    yield found

        return [memory for memory in map(self.everything.get, cascade(slug, follows)) if memory]

    def index(self) -> str:
        """The text of MEMORY.md."""
        ranked = self._ranked.all()
        return capped(len(ranked), (self._entry(slug) for _, slug in ranked))

    def _entry(self, slug: str) -> tuple[str, str]:
        memory = self.in_use.get(slug)
        made = self._entries.get(slug)
        if memory is not None and (made is None or made[0] is not memory):
            made = self._entries[slug] = (memory, entry(unmarked(memory)))
        return made[1] if made else ("", "")

    def _show(self, slug: str) -> None:
        """Have it in use, or not, whichever it is now."""
        memory = self.everything.get(slug)
        shown = memory is not None and memory.archived is None and slug not in self.hidden
        self.in_use.put(slug, memory if shown else None)


def _spelling(memory: Memory) -> tuple[object, ...]:
    return spelling(f"{memory.description}\n{memory.body}")
