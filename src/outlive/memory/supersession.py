"""Relations between memories: which one hides which, and what is forgotten together. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from outlive.stores.memories.records import Memory


def hidden_by(memories: Iterable[Memory]) -> dict[str, str]:
    """Superseded slugs, each with the slug of its replacement.

    Memories that supersede each other in a cycle hide nothing, and an untrusted one hides nothing of the user's.
    """
    live = {memory.slug: memory for memory in memories if memory.archived is None}
    edges = {slug: tuple(o for o in m.supersedes if o in live) for slug, m in live.items() if m.supersedes}
    rings = _may_be_in_a_ring(edges)
    hidden: dict[str, str] = {}
    for slug, olds in edges.items():
        for old in olds:
            untrusted = live[slug].provenance.untrusted and not live[old].provenance.untrusted
            ring = slug == old or (slug in rings and old in rings and slug in reach(old, edges))
            if not ring and not untrusted:
                hidden[old] = max(slug, hidden.get(old, ""))
    return hidden


def _may_be_in_a_ring(edges: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Nodes that may be on a cycle: the rest after repeatedly removing all that supersede nothing; empty if there is
    no cycle."""
    above: dict[str, list[str]] = defaultdict(list)
    for slug, olds in edges.items():
        for old in olds:
            above[old].append(slug)
    open_edges = {slug: len(olds) for slug, olds in edges.items()}
    pending = [slug for slug in {*above, *edges} if not open_edges.get(slug)]
    remaining = {*above, *edges}
    while pending:
        slug = pending.pop()
        remaining.discard(slug)
        for other in above.get(slug, ()):
            open_edges[other] -= 1
            if not open_edges[other]:
                pending.append(other)
    return remaining


def in_use(memories: Sequence[Memory]) -> list[Memory]:
    """Memories that are neither forgotten nor superseded."""
    hidden = hidden_by(memories)
    return [memory for memory in memories if memory.archived is None and memory.slug not in hidden]


def newest(slug: str, hidden: Mapping[str, str]) -> str:
    """The last correction of a memory, or the memory itself."""
    seen = {slug}
    while (above := hidden.get(slug)) and above not in seen:
        seen.add(slug := above)
    return slug


def cascade(slug: str, memories: Iterable[Memory]) -> list[Memory]:
    """A memory and what is forgotten with it: what was derived from it and what it had superseded."""
    live = {memory.slug: memory for memory in memories if memory.archived is None}
    edges = defaultdict(list, {other: list(memory.supersedes) for other, memory in live.items()})
    for other, memory in live.items():
        for source in live.keys() & set(memory.derived_from):
            edges[source].append(other)
    others = reach(slug, edges) - {slug}
    return [live[other] for other in (slug, *sorted(others)) if other in live]


def reach(slug: str, edges: Mapping[str, Sequence[str]]) -> set[str]:
    """Everything reachable from a memory along these edges."""
    found: set[str] = set()
    pending = [slug]
    while pending:
        for other in edges.get(pending.pop(), ()):
            if other not in found:
                found.add(other)
                pending.append(other)
    return found
