"""Importers of recorded sessions; `read_recording` detects the format.

lines.py        JSON lines, plain or gzipped, with line numbers
trajectory.py   our exchange format: one JSON object with Anthropic-style messages
claude_code.py  ~/.claude/projects/*/*.jsonl
attachments.py  what Claude Code showed the model besides words, calls and results
codex.py        ~/.codex/sessions/**/rollout-*.jsonl
pi.py           ~/.pi/agent/sessions/*/*.jsonl
own.py          .transcripts/*.jsonl and `outlive session export`
"""

from pathlib import Path

from outlive.replay.importers.lines import ImportRefused, TranscriptLine, read_lines
from outlive.replay.recording import Recording

__all__ = ["ImportRefused", "Recording", "read_recording"]

_LOOKED_AT = 50
_CODEX = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_OWN = {"session_started", "forked"}
_CLAUDE_KEYS = {"sessionId", "uuid", "leafUuid", "parentUuid"}


def read_recording(path: Path) -> Recording:
    """Read a recorded session of any known format. Raises ImportRefused, which names file and line."""
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
    elif kind == "outlive":
        from outlive.replay.importers.own import read
    else:
        raise ImportRefused(
            f"{path}: no format that is known; it takes a trajectory, a session of Claude Code, Codex or pi, or an "
            "outlive transcript" + (f" ({skipped[0]})" if skipped else "")
        )
    recording = read(path, lines, skipped)
    if not recording.messages:
        raise ImportRefused(f"{path}: read as {kind}, but there are no messages in it")
    return recording


def _kind(lines: list[TranscriptLine]) -> str:
    for line in lines[:_LOOKED_AT]:
        value = line.value
        kind = value.get("type")
        if isinstance(value.get("messages"), list):
            return "trajectory"
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


def _bare_codex(value: dict[str, object]) -> bool:
    """Whether a line is the bare metadata with which the first versions of 2025 begin a rollout."""
    return "type" not in value and {"id", "timestamp"} <= value.keys() and ("instructions" in value or "git" in value)
