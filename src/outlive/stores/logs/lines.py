"""Events as lines, for every engine: large texts are kept as blobs, what cannot be read is named and left out."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from outlive.events import (
    Checkpointed,
    Event,
    Forked,
    KnownEvent,
    SessionStarted,
    ToolFinished,
    Unknown,
    UserSaid,
    decode,
    encode,
)
from outlive.messages import plain_text
from outlive.origin import user_words
from outlive.stores.logs import blobs, digests
from outlive.stores.logs.blobs import SPILL, GetBlob, PutBlob, once, outsourced, whole
from outlive.stores.logs.digests import DigestReader
from outlive.stores.logs.protocol import Damage, SessionInfo, SessionTooLarge

TITLE = 80
LARGEST = 1 << 30
"""Bytes of a log that are read: a long session has a thousandth of it."""
LONGEST = 256 * 2**20
"""Bytes of a line that are read."""
MOST_DAMAGE = 1000
"""Damaged lines that are named one by one."""
REPLAY = "replay"
"""The label of the checkpoint that says: this log is derived and may be replaced."""


def to_lines(events: Iterable[Event], put_blob: PutBlob) -> list[bytes]:
    """A line for each event, without the line end. A blob is on disk before the line that names it."""
    return [_line(event, put_blob) for event in events]


def _line(event: Event, put_blob: PutBlob) -> bytes:
    if isinstance(event, ToolFinished):
        if len(event.text) >= SPILL:
            event = replace(event, text="", blob=put_blob(event.text.encode()))
        elif event.text and event.blob:
            event = replace(event, blob="")
    return outsourced(event, put_blob) or encode(event)


def mended(event: Event) -> Event:
    """The event with halves of surrogate pairs replaced: they come out of cut-off escapes and cannot be written."""
    if isinstance(event, Unknown):
        return event
    whole: KnownEvent = msgspec.convert(mended_value(msgspec.to_builtins(event)), KnownEvent)
    return whole


def mended_value(value: Any) -> Any:
    """The same for anything that JSON can hold."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, (list, tuple)):
        return [mended_value(item) for item in value]
    if isinstance(value, dict):
        return {mended_value(key): mended_value(item) for key, item in value.items()}
    return value


def from_lines(
    lines: Iterable[tuple[str, bytes | None]], get_blob: GetBlob
) -> tuple[tuple[Event, ...], tuple[Damage, ...]]:
    """Read lines, each with the name of its place; what comes out is what went in. None: a line too long to read."""
    events: list[Event] = []
    damage: list[Damage] = []
    more, last, where = 0, 0, ""
    get_text, digests = once(get_blob), DigestReader()
    for where, line in lines:
        if line is not None and not line.strip():
            continue
        found = _read(line, last)
        if isinstance(found, str):
            if len(damage) < MOST_DAMAGE:
                damage.append(Damage(where, f"{found}; left out, the line stays as it is"))
            else:
                more += 1
            continue
        last = found.id
        known = digests.whole(found)
        if isinstance(known, str):
            damage.append(Damage(where, f"{known}; left out, the line stays as it is"))
            continue
        lost: list[str] = []
        events.append(whole(known, get_text, lost.append))
        damage += [Damage(where, what) for what in lost]
    if more:
        damage.append(Damage(where, f"and {more} more lines before this one are no events; left out, they stay"))
    return tuple(events), tuple(damage)


def _read(line: bytes | None, last: int) -> Event | str:
    """The event in a line, or why there is none."""
    if line is None:
        return f"longer than {LONGEST >> 20} MiB"
    try:
        event = decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return f"not an event ({str(error).partition(' - at ')[0]})"
    return event if event.id > last else f"event {event.id} after event {last}"


def refuse_too_large(where: str, size: int) -> None:
    """A log that would not fit into memory is refused before it is read."""
    if size > LARGEST:
        raise SessionTooLarge(
            f"{where} has {size / 2**30:.1f} GiB, and at most {LARGEST >> 30} GiB of a session are read; "
            "nothing was read or changed. Move it away, or begin a new session"
        )


def session_info(session: str, head: Iterable[Event], updated: float, last_event: int, size: int) -> SessionInfo:
    """A session in one line of a list, from its first events; they also tell its id where that is not given."""
    started, title, folder, forked_from, replay, named = 0.0, "", "", "", False, ""
    for number, event in enumerate(head):
        started = started or event.time
        match event:
            case SessionStarted():
                named, folder = event.session, event.folder
            case Forked() if not number:
                forked_from = event.session
            case UserSaid() if not title:
                title = " ".join((user_words(event.blocks) or plain_text(event.blocks)).split())[:TITLE]
            case Checkpointed():
                replay = replay or event.label == REPLAY
            case _:
                pass
    return SessionInfo(session or named, started, updated, last_event, size, title, forked_from, replay, folder)


def decoded(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events among lines, without a look at blobs; what is none is passed over."""
    for line in lines:
        if line.strip():
            try:
                event = decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            yield sketch(event)


def sketch(event: Event) -> Event:
    """An event as its line alone tells it: of a large text how it begins, of a pass no digest."""
    return blobs.sketch(digests.sketch(event))
