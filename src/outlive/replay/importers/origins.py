"""The origin of recorded texts in the user's turn, read from their markup: other programs do not record it."""

import re
from collections.abc import Iterable, Iterator

from outlive.messages import Block, Text
from outlive.origin import origin_of

_AMONG = re.compile(r"(<system-reminder\b[^<>]*>.*?</system-reminder>\s*)", re.DOTALL)
"""What harnesses put into the same text as the user's words."""


def with_origins(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks of a user's message, each text with its origin. Reminders among the user's words become texts."""
    for block in blocks:
        if not isinstance(block, Text) or block.origin:
            yield block
        elif (origin := origin_of(block)) != "user":
            yield Text(block.text, origin)
        else:
            parts = _AMONG.split(block.text)
            yield from (Text(part, "harness" if at % 2 else "user") for at, part in enumerate(parts) if part)


def by_harness(text: str) -> Text:
    """A text that is known not to be the user's; guides to the project count as memories."""
    return Text(text, "memory" if origin_of(Text(text)) == "memory" else "harness")
