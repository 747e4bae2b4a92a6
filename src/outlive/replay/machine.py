"""The sessions that other agents have left on this machine. Only the beginning of each file is read."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from outlive.messages import Opaque, Text
from outlive.models.anthropic.form import read_blocks
from outlive.origin import origin_of, user_words
from outlive.regular import open_to_read
from outlive.replay.importers.lines import loads
from outlive.stores.logs.names import followed_id

UUID = 36
"""Characters at the end of a file's name that are the id of the session."""
HEAD = 256 * 1024
"""Bytes that are read to know what a session is about."""


class ClientSession(Struct, frozen=True):
    """A session file of another agent."""

    client: str
    id: str
    path: str
    folder: str
    changed: float
    size: int
    about: str
    """How the user began; empty if that is not near the beginning."""


def client_sessions(home: Path | None = None) -> list[tuple[float, str, Path]]:
    """Time of the last change, client and file of each, newest first."""
    found: list[tuple[float, str, Path]] = []
    for client, path in _files(home or Path.home()):
        try:
            found.append((path.stat().st_mtime, client, path))
        except OSError:
            continue
    return sorted(found, reverse=True)


def ran_here(session: str, home: Path | None = None) -> bool:
    """Whether a log of ours is of a session that another agent has left on this machine."""
    ids = ((client, path.stem[-UUID:]) for client, path in _files(home or Path.home()))
    return any(session in (id, followed_id(client, id)) for client, id in ids)


def _files(home: Path) -> Iterator[tuple[str, Path]]:
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    codex = Path(os.environ.get("CODEX_HOME") or home / ".codex")
    for path in (claude / "projects").glob("*/*.jsonl"):
        if not path.name.startswith("agent-"):  # sub-agents have files of their own
            yield "claude-code", path
    pi = Path(os.environ.get("PI_CODING_AGENT_DIR") or home / ".pi" / "agent")
    yield from (("pi", path) for path in (pi / "sessions").glob("*/*.jsonl"))
    for folder in ("sessions", "archived_sessions"):
        yield from (("codex", path) for path in (codex / folder).rglob("rollout-*.jsonl"))


def look_at(changed: float, client: str, path: Path) -> ClientSession | None:
    """What is known of a session file; None if it cannot be read."""
    try:
        with open_to_read(path) as file:
            size = os.fstat(file.fileno()).st_size
            *lines, rest = file.read(HEAD).split(b"\n")
    except OSError:
        return None
    id, folder, about = "", "", ""
    for line in [*lines, rest] if size < HEAD else lines:
        try:
            value = loads(line)
        except ValueError:
            continue
        if not isinstance(value, dict):
            continue
        payload = value.get("payload")
        facts = payload if isinstance(payload, dict) else value
        id = id or _text(facts.get("sessionId")) or (_text(facts.get("id")) if client != "claude-code" else "")
        folder = folder or _text(facts.get("cwd"))
        about = about or _said(facts if client == "codex" else value)
    return ClientSession(client, id or path.stem, str(path), folder, changed, size, about)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _said(value: dict[str, Any]) -> str:
    """The user's own words in a line."""
    inner = value.get("message")
    own = value.get("type") in ("user", "message") and isinstance(inner, dict) and not value.get("isMeta")
    message = inner if own else value
    if not isinstance(message, dict) or message.get("role") != "user":
        return ""
    try:
        blocks = read_blocks(message.get("content"))
    except ValueError:
        return ""
    texts = [Text(_text(block.data.get("text"))) if isinstance(block, Opaque) else block for block in blocks]
    return user_words(text for text in texts if isinstance(text, Text) and origin_of(text) == "user").strip()
