"""Stores a candidate: adds it, updates a memory, or supersedes one."""

from msgspec.structs import replace

from outlive.memory.learning.candidate import Candidate, against, known_as, learned, short_name
from outlive.memory.memories import Memories
from outlive.memory.prompt_block import key_of
from outlive.memory.search import Finder
from outlive.stores.memories.records import Memory

MAX_COMPARED = 60
"""A candidate is compared with this many memories, those that share the most words with it."""


def keep(candidate: Candidate, memories: Memories, finder: Finder) -> str:
    """Add, update or supersede, whichever fits; returns what was done."""
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
    """Memories that the candidate may repeat, extend or correct: those with its name, and those that share the most
    words."""
    words = finder.look().near(f"{candidate.name}\n{candidate.body}", MAX_COMPARED)
    return list({key_of(memory): memory for memory in (*memories.called(candidate.name), *words)}.values())
