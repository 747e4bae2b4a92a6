"""Who wrote a text in the user's turn: a field of the text (`Text.origin`), set where it is created.

`user_words` is the one function for the user's own words; everything that only the user may decide uses it. Markup
(`tagged`) shows a text of another origin to the model and is parsed only in logs from before events of version 4,
whose texts have no origin.
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
    """The blocks of a new message: a text without an origin is the user's."""
    return tuple(replace(b, origin="user") if isinstance(b, Text) and not b.origin else b for b in blocks)


def origin_of(block: Text) -> Origin:
    """Who wrote a text. In old logs without the field, its beginning tells."""
    if block.origin or not _INJECTED.match(block.text):
        return block.origin or "user"
    return "memory" if _GUIDE.search(block.text, 0, _GUIDE_WITHIN) else "harness"


def own_words(block: Block) -> str:
    """The user's own words in a block: all of it or nothing; in an old log, the text outside of tags."""
    if not isinstance(block, Text):
        return ""
    if block.origin:
        return block.text if block.origin == "user" else ""
    return outside_tags(block.text)


def user_words(blocks: Iterable[Block]) -> str:
    """What the user said in a message, one paragraph a block."""
    return "\n\n".join(filter(None, map(own_words, blocks)))


def tagged(name: str, text: str) -> str:
    """Wrap a text that is not the user's for the model. The text cannot close the tag: if it contains the closing
    tag, another tag name is used."""
    tag, number = name, 1
    while f"</{tag}" in text:
        number += 1
        tag = f"{name}-{number}"
    return f"<{tag}>{text}</{tag}>"
