"""Problems of memories that are all readable."""

from collections.abc import Iterator

from outlive.memory import guard
from outlive.memory.memories import Memories
from outlive.memory.supersession import reach
from outlive.stores.memories.protocol import REPAIR
from outlive.stores.memories.records import Memory
from outlive.stores.tasks.protocol import Problem


def problems(memories: Memories) -> list[Problem]:
    """All problems: damaged, oversized and poisoned files, and references that lead nowhere."""
    found = [
        Problem(f"{scope}/MEMORY.md", "was out of date", "rewritten just now", harmless=True)
        for scope in memories.healed
    ]
    for scope, store in memories.stores.items():
        found += store.check()
        everything = store.read(lambda tx: tx.all(archived=True))
        found += [problem for memory in everything if not memory.archived for problem in _of(memory)]
        found += _dangling(scope, everything)
    return found


def repair(memories: Memories) -> list[str]:
    """Quarantine damaged and poisoned memories, and rewrite the indexes. Nothing is deleted."""
    done = []
    for scope, store in memories.stores.items():
        if any(problem.repairable for problem in store.check()):
            done += store.repair()
        for memory in store.read(lambda tx: tx.all()):
            if reason := guard.poison(memory):
                done.append(f"set {scope}/{memory.slug} apart ({reason}) as {store.set_apart(memory.slug)}")
    return done + [f"rewrote the index of the {scope} memory" for scope in memories.heal()]


def _of(memory: Memory) -> Iterator[Problem]:
    where = f"{memory.scope}/{memory.slug}"
    if reason := guard.poison(memory):
        remedy = "edit it, or repair it, which sets it apart"
        yield Problem(where, f"{reason}; it is not shown to a model", remedy, repairable=True, code=REPAIR)
    elif memory.provenance.untrusted:
        what = "came with the folder; it is not shown to a model"
        remedy = "look at it, then trust the folder or confirm it"
        yield Problem(where, what, remedy, code="untrusted_memory", data={"name": where})
    elif guard.needs_confirmation(memory):
        what = f"instructs, and {guard.came_from(memory)} without the user's consent; it is not shown to a model"
        yield Problem(where, what, "confirm it, or forget it", code="unconfirmed_memory", data={"name": where})


def _dangling(scope: str, everything: list[Memory]) -> Iterator[Problem]:
    edges = {memory.slug: memory.supersedes for memory in everything}
    for memory in everything:
        for field, slugs in (("supersedes", memory.supersedes), ("derived_from", memory.derived_from)):
            lost = [slug for slug in slugs if slug not in edges]
            if lost and not memory.archived:
                what = f"{field} names {', '.join(lost)}, which is not there"
                yield Problem(f"{scope}/{memory.slug}", what, "take it out of the frontmatter", harmless=True)
        if memory.slug in reach(memory.slug, edges):
            what = "supersedes itself by way of others, so nothing is hidden"
            yield Problem(f"{scope}/{memory.slug}", what, "edit one of them")
