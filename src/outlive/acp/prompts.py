"""Converts a prompt of the editor to blocks. What the user typed is the user's; attachments are data."""

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import Any

from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
)

from acp import RequestError
from outlive.messages import Block, Image, Text
from outlive.origin import tagged
from outlive.printable import one_line
from outlive.tools.files.images import image, media_type, problem

MAX_ADDRESS_CHARS = 1000  # of a resource's URI: the start tells which one it is
INVALID_PARAMS = -32602  # the code of JSON-RPC


def invalid(message: str) -> RequestError:
    """The error for a request with unusable content."""
    return RequestError(INVALID_PARAMS, message)


def prompt_blocks(content: Iterable[Any]) -> tuple[Block, ...]:
    """The blocks of a prompt. Raises RequestError for content that no model can be shown, and for an empty prompt."""
    blocks = tuple(block for number, part in enumerate(content, 1) for block in _blocks(part, f"part {number}"))
    if not blocks:
        raise invalid("the prompt is empty")
    return blocks


def _blocks(part: Any, where: str) -> Iterator[Block]:
    match part:
        case TextContentBlock() if part.text.strip():
            yield Text(part.text, "user")
        case ImageContentBlock():
            yield _picture(part.data, where)
        case ResourceContentBlock():
            yield _attached("attached-link", part.uri)
        case EmbeddedResourceContentBlock(resource=BlobResourceContents() as blob):
            yield _attached("attached-picture", blob.uri)
            yield _picture(blob.blob, f"{where} ({_address(blob.uri)})")
        case EmbeddedResourceContentBlock():
            yield _attached("attached-file", part.resource.uri, part.resource.text)
        case AudioContentBlock():
            raise invalid(f"{where} of the prompt is audio, which no model is sent; send text or pictures")


def _attached(tag: str, uri: str, text: str | None = None) -> Text:
    """An attachment: its address, and its text if the editor sent it."""
    return Text(tagged(tag, _address(uri) if text is None else f"{_address(uri)}\n{text}"), "stdin")


def _address(uri: str) -> str:
    return one_line(uri, MAX_ADDRESS_CHARS)


def _picture(data: str, where: str) -> Image:
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise invalid(f"{where} of the prompt is not valid base64") from None
    kind = media_type(raw)
    if not kind:
        raise invalid(f"{where} of the prompt is not a picture (PNG, JPEG, GIF or WebP); name the file instead")
    if why := problem(raw, kind):
        raise invalid(f"{where} of the prompt {why}")
    return image(raw, kind)
