"""Keeping something new in its place among what is known."""

from msgspec.structs import replace

from outlive.memory.learning.candidate import Candidate, against, known_as, learned, short_name
from outlive.memory.memories import Memories
from outlive.memory.prompt_block import key_of
from outlive.memory.search import Finder
from outlive.stores.memories.records import Memory

NEAR = 60
"""Memories that something new is compared with: those that have most words in common with it."""


def keep(candidate: Candidate, memories: Memories, finder: Finder) -> str:
    """Add, update or supersede, whichever fits; says what was done."""
    if candidate.scope not in memories.stores:
        candidate = replace(candidate, scope="project")
    close = near(candidate, memories, finder)
    placed = against(candidate, close)
    if placed is None:
        known = known_as(candidate, close)
        return f"remembered already as {known.name if known else candidate.name}"
    if placed.action == "add" and memories.called(placed.name):
        placed = replace(placed, name=short_name(placed.body))  # what is called so is the user's word, and stays
    old = memories.get(placed.target).name if placed.action == "supersede" else ""
    return learned(memories.learn(placed), in_place_of=old)


def near(candidate: Candidate, memories: Memories, finder: Finder) -> list[Memory]:
    """What it may say again, say more about or correct: what is called so, and what has most words in common."""
    words = finder.look().near(f"{candidate.name}\n{candidate.body}", NEAR)
    return list({key_of(memory): memory for memory in (*memories.called(candidate.name), *words)}.values())
