"""Memories in a row each: listed by type, scope and state, or found by a query."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

import msgspec

from outlive.memory import guard
from outlive.memory.memories import Memories
from outlive.memory.prompt_block import key_of
from outlive.memory.search import Finder
from outlive.stores.memories.records import Kind, Memory, Scope
from outlive.web.excerpt import line

State = Literal["used", "blocked", "superseded", "forgotten"]
"""used: may be shown to a model; blocked: stored, and not shown to one; superseded: another has its place."""
LONGEST_DESCRIPTION = 300  # of a row; the memory's own page has all of it


class MemoryRow(msgspec.Struct, frozen=True, kw_only=True):
    scope: Scope
    slug: str
    name: str
    description: str
    type: Kind
    keys: list[str]
    state: State
    blocked: str
    """Why it is not shown to a model."""
    superseded_by: str
    who: str
    updated: float


class MemoryPage(msgspec.Struct, frozen=True, kw_only=True):
    total: int
    memories: list[MemoryRow]
    states: dict[str, int]
    types: dict[str, int]
    scopes: dict[str, int]


class Hit(msgspec.Struct, frozen=True):
    memory: MemoryRow
    score: float
    words: float
    meaning: float | None


class MemoryListing:
    """The memories of a workspace, and why some of them do not reach a model."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self._reasons: dict[str, tuple[Memory, str]] = {}

    def page(self, *, state: str, kind: str, scope: str, skip: int, limit: int) -> MemoryPage:
        """Memories, the last changed first; without a state those that are in use or blocked."""
        everything = self._memories.all(superseded=True, archived=True)
        hidden = self._memories.superseded()
        states = {key_of(memory): self.state(memory, hidden) for memory in everything}
        wanted = (state,) if state else ("used", "blocked")
        of_state = [memory for memory in everything if states[key_of(memory)] in wanted]
        found = [memory for memory in of_state if kind in ("", memory.type) and scope in ("", memory.scope)]
        found.sort(key=lambda memory: (memory.archived or memory.updated, key_of(memory)), reverse=True)
        return MemoryPage(
            total=len(found),
            memories=[self.row(memory, hidden) for memory in found[skip : skip + limit]],
            states=dict(Counter(states.values())),
            types=dict(Counter(memory.type for memory in of_state)),
            scopes=dict(Counter(memory.scope for memory in of_state)),
        )

    def search(self, finder: Finder, query: str, most: int) -> list[Hit]:
        """The best for a query, with their scores."""
        found = finder.look().explain(query, most)
        return [Hit(self.row(memory, {}), hit.score, hit.words, hit.meaning) for memory, hit in found]

    def row(self, memory: Memory, hidden: dict[str, str]) -> MemoryRow:
        return MemoryRow(
            scope=memory.scope,
            slug=memory.slug,
            name=line(memory.name),
            description=line(memory.description, LONGEST_DESCRIPTION),
            type=memory.type,
            keys=[line(key, 60) for key in memory.keys[:20]],
            state=self.state(memory, hidden),
            blocked=line(self.blocked(memory)),
            superseded_by=hidden.get(key_of(memory), ""),
            who=memory.provenance.who,
            updated=(memory.archived or memory.updated).timestamp(),
        )

    def state(self, memory: Memory, hidden: dict[str, str]) -> State:
        if memory.archived:
            return "forgotten"
        if key_of(memory) in hidden:
            return "superseded"
        return "blocked" if self.blocked(memory) else "used"

    def blocked(self, memory: Memory) -> str:
        """Why it is not shown to a model. Looked for once in a memory; stores keep those that did not change."""
        kept = self._reasons.get(key_of(memory))
        if kept is None or kept[0] is not memory:
            kept = self._reasons[key_of(memory)] = memory, guard.blocked_reason(memory)
        return kept[1]

    def rows(self, memories: Iterable[Memory]) -> list[MemoryRow]:
        hidden = self._memories.superseded()
        return [self.row(memory, hidden) for memory in memories]
