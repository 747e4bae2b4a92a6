"""Who a text in the user's turn is from: a field of it (`Text.origin`), set where the text is created.

`user_words` answers what the user said; everything that may only follow the user asks it. Markup (`tagged`) is how a
text of another origin is shown to the model, and is not read again, except in logs from before events of version 4:
their texts have no origin.
"""

import re
from collections.abc import Iterable

from msgspec.structs import replace

from outlive.messages import Block, Origin, Text
from outlive.sentences import outside_tags

_INJECTED = re.compile(
    r"\s*(?:<(?!command-|task>)[a-z][\w-]*[ >\n]|<!--|# AGENTS\.md|This session is being continued|Caveat: "
    r"|Base directory for this skill: )"
)
_GUIDE, _GUIDE_WITHIN = re.compile(r"^# (?:AGENTS\.md|claudeMd)", re.MULTILINE), 2_000


def by_user(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The blocks of a message that is sent now: a text without an origin is the user's."""
    return tuple(replace(b, origin="user") if isinstance(b, Text) and not b.origin else b for b in blocks)


def origin_of(block: Text) -> Origin:
    """Who a text is from. Without the field, as in old logs, it is told by how the text begins."""
    if block.origin or not _INJECTED.match(block.text):
        return block.origin or "user"
    return "memory" if _GUIDE.search(block.text, 0, _GUIDE_WITHIN) else "harness"


def own_words(block: Block) -> str:
    """The user's own words in a block: all of it or nothing; of an old log, what is outside of tags."""
    if not isinstance(block, Text):
        return ""
    if block.origin:
        return block.text if block.origin == "user" else ""
    return outside_tags(block.text)


def user_words(blocks: Iterable[Block]) -> str:
    """What the user said in a message, one paragraph a block."""
    return "\n\n".join(filter(None, map(own_words, blocks)))


def tagged(name: str, text: str) -> str:
    """How a text that is not the user's is shown to the model. Nothing in the text can end its block: where the text
    has such an end, the tag has another name."""
    tag, number = name, 1
    while f"</{tag}" in text:
        number += 1
        tag = f"{name}-{number}"
    return f"<{tag}>{text}</{tag}>"
