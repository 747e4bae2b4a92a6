"""Sessions of opencode: an `opencode export`, and what `opencode_database.py` reads from its database.

Both are the session's `info` and its messages, each with `info` and `parts`. opencode keeps all messages through its
own compactions; those that the user reverted stay until the next prompt and are left out here.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from outlive.replay.importers.lines import TranscriptLine
from outlive.replay.importers.origins import with_origins
from outlive.replay.recording import Joiner, RecordedUsage, Recording
from outlive.replay.shapes.opencode import OpencodeShape

Form = dict[str, Any]
_EXPECTED_PARTS = {"text", "reasoning", "tool", "file", "step-start", "step-finish"}


def read(path: Path, lines: list[TranscriptLine], skipped: tuple[str, ...]) -> Recording:
    """Read an export."""
    form = lines[0].value
    messages = [message for message in form["messages"] if isinstance(message, dict)]
    return recording_of(str(path), form["info"], messages, skipped)


def recording_of(where: str, info: Form, messages: list[Form], skipped: tuple[str, ...]) -> Recording:
    """The recording of a session; `where` names it in messages."""
    shape, joined = OpencodeShape(), Joiner()
    usage: list[RecordedUsage] = []
    kinds: Counter[str] = Counter()
    model = ""
    for message in _in_force(info, messages):
        kinds.update(str(part.get("type")) for part in _dicts(message.get("parts")))
        for one in shape.read(message, parent=bool(info.get("parentID"))) or ():
            blocks = one.blocks if one.role == "assistant" else tuple(with_origins(one.blocks))
            joined.add(one.role, blocks, shape.time(message), apart=one.role == "assistant")
        if found := _usage(message, shape.time(message)):
            usage.append(found)
            model = found.model or model
    unread = [(kind, count) for kind, count in kinds.items() if kind not in _EXPECTED_PARTS]
    return Recording(
        id=str(info.get("id") or "opencode"),
        format="opencode",
        messages=joined.done(),
        model=model,
        folder=str(info.get("directory") or ""),
        compactions=kinds["compaction"],
        usage=tuple(usage),
        skipped=(*skipped, *(f"{where}: {count} x {kind}: not part of what was said" for kind, count in unread)),
        damaged=len(skipped),
    )


def _in_force(info: Form, messages: list[Form]) -> Iterator[Form]:
    """The messages before the place to which the user reverted the session."""
    revert = info.get("revert")
    revert = revert if isinstance(revert, dict) else {}
    for message in messages:
        if revert.get("messageID") != _info(message).get("id") or not revert.get("messageID"):
            yield message
            continue
        before = []
        for part in _dicts(message.get("parts")):
            if not revert.get("partID") or part.get("id") == revert["partID"]:
                break
            before.append(part)
        yield {**message, "parts": before}
        return


def _usage(message: Form, time: float | None) -> RecordedUsage | None:
    info = _info(message)
    tokens = info.get("tokens")
    if info.get("role") != "assistant" or not isinstance(tokens, dict):
        return None
    cache = tokens.get("cache")
    cache = cache if isinstance(cache, dict) else {}
    counts = (tokens.get("input"), cache.get("write"), cache.get("read"))
    input, written, read = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
    found = RecordedUsage(time or 0.0, str(info.get("modelID") or ""), input, written, read)
    return found if found.prompt else None


def _info(message: Form) -> Form:
    info = message.get("info")
    return info if isinstance(info, dict) else {}


def _dicts(value: Any) -> list[Form]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
