"""How memories relate to each other: which one hides which, and what is forgotten together. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from outlive.stores.memories.records import Memory


def hidden_by(memories: Iterable[Memory]) -> dict[str, str]:
    """Slugs of superseded memories, each with the one that took its place. Memories that supersede each other in a
    ring hide nothing, and an untrusted one hides nothing of the user's."""
    live = {memory.slug: memory for memory in memories if memory.archived is None}
    edges = {slug: tuple(o for o in m.supersedes if o in live) for slug, m in live.items() if m.supersedes}
    rings = _may_be_in_a_ring(edges)
    hidden: dict[str, str] = {}
    for slug, olds in edges.items():
        for old in olds:
            untrusted = live[slug].provenance.foreign and not live[old].provenance.foreign
            ring = slug == old or (slug in rings and old in rings and slug in reach(old, edges))
            if not ring and not untrusted:
                hidden[old] = max(slug, hidden.get(old, ""))
    return hidden


def _may_be_in_a_ring(edges: Mapping[str, tuple[str, ...]]) -> set[str]:
    """What is left after removing, again and again, all that supersedes nothing: empty where there is no ring."""
    above: dict[str, list[str]] = defaultdict(list)
    for slug, olds in edges.items():
        for old in olds:
            above[old].append(slug)
    open_edges = {slug: len(olds) for slug, olds in edges.items()}
    pending = [slug for slug in {*above, *edges} if not open_edges.get(slug)]
    left = {*above, *edges}
    while pending:
        slug = pending.pop()
        left.discard(slug)
        for other in above.get(slug, ()):
            open_edges[other] -= 1
            if not open_edges[other]:
                pending.append(other)
    return left


def in_use(memories: Sequence[Memory]) -> list[Memory]:
    """Those that are neither forgotten nor superseded."""
    hidden = hidden_by(memories)
    return [memory for memory in memories if memory.archived is None and memory.slug not in hidden]


def newest(slug: str, hidden: Mapping[str, str]) -> str:
    """The last correction of a memory, or itself."""
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
    """All that can be reached from a memory along these edges."""
    found: set[str] = set()
    pending = [slug]
    while pending:
        for other in edges.get(pending.pop(), ()):
            if other not in found:
                found.add(other)
                pending.append(other)
    return found
