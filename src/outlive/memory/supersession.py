"""How memories stand to each other: what hides what, and what goes with what. Pure."""

from collections.abc import Callable, Iterable, Mapping

from outlive.stores.memories.records import Memory


def hidden_by(memories: Iterable[Memory]) -> dict[str, str]:
    """Slugs of superseded memories, each with the one that took its place. One in a ring hides no other, and what
    came with the folder hides nothing that is the user's."""
    live = {memory.slug: memory for memory in memories if memory.archived is None}
    edges = {slug: memory.supersedes for slug, memory in live.items() if memory.supersedes}
    hidden = {}
    for slug, olds in edges.items():
        for old in olds:
            if old in live and old != slug and slug not in reach(old, edges) and _may_hide(live[slug], live[old]):
                hidden[old] = slug
    return hidden


def _may_hide(new: Memory, old: Memory) -> bool:
    return old.provenance.foreign or not new.provenance.foreign


class Hiding:
    """The same as `hidden_by`, kept up to date by what changes."""

    def __init__(self) -> None:
        self.by: dict[str, str] = {}
        self._live: set[str] = set()
        self._edges: dict[str, tuple[str, ...]] = {}
        self._above: dict[str, set[str]] = {}
        """Who supersedes a slug."""
        self._foreign: set[str] = set()
        """What came with the folder hides nothing that is the user's."""

    def put(self, slug: str, supersedes: tuple[str, ...] | None, *, foreign: bool = False) -> set[str]:
        """It is live and supersedes these, or with None is not; returns which others are hidden or not since."""
        before = self._edges.get(slug, ())
        same = (slug in self._live) == (supersedes is not None) and before == (supersedes or ())
        if same and (slug in self._foreign) == foreign:
            return set()
        (self._foreign.add if foreign else self._foreign.discard)(slug)
        # Whether one is hidden depends on rings through what it reaches, and so on what is below this one.
        affected = {slug, *reach(slug, self._edges)}
        for old in before:
            self._above[old].discard(slug)
        for old in supersedes or ():
            self._above.setdefault(old, set()).add(slug)
        (self._live.discard if supersedes is None else self._live.add)(slug)
        if supersedes:
            self._edges[slug] = supersedes
        else:
            self._edges.pop(slug, None)
        affected |= reach(slug, self._edges)
        return {other for other in affected if self._settle(other)} - {slug}

    def _settle(self, slug: str) -> bool:
        """Find out anew what hides one; whether that changed anything."""
        before = self.by.pop(slug, None)
        if slug in self._live and (above := self._above.get(slug)):
            below = reach(slug, self._edges)
            rivals = above if slug in self._foreign else above - self._foreign
            hides = [other for other in rivals if other != slug and other not in below]
            if hides:
                self.by[slug] = max(hides)
        return self.by.get(slug) != before


def cascade(slug: str, follows: Callable[[str], Iterable[str]]) -> list[str]:
    """What goes when this one goes, itself first, where `follows` says what goes with one."""
    found, pending = {slug: None}, [slug]
    while pending:
        for other in follows(pending.pop()):
            if other not in found:
                found[other] = None
                pending.append(other)
    return list(found)


def reach(slug: str, edges: Mapping[str, tuple[str, ...]]) -> set[str]:
    """All that a memory supersedes, by way of others too."""
    found: set[str] = set()
    pending = [slug]
    while pending:
        for other in edges.get(pending.pop(), ()):
            if other not in found:
                found.add(other)
                pending.append(other)
    return found
