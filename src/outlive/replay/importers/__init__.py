"""Importers of recorded sessions; `read_recording` detects the format.

lines.py        JSON lines, plain or gzipped, with line numbers
trajectory.py   our exchange format: one JSON object with Anthropic-style messages
claude_code.py  ~/.claude/projects/*/*.jsonl
attachments.py  what Claude Code showed the model besides words, calls and results
codex.py        ~/.codex/sessions/**/rollout-*.jsonl
pi.py           ~/.pi/agent/sessions/*/*.jsonl
opencode.py     `opencode export`; opencode_database.py: ~/.local/share/opencode/opencode.db
own.py          .transcripts/*.jsonl and `outlive session export`
"""

from pathlib import Path
from typing import Any

from outlive.regular import open_to_read
from outlive.replay.importers.lines import ImportRefused, TranscriptLine, read_lines
from outlive.replay.recording import Recording

__all__ = ["ImportRefused", "Recording", "read_recording"]

_LOOKED_AT = 50  # first lines that tell the format: transcripts begin with metadata
_CODEX = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_OWN = {"session_started", "forked"}
_SQLITE = b"SQLite format 3\0"
_CLAUDE_KEYS = {"sessionId", "uuid", "leafUuid", "parentUuid"}


def read_recording(path: Path) -> Recording:
    """Read a recorded session of any known format. Raises ImportRefused, which names file and line."""
    recording = _from_database(path) or _from_lines(path)
    if not recording.messages:
        raise ImportRefused(f"{path}: read as {recording.format}, but there are no messages in it")
    return recording


def _from_database(path: Path) -> Recording | None:
    """A session in a database of opencode; None if the path leads to no database."""
    for database, session in ((path, ""), (path.parent, path.name)):
        if is_database(database):
            from outlive.replay.importers.opencode_database import read

            return read(database, session)
    return None


def is_database(path: Path) -> bool:
    """Whether a path leads to a file of SQLite."""
    try:
        with open_to_read(path, follow=True) as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def _from_lines(path: Path) -> Recording:
    lines, skipped = read_lines(path)
    kind = _kind(lines)
    if kind == "trajectory":
        from outlive.replay.importers.trajectory import read
    elif kind == "claude-code":
        from outlive.replay.importers.claude_code import read
    elif kind == "codex":
        from outlive.replay.importers.codex import read
    elif kind == "pi":
        from outlive.replay.importers.pi import read
    elif kind == "opencode":
        from outlive.replay.importers.opencode import read
    elif kind == "outlive":
        from outlive.replay.importers.own import read
    else:
        raise ImportRefused(
            f"{path}: no format that is known; it takes a trajectory, a session of Claude Code, Codex, pi or "
            "opencode, or an outlive transcript" + (f" ({skipped[0]})" if skipped else "")
        )
    return read(path, lines, skipped)


def _kind(lines: list[TranscriptLine]) -> str:
    for line in lines[:_LOOKED_AT]:
        value = line.value
        kind = value.get("type")
        if isinstance(value.get("messages"), list):
            return "opencode" if _is_opencode(value) else "trajectory"
        if kind in _OWN and "id" in value:
            return "outlive"
        if (kind in _CODEX and "payload" in value) or "record_type" in value or _bare_codex(value):
            return "codex"
        if (
            kind in ("session", "message")
            and {"id", "timestamp"} <= value.keys()
            and {"cwd", "parentId"} & value.keys()
        ):
            return "pi"
        if isinstance(kind, str) and _CLAUDE_KEYS & value.keys():
            return "claude-code"
    return ""


def _is_opencode(value: dict[str, Any]) -> bool:
    """Whether an object with messages is what `opencode export` prints."""
    first = next(iter(value["messages"]), None)
    return isinstance(value.get("info"), dict) and isinstance(first, dict) and {"info", "parts"} <= first.keys()


def _bare_codex(value: dict[str, object]) -> bool:
    """Whether a line is the bare metadata with which the first versions of 2025 begin a rollout."""
    return "type" not in value and {"id", "timestamp"} <= value.keys() and ("instructions" in value or "git" in value)
