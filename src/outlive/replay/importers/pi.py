"""Sessions of pi: `~/.pi/agent/sessions/*/*.jsonl`.

Entries are linked by `parentId`, and the branch of the newest one counts. Its own compactions are entries besides the
messages, so nothing is lost by them.
"""

from collections import Counter
from pathlib import Path
from typing import Any

from outlive.replay.importers.lines import TranscriptLine
from outlive.replay.importers.origins import with_origins
from outlive.replay.recording import Joiner, RecordedUsage, Recording, seconds
from outlive.replay.shapes.pi import PiShape


def read(path: Path, lines: list[TranscriptLine], skipped: tuple[str, ...]) -> Recording:
    """Read the session that a file ends with."""
    head: dict[str, Any] = next((line.value for line in lines if line.value.get("type") == "session"), {})
    shape, joined = PiShape(), Joiner()
    usage: list[RecordedUsage] = []
    system, model = "", ""
    for entry in _branch(lines):
        message = entry.get("message")
        if entry.get("type") != "message" or not isinstance(message, dict):
            model = str(entry.get("modelId") or model)
            continue
        time = seconds(entry.get("timestamp"))
        if message.get("role") == "system":
            system = system or _system(message)
            continue
        for one in shape.read(message, parent=False) or ():
            blocks = one.blocks if one.role == "assistant" else tuple(with_origins(one.blocks))
            joined.add(one.role, blocks, time)
        if found := _usage(message, time, str(message.get("model") or model)):
            usage.append(found)
    return Recording(
        id=str(head.get("id") or path.name.partition(".")[0]),
        format="pi",
        messages=joined.done(),
        system=system,
        model=model,
        folder=str(head.get("cwd") or ""),
        compactions=sum(line.value.get("type") == "compaction" for line in lines),
        usage=tuple(usage),
        skipped=(*skipped, *_left_out(path, lines)),
        damaged=len(skipped),
    )


def _branch(lines: list[TranscriptLine]) -> list[dict[str, Any]]:
    """The entries from the newest back to the first, oldest first. Where one is missing, the line before follows."""
    entries = [line.value for line in lines if isinstance(line.value.get("id"), str) and "parentId" in line.value]
    places = {entry["id"]: place for place, entry in enumerate(entries)}
    found: list[dict[str, Any]] = []
    place = len(entries) - 1
    while place >= 0:
        entry = entries[place]
        found.append(entry)
        parent = entry["parentId"]
        place = min(places.get(parent, place - 1), place - 1) if parent else -1
    return found[::-1]


def _system(message: dict[str, Any]) -> str:
    sections = message.get("sections")
    parts = sections.values() if isinstance(sections, dict) else [message.get("content")]
    return "\n\n".join(part for part in parts if isinstance(part, str) and part)


def _usage(message: dict[str, Any], time: float | None, model: str) -> RecordedUsage | None:
    form = message.get("usage")
    if message.get("role") != "assistant" or not isinstance(form, dict):
        return None
    counts = [form.get(name) for name in ("input", "cacheWrite", "cacheRead")]
    input, written, read = (count if isinstance(count, int) else 0 for count in counts)
    found = RecordedUsage(time or 0.0, model, input, written, read)
    return found if found.prompt else None


def _left_out(path: Path, lines: list[TranscriptLine]) -> list[str]:
    told = ("session", "message", "model_change", "thinking_level_change")
    counts = Counter(str(line.value.get("type")) for line in lines if line.value.get("type") not in told)
    return [f"{path}: {count} x {kind}: not part of what was said" for kind, count in counts.items()]
