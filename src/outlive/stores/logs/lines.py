"""Events as log lines, for every engine: large texts become blobs; unreadable lines are reported and skipped."""

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
from outlive.stores.logs.blobs import BLOB_MIN_CHARS, GetBlob, PutBlob, line_with_blobs, once, whole
from outlive.stores.logs.digests import DigestReader
from outlive.stores.logs.protocol import Damage, SessionInfo, SessionTooLarge

MAX_TITLE_CHARS = 80  # of the first message, as lists show it
MAX_LOG_BYTES = 1 << 30
"""Largest log that is read; a long session has a thousandth of it."""
MAX_LINE_BYTES = 256 * 2**20
"""Longest line that is read."""
MAX_DAMAGE_NAMED = 1000
"""Damaged lines that are reported one by one."""
REPLAY_LABEL = "replay"
"""Label of the checkpoint that marks a log as derived, so that it may be replaced."""


def to_lines(events: Iterable[Event], put_blob: PutBlob) -> list[bytes]:
    """One line for each event, without the line end. A blob is on disk before the line that refers to it."""
    return [_line(event, put_blob) for event in events]


def _line(event: Event, put_blob: PutBlob) -> bytes:
    if isinstance(event, ToolFinished):
        if len(event.text) >= BLOB_MIN_CHARS:
            event = replace(event, text="", blob=put_blob(event.text.encode()))
        elif event.text and event.blob:
            event = replace(event, blob="")
    return line_with_blobs(event, put_blob) or encode(event)


def mended(event: Event) -> Event:
    """The event with lone surrogates replaced: they come from cut-off escapes and cannot be encoded."""
    if isinstance(event, Unknown):
        return event
    whole: KnownEvent = msgspec.convert(mended_value(msgspec.to_builtins(event)), KnownEvent)
    return whole


def mended_value(value: Any) -> Any:
    """The same for any JSON value."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, (list, tuple)):
        return [mended_value(item) for item in value]
    if isinstance(value, dict):
        return {mended_value(key): mended_value(item) for key, item in value.items()}
    return value


class LineReader:
    """Reads the lines of one log, at once or as they are written."""

    def __init__(self, get_blob: GetBlob) -> None:
        self._get_text = once(get_blob)
        self._digests = DigestReader()
        self._last = 0
        """The id of the last event."""

    def read(self, lines: Iterable[tuple[str, bytes | None]]) -> tuple[tuple[Event, ...], tuple[Damage, ...]]:
        """The events of the next lines, each given with the name of its place; None: a line too long to read."""
        events: list[Event] = []
        damage: list[Damage] = []
        more, where = 0, ""
        for where, line in lines:
            if line is not None and not line.strip():
                continue
            found = _read(line, self._last)
            if isinstance(found, str):
                if len(damage) < MAX_DAMAGE_NAMED:
                    damage.append(Damage(where, f"{found}; left out, the line stays as it is"))
                else:
                    more += 1
                continue
            self._last = found.id
            known = self._digests.whole(found)
            if isinstance(known, str):
                damage.append(Damage(where, f"{known}; left out, the line stays as it is"))
                continue
            lost: list[str] = []
            events.append(whole(known, self._get_text, lost.append))
            damage += [Damage(where, what) for what in lost]
        if more:
            damage.append(Damage(where, f"and {more} more lines before this one cannot be read; they stay"))
        return tuple(events), tuple(damage)


def _read(line: bytes | None, last: int) -> Event | str:
    """The event in a line, or why there is none."""
    if line is None:
        return f"longer than {MAX_LINE_BYTES >> 20} MiB"
    try:
        event = decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return f"not an event ({str(error).partition(' - at ')[0]})"
    return event if event.id > last else f"event {event.id} after event {last}"


def refuse_too_large(where: str, size: int) -> None:
    """Raise SessionTooLarge for a log that would not fit into memory."""
    if size > MAX_LOG_BYTES:
        raise SessionTooLarge(
            f"{where} has {size / 2**30:.1f} GiB, and at most {MAX_LOG_BYTES >> 30} GiB of a session are read; "
            "nothing was read or changed. Move it away, or begin a new session"
        )


def session_info(session: str, head: Iterable[Event], updated: float, last_event: int, size: int) -> SessionInfo:
    """The entry of a session in a list, from its first events, which also tell its id if it is not given."""
    started, title, folder, forked_from, replay, named = 0.0, "", "", "", False, ""
    for number, event in enumerate(head):
        started = started or event.time
        match event:
            case SessionStarted():
                named, folder = event.session, event.folder
            case Forked() if not number:
                forked_from = event.session
            case UserSaid() if not title:
                title = " ".join((user_words(event.blocks) or plain_text(event.blocks)).split())[:MAX_TITLE_CHARS]
            case Checkpointed():
                replay = replay or event.label == REPLAY_LABEL
            case _:
                pass
    return SessionInfo(session or named, started, updated, last_event, size, title, forked_from, replay, folder)


def decoded(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events in lines, without reading blobs; lines without an event are skipped."""
    for line in lines:
        if line.strip():
            try:
                event = decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            yield sketch(event)


def sketch(event: Event) -> Event:
    """An event as its line alone tells it: a large text is cut to its beginning, a pass has no digest."""
    return blobs.sketch(digests.sketch(event))
