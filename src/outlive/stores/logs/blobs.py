"""Large parts of a message, kept as blobs: what the user pasted, and pictures. The line says where they are.

A block of the type `elsewhere` is unknown to an outlive that knows version 1 of the events only: it carries such an
event along as it is, instead of showing it with a hole.
"""

import hashlib
from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from outlive.events import Base, Denial, Event, ToolFinished, Unknown, UserSaid
from outlive.messages import Block, Image, Origin, Text
from outlive.stores.logs.protocol import DamagedBlob

SPILL = 16 * 1024
"""Characters from which on a text is kept as a blob."""
BEGINS = 200
"""Characters of a text that stay in the line, for lists and for people."""

PutBlob = Callable[[bytes], str]
GetBlob = Callable[[str], bytes]
GetText = Callable[[str], str]
Lost = Callable[[str], None]
"""Is told what could not be had back."""


class Elsewhere(Struct, frozen=True, tag="elsewhere", omit_defaults=True):
    """Placeholder for a text or a picture in a log line."""

    blob: str
    what: Literal["text", "image"] = "text"
    begins: str = ""
    media_type: str = ""
    origin: Origin = ""


class _UserSaid(Base, frozen=True, kw_only=True, tag="user_said"):
    """What the user said, as a line has it."""

    blocks: tuple[Block | Elsewhere, ...]
    queued: tuple[int, ...] = ()


class _ToolFinished(Base, frozen=True, kw_only=True, tag="tool_finished"):
    """A result, as a line has it."""

    call_id: str
    text: str
    is_error: bool = False
    exit_code: int | None = None
    images: tuple[Image | Elsewhere, ...] = ()
    blob: str = ""
    seconds: float = 0.0
    denied: Denial | None = None


_Stored = _UserSaid | _ToolFinished
_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[_Stored] = msgspec.json.Decoder(_Stored)


def outsourced(event: Event, put_blob: PutBlob) -> bytes | None:
    """The line of an event with its large parts put elsewhere; nothing when it has none."""
    if isinstance(event, UserSaid) and any(map(_is_large, event.blocks)):
        blocks = tuple(_put(block, put_blob) if _is_large(block) else block for block in event.blocks)
        return _encode(_UserSaid(**{**asdict(event), "blocks": blocks}))
    if isinstance(event, ToolFinished) and any(map(_is_large, event.images)):
        images = tuple(_put(image, put_blob) if _is_large(image) else image for image in event.images)
        return _encode(_ToolFinished(**{**asdict(event), "images": images}))
    return None


def _is_large(block: Block) -> bool:
    if isinstance(block, Image):
        return len(block.data) >= SPILL and not block.url
    return isinstance(block, Text) and len(block.text) >= SPILL


def _put(block: Block, put_blob: PutBlob) -> Elsewhere:
    if isinstance(block, Image):
        return Elsewhere(put_blob(block.data.encode()), "image", media_type=block.media_type)
    text = block if isinstance(block, Text) else Text("")
    return Elsewhere(put_blob(text.text.encode()), begins=text.text[:BEGINS], origin=text.origin)


def _stored(event: Event) -> _Stored | None:
    """The parts of a line that `decode` could not read, when it is one of ours."""
    if not isinstance(event, Unknown) or b'"elsewhere"' not in event.raw:
        return None
    try:
        return _decoder.decode(event.raw)
    except msgspec.ValidationError:
        return None


def has_parts_elsewhere(event: Event) -> bool:
    """Whether an event, as its line has it, is not all there."""
    return _stored(event) is not None or (isinstance(event, ToolFinished) and bool(event.blob))


def whole(event: Event, get_text: GetText, lost: Lost) -> Event:
    """The event as it was, with what was kept elsewhere put back. What is lost is said in its place."""
    if isinstance(event, ToolFinished):
        return _with_text(event, get_text, lost)
    found = _stored(event)
    if found is None:
        return event
    if isinstance(found, _UserSaid):
        blocks = tuple(_got(b, get_text, lost) if isinstance(b, Elsewhere) else b for b in found.blocks)
        return UserSaid(**{**asdict(found), "blocks": blocks})
    images = [_got(i, get_text, lost) if isinstance(i, Elsewhere) else i for i in found.images]
    kept = tuple(image for image in images if isinstance(image, Image))
    gone = "".join(f"\n{block.text}" for block in images if isinstance(block, Text))
    result = _with_text(ToolFinished(**{**asdict(found), "images": kept}), get_text, lost)
    return replace(result, text=result.text + gone) if gone else result


def sketch(event: Event) -> Event:
    """The event without a look at blobs: of a large text how it begins, of a picture nothing."""
    found = _stored(event)
    if found is None:
        return event
    if isinstance(found, _UserSaid):
        blocks = (Text(b.begins, b.origin) if isinstance(b, Elsewhere) else b for b in found.blocks)
        return UserSaid(**{**asdict(found), "blocks": tuple(blocks)})
    images = tuple(image for image in found.images if isinstance(image, Image))
    return ToolFinished(**{**asdict(found), "images": images})


def verified(data: bytes | None, digest: str, where: str) -> bytes:
    """What was found under a digest, if it is what was written."""
    if data is None:
        raise DamagedBlob(f"{where} is missing")
    if hashlib.sha256(data).hexdigest() != digest:
        raise DamagedBlob(f"{where} was changed or damaged; its content is not what was written")
    return data


def once(get_blob: GetBlob) -> GetText:
    """Reads each blob once: a file that was printed ten times is one text in memory."""
    known: dict[str, str] = {}

    def get_text(digest: str) -> str:
        if digest not in known:
            try:
                known[digest] = get_blob(digest).decode()
            except UnicodeDecodeError:
                raise DamagedBlob(f"blob {digest} is no text") from None
        return known[digest]

    return get_text


def _with_text(event: ToolFinished, get_text: GetText, lost: Lost) -> ToolFinished:
    if not event.blob:
        return event
    try:
        return replace(event, text=get_text(event.blob), blob="")
    except DamagedBlob as error:
        lost(f"the text of result {event.id} is lost: {error}")
        return replace(event, text=f"[the text of this result is lost: {error}]")


def _got(part: Elsewhere, get_text: GetText, lost: Lost) -> Text | Image:
    try:
        text = get_text(part.blob)
    except DamagedBlob as error:
        if part.what == "image":
            lost(f"a picture is lost: {error}")
            return Text(f"[a picture is lost: {error}]", "harness")
        lost(f"a text is lost: {error}")
        return Text(f"{part.begins}… [the rest of this text is lost: {error}]", part.origin)
    return Text(text, part.origin) if part.what == "text" else Image(part.media_type, text)
