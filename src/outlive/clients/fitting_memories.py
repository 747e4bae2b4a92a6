"""The memories that fit what the user says."""

from collections.abc import Callable

from outlive.memory.memories import Memories
from outlive.memory.prompt_block import block, shown_in
from outlive.memory.search import Finder

MAX_MEMORIES = 5
"""Memories with a prompt."""


def fitting_memories(memories: Memories, words: str, in_view: Callable[[], str]) -> str:
    """A block of memories, empty if none fits; those that the model still sees are left out."""
    if not memories.all():
        return ""
    found = [memory for memory, _ in Finder(memories, dense=False).look().select(words, MAX_MEMORIES)]
    seen = shown_in(in_view()) if found else set()
    return block([memory for memory in found if not shown_in(block([memory])) <= seen])
