"""The default summary of a compaction: mediocre on purpose, and always the same for the same request."""

from collections.abc import Callable
from typing import TypeAlias

from outlive.testing.simulator.seen import SeenRequest

Summarize: TypeAlias = Callable[[SeenRequest], str | None]
"""Maps a compaction request to its summary; None (or nothing) is a compaction that failed."""
MAX_CHARS, OF_EACH = 2000, 60
"""Characters of the summary, and of each text in it."""


def first_words(request: SeenRequest) -> str:
    """Return the start of each text of the user and the assistant, oldest first, until the summary is full."""
    lines = [f"- {' '.join(text.split())[:OF_EACH]}" for text in request.texts()]
    kept, length = list[str](), 0
    for line in lines or ["- No text."]:
        length += len(line) + 1
        if length > MAX_CHARS:
            break
        kept.append(line)
    return "\n".join(kept)
