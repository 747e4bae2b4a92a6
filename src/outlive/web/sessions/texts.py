"""Texts of events for the page: bounded, with nothing in them that a browser could act on; the rest on request."""

import json
from base64 import b64decode
from binascii import Error as NotBase64

import msgspec

from outlive.context.log.pieces import call_text
from outlive.events import (
    AssistantSaid,
    Compacted,
    Event,
    Noted,
    Renewed,
    SessionStarted,
    StateShown,
    SystemChanged,
    ToolFinished,
    UserQueued,
    UserSaid,
)
from outlive.messages import Block, Image, Opaque, Text, Thinking, ToolCall
from outlive.printable import clean, clean_output
from outlive.web.api import HttpProblem

LONGEST = 6_000
"""Characters of a text that are sent with an item."""
LONGEST_RESULT = 1_600
"""Of a result: two thirds of how it begins, one third of how it ends."""
PAGE = 100_000
"""Characters of one answer when the whole text is asked for."""


class CutText(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text, or how it begins and ends."""

    text: str
    size: int
    """Characters of the whole."""
    end: str = ""
    """How it ends, if it was cut in the middle."""
    cut: int = 0
    """Characters that were left out."""


def cut(text: str, most: int = LONGEST) -> CutText:
    """A text, cut at its end."""
    return CutText(clean(text[:most]), len(text), cut=max(0, len(text) - most))


def cut_middle(text: str, most: int = LONGEST_RESULT) -> CutText:
    """Output of a program, cut in the middle."""
    if len(text) <= most:
        return CutText(clean_output(text), len(text))
    head, tail = most * 2 // 3, most // 3
    return CutText(clean_output(text[:head]), len(text), clean_output(text[-tail:]), len(text) - head - tail)


def text_of(event: Event, block: int) -> str:
    """A whole text of an event, as the log has it. Raises HttpProblem."""
    match event:
        case UserSaid() | AssistantSaid():
            if block < len(event.blocks):
                return _block_text(event.blocks[block])
        case ToolFinished() | StateShown() | Noted() | UserQueued():
            return event.text
        case Renewed():
            return event.handoff
        case SessionStarted() | SystemChanged():
            return event.system
        case Compacted():
            return "\n".join(filter(None, (event.words, event.digest, event.facts, event.request)))
        case _:
            pass
    raise HttpProblem(404, f"event {event.id} has no text {block}", code="unknown_text")


def _block_text(block: Block) -> str:
    match block:
        case Text() | Thinking():
            return block.text
        case ToolCall():
            return call_text(block)
        case Opaque():
            return json.dumps(block.data, ensure_ascii=False)
        case _:
            return ""


def text_page(text: str, start: int) -> dict[str, object]:
    """A part of a text, and where the next one begins."""
    end = start + PAGE
    return {"text": clean(text[start:end]), "size": len(text), "next": end if end < len(text) else None}


def images_of(event: Event, block: int) -> tuple[Image, ...]:
    """The pictures of a block, or of a result."""
    if isinstance(event, ToolFinished):
        return event.images
    if isinstance(event, UserSaid | AssistantSaid) and block < len(event.blocks):
        found = event.blocks[block]
        return (found,) if isinstance(found, Image) else ()
    return ()


def picture_bytes(image: Image) -> bytes:
    """The bytes of a picture that is in the log. Raises HttpProblem."""
    try:
        data = b64decode(image.data, validate=True)
    except (NotBase64, ValueError):
        data = b""
    if not data:
        raise HttpProblem(404, "this picture is not in the log, only its address", code="unknown_picture")
    return data
