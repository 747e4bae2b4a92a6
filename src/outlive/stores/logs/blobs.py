"""Large parts of a message, stored as blobs: pasted text and images. The log line refers to them.

A reader that knows only version 1 of the events does not know blocks of the type `elsewhere`; it keeps such an event
as it is instead of showing it with a hole.
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

BLOB_MIN_CHARS = 16 * 1024
"""Texts of at least this many characters are stored as blobs."""
INLINE_CHARS = 200
"""Characters of a text that stay in the log line, for lists and for people."""

PutBlob = Callable[[bytes], str]
GetBlob = Callable[[str], bytes]
GetText = Callable[[str], str]
OnLost = Callable[[str], None]
"""Called with what could not be restored."""


class BlobRef(Struct, frozen=True, tag="elsewhere", omit_defaults=True):
    """Placeholder for a text or an image in a log line."""

    blob: str
    what: Literal["text", "image"] = "text"
    begins: str = ""
    media_type: str = ""
    origin: Origin = ""


class _UserSaid(Base, frozen=True, kw_only=True, tag="user_said"):
    """UserSaid in the form of a log line."""

    blocks: tuple[Block | BlobRef, ...]
    queued: tuple[int, ...] = ()


class _ToolFinished(Base, frozen=True, kw_only=True, tag="tool_finished"):
    """ToolFinished in the form of a log line."""

    call_id: str
    text: str
    is_error: bool = False
    exit_code: int | None = None
    images: tuple[Image | BlobRef, ...] = ()
    blob: str = ""
    seconds: float = 0.0
    denied: Denial | None = None


_Stored = _UserSaid | _ToolFinished
_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[_Stored] = msgspec.json.Decoder(_Stored)


def line_with_blobs(event: Event, put_blob: PutBlob) -> bytes | None:
    """The line of an event with its large parts stored as blobs; None if it has none."""
    if isinstance(event, UserSaid) and any(map(_is_large, event.blocks)):
        blocks = tuple(_put(block, put_blob) if _is_large(block) else block for block in event.blocks)
        return _encode(_UserSaid(**{**asdict(event), "blocks": blocks}))
    if isinstance(event, ToolFinished) and any(map(_is_large, event.images)):
        images = tuple(_put(image, put_blob) if _is_large(image) else image for image in event.images)
        return _encode(_ToolFinished(**{**asdict(event), "images": images}))
    return None


def _is_large(block: Block) -> bool:
    if isinstance(block, Image):
        return len(block.data) >= BLOB_MIN_CHARS and not block.url
    return isinstance(block, Text) and len(block.text) >= BLOB_MIN_CHARS


def _put(block: Block, put_blob: PutBlob) -> BlobRef:
    if isinstance(block, Image):
        return BlobRef(put_blob(block.data.encode()), "image", media_type=block.media_type)
    text = block if isinstance(block, Text) else Text("")
    return BlobRef(put_blob(text.text.encode()), begins=text.text[:INLINE_CHARS], origin=text.origin)


def _stored(event: Event) -> _Stored | None:
    """The parts of a line that `decode` could not read, if it is one of ours."""
    if not isinstance(event, Unknown) or b'"elsewhere"' not in event.raw:
        return None
    try:
        return _decoder.decode(event.raw)
    except msgspec.ValidationError:
        return None


def has_blobs(event: Event) -> bool:
    """Whether parts of an event are stored as blobs."""
    return _stored(event) is not None or (isinstance(event, ToolFinished) and bool(event.blob))


def whole(event: Event, get_text: GetText, lost: OnLost) -> Event:
    """The complete event with its blobs restored. A lost blob is replaced by a note."""
    if isinstance(event, ToolFinished):
        return _with_text(event, get_text, lost)
    found = _stored(event)
    if found is None:
        return event
    if isinstance(found, _UserSaid):
        blocks = tuple(_got(b, get_text, lost) if isinstance(b, BlobRef) else b for b in found.blocks)
        return UserSaid(**{**asdict(found), "blocks": blocks})
    images = [_got(i, get_text, lost) if isinstance(i, BlobRef) else i for i in found.images]
    kept = tuple(image for image in images if isinstance(image, Image))
    gone = "".join(f"\n{block.text}" for block in images if isinstance(block, Text))
    result = _with_text(ToolFinished(**{**asdict(found), "images": kept}), get_text, lost)
    return replace(result, text=result.text + gone) if gone else result


def sketch(event: Event) -> Event:
    """The event without reading blobs: a large text is cut to its beginning, an image is left out."""
    found = _stored(event)
    if found is None:
        return event
    if isinstance(found, _UserSaid):
        blocks = (Text(b.begins, b.origin) if isinstance(b, BlobRef) else b for b in found.blocks)
        return UserSaid(**{**asdict(found), "blocks": tuple(blocks)})
    images = tuple(image for image in found.images if isinstance(image, Image))
    return ToolFinished(**{**asdict(found), "images": images})


def verified(data: bytes | None, digest: str, where: str) -> bytes:
    """The data, if it matches its digest. Raises DamagedBlob."""
    if data is None:
        raise DamagedBlob(f"{where} is missing")
    if hashlib.sha256(data).hexdigest() != digest:
        raise DamagedBlob(f"{where} was changed or damaged; its content is not what was written")
    return data


def once(get_blob: GetBlob) -> GetText:
    """Caches blobs: a file that was printed ten times is one text in memory."""
    known: dict[str, str] = {}

    def get_text(digest: str) -> str:
        if digest not in known:
            try:
                known[digest] = get_blob(digest).decode()
            except UnicodeDecodeError:
                raise DamagedBlob(f"blob {digest} is not text") from None
        return known[digest]

    return get_text


def _with_text(event: ToolFinished, get_text: GetText, lost: OnLost) -> ToolFinished:
    if not event.blob:
        return event
    try:
        return replace(event, text=get_text(event.blob), blob="")
    except DamagedBlob as error:
        lost(f"the text of result {event.id} is lost: {error}")
        return replace(event, text=f"[the text of this result is lost: {error}]")


def _got(part: BlobRef, get_text: GetText, lost: OnLost) -> Text | Image:
    try:
        text = get_text(part.blob)
    except DamagedBlob as error:
        if part.what == "image":
            lost(f"a picture is lost: {error}")
            return Text(f"[a picture is lost: {error}]", "harness")
        lost(f"a text is lost: {error}")
        return Text(f"{part.begins}… [the rest of this text is lost: {error}]", part.origin)
    return Text(text, part.origin) if part.what == "text" else Image(part.media_type, text)
