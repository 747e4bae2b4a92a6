"""How memories stand to each other: what hides what, and what goes with what. Pure."""

from collections.abc import Iterable, Sequence

from outlive.stores.memory_records import Memory


def hidden_by(memories: Iterable[Memory]) -> dict[str, str]:
    """Slugs of superseded memories, each with the one that took its place. One in a ring hides no other."""
    live = {memory.slug: memory.supersedes for memory in memories if memory.archived is None}
    edges = {slug: olds for slug, olds in live.items() if olds}
    hidden = {}
    for slug, olds in edges.items():
        for old in olds:
            if old in live and old != slug and slug not in reach(old, edges):
                hidden[old] = slug
    return hidden


def cascade(slug: str, memories: Sequence[Memory]) -> list[str]:
    """What goes when this one goes, itself first."""
    follows = {memory.slug: list(memory.supersedes) for memory in memories}
    for memory in memories:
        for source in memory.derived_from:
            follows.setdefault(source, []).append(memory.slug)
    found, pending = {slug: None}, [slug]
    while pending:
        for other in follows.get(pending.pop(), ()):
            if other in follows and other not in found:
                found[other] = None
                pending.append(other)
    return list(found)


def reach(slug: str, edges: dict[str, tuple[str, ...]]) -> set[str]:
    """All that a memory supersedes, by way of others too."""
    found: set[str] = set()
    pending = [slug]
    while pending:
        for other in edges.get(pending.pop(), ()):
            if other not in found:
                found.add(other)
                pending.append(other)
    return found
