"""Our own logs: a transcript in `.transcripts`, or the output of `outlive session export`."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from outlive.events import AssistantSaid, Compacted, Event, SessionStarted, ToolFinished, UserSaid, decode
from outlive.messages import ToolResult
from outlive.replay.importers.lines import TranscriptLine
from outlive.replay.recording import Joiner, Recording
from outlive.stores.locations import TRANSCRIPTS
from outlive.stores.logs.blobs import has_blobs
from outlive.stores.logs.files import FileLogStore
from outlive.stores.logs.lines import sketch
from outlive.stores.logs.names import session_of
from outlive.stores.logs.reading import full_log


def read(path: Path, lines: list[TranscriptLine], skipped: tuple[str, ...]) -> Recording:
    """Read messages, calls and results; the replay makes its own passes and working state."""
    session = session_of(path.name)
    if session and path.absolute().parent.name == TRANSCRIPTS:
        log = full_log(FileLogStore(path.absolute().parent.parent), session)
        return recording_of(session, log.events, tuple(map(str, log.damage)))
    lost = list(skipped)
    events: list[Event] = []
    for line in lines:
        try:
            event = decode(msgspec.json.encode(line.value))
        except msgspec.DecodeError as error:
            lost.append(f"{path}, line {line.number}: not an event ({error})")
            continue
        if has_blobs(event):
            lost.append(f"{path}, line {line.number}: the text is kept elsewhere; replay an export instead")
        events.append(sketch(event))
    return recording_of(path.name.partition(".jsonl")[0], events, tuple(lost))


def recording_of(name: str, events: Iterable[Event], lost: tuple[str, ...] = ()) -> Recording:
    """A session of ours as a recording."""
    joined = Joiner()
    started = SessionStarted(id=0, time=0.0, session=name)
    passes = 0
    for event in events:
        match event:
            case SessionStarted():
                started = event
            case UserSaid():
                joined.add("user", event.blocks, event.time)
            case AssistantSaid():
                joined.add("assistant", event.blocks, event.time, apart=True)
            case ToolFinished():
                result = ToolResult(event.call_id, event.text, event.is_error, event.images)
                joined.add("user", (result,), event.time)
            case Compacted():
                passes += 1
            case _:
                pass
    return Recording(
        id=f"{started.session}-replay",
        format="outlive",
        messages=joined.done(),
        system=started.system,
        model=started.model,
        folder=started.folder,
        compactions=passes,
        skipped=lost,
        damaged=len(lost),
    )
