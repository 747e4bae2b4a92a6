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
from outlive.stores.log_elsewhere import SPILL, GetBlob, PutBlob, outsourced, sketch, stored, whole, with_text
from outlive.stores.log_protocol import Damage

TITLE = 80
REPLAY = "replay"
"""The label of the checkpoint that says: this log is derived and may be replaced."""


def to_line(event: Event, put_blob: PutBlob) -> bytes:
    """One line of the log, without the line end. A blob is on disk before the line that names it."""
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


def from_lines(lines: Iterable[tuple[str, bytes]], get_blob: GetBlob) -> tuple[tuple[Event, ...], tuple[Damage, ...]]:
    """Read lines, each with the name of its place; what comes out is what went in."""
    events: list[Event] = []
    damage: list[Damage] = []
    last = 0
    for where, line in lines:
        if not line.strip():
            continue
        try:
            event = decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            damage.append(Damage(where, f"not an event ({_reason(error)}); left out, the line stays as it is"))
            continue
        if event.id <= last:
            damage.append(Damage(where, f"event {event.id} after event {last}; left out, the line stays as it is"))
            continue
        last = event.id
        lost: list[str] = []
        if isinstance(event, ToolFinished):
            event = with_text(event, get_blob, lost.append)
        elif (found := stored(event)) is not None:
            event = whole(found, get_blob, lost.append)
        damage += [Damage(where, what) for what in lost]
        events.append(event)
    return tuple(events), tuple(damage)


def _reason(error: Exception) -> str:
    return str(error).partition(" - at ")[0]


class Head:
    """What the first events of a log tell about it."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.started = 0.0
        self.title = ""
        self.session = ""
        self.forked_from = ""
        self.replay = False
        for number, event in enumerate(events):
            self.started = self.started or event.time
            match event:
                case SessionStarted():
                    self.session = event.session
                case Forked() if not number:
                    self.forked_from = event.session
                case UserSaid() if not self.title:
                    self.title = " ".join(plain_text(event.blocks).split())[:TITLE]
                case Checkpointed():
                    self.replay = self.replay or event.label == REPLAY
                case _:
                    pass


def decoded(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events among lines, without a look at blobs; what is none is passed over."""
    for line in lines:
        if line.strip():
            try:
                event = decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            found = stored(event)
            yield event if found is None else sketch(found)
