"""Our own logs: a transcript as it lies in `.transcripts`, or what `outlive session export` wrote."""

from pathlib import Path

import msgspec

from outlive.events import AssistantSaid, Compacted, SessionStarted, ToolFinished, UserSaid, decode
from outlive.importers.lines import Line
from outlive.importers.recording import Joiner, Recording
from outlive.messages import ToolResult


def read(path: Path, lines: list[Line], skipped: tuple[str, ...]) -> Recording:
    """What was said and done; passes and working state are left to the replay."""
    joined = Joiner()
    started = SessionStarted(id=0, time=0.0, session=path.name.partition(".jsonl")[0])
    passes = 0
    lost = list(skipped)
    for line in lines:
        try:
            event = decode(msgspec.json.encode(line.value))
        except msgspec.DecodeError as error:
            lost.append(f"{path}, line {line.number}: not an event ({error})")
            continue
        match event:
            case SessionStarted():
                started = event
            case UserSaid():
                joined.add("user", event.blocks, event.time)
            case AssistantSaid():
                joined.add("assistant", event.blocks, event.time, apart=True)
            case ToolFinished():
                if event.blob and not event.text:
                    lost.append(f"{path}, line {line.number}: the text is kept elsewhere; replay an export instead")
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
        skipped=tuple(lost),
    )
