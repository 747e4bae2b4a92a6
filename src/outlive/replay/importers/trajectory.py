"""Our exchange format: one JSON object with `id`, Anthropic-style `messages`, and optional `system`, `timestamps` …

Message numbers are part of the format, so messages are taken one to one.
"""

from pathlib import Path
from typing import Any

from outlive.messages import Message
from outlive.models.anthropic.form import read_blocks
from outlive.replay.importers.lines import ImportRefused, TranscriptLine
from outlive.replay.importers.origins import with_origins
from outlive.replay.recording import RecordedUsage, Recording, seconds, timed, usage_of


def read(path: Path, lines: list[TranscriptLine], skipped: tuple[str, ...]) -> Recording:
    """Read the trajectory of a file."""
    found = [line for line in lines if isinstance(line.value.get("messages"), list)]
    if len(found) > 1:
        raise ImportRefused(f"{path}, line {found[1].number}: a second trajectory; a file holds one")
    form = found[0].value
    where = f"{path}, line {found[0].number}"
    stamps = form.get("timestamps") or []
    messages = [_message(where, number, raw) for number, raw in enumerate(form["messages"])]
    times = [seconds(stamps[n]) if n < len(stamps) else None for n in range(len(messages))]
    return Recording(
        id=str(form.get("id") or path.name.partition(".")[0]),
        format="trajectory",
        messages=tuple(timed(zip(messages, times, strict=True))),
        system=_system(form.get("system")),
        model=str(form.get("model") or ""),
        task=str(form.get("task") or ""),
        usage=_usage(form.get("recorded_usage"), times, str(form.get("model") or "")),
        compactions=len(form.get("compactions") or ()),
        skipped=skipped,
        damaged=len(skipped),
    )


def _usage(rows: Any, times: list[float | None], model: str) -> tuple[RecordedUsage, ...]:
    found = []
    for row in rows if isinstance(rows, list) else ():
        at = row.get("msg") if isinstance(row, dict) else None
        if isinstance(at, int) and 0 <= at < len(times):
            found.append(usage_of(row, times[at], model))
    return tuple(filter(None, found))


def _message(where: str, number: int, raw: Any) -> Message:
    if not isinstance(raw, dict) or raw.get("role") not in ("user", "assistant"):
        raise ImportRefused(f"{where}, message {number}: not a message of user or assistant")
    try:
        blocks = read_blocks(raw.get("content"))
        return Message(raw["role"], tuple(with_origins(blocks)) if raw["role"] == "user" else blocks)
    except ValueError as error:
        raise ImportRefused(f"{where}, message {number}: {error}") from None


def _system(value: Any) -> str:
    """Return the system prompt, given as a string or a list of text blocks."""
    if isinstance(value, list):
        return "\n\n".join(str(part.get("text") or "") for part in value if isinstance(part, dict))
    return str(value or "")
