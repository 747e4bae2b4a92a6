"""The sessions that other agents have left on this machine. Of a file, only the beginning is read."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from outlive.messages import Opaque, Text
from outlive.models.anthropic.form import read_blocks
from outlive.origin import origin_of, user_words
from outlive.regular import open_to_read
from outlive.replay.importers import ImportRefused, is_database
from outlive.replay.importers.lines import loads
from outlive.secrets import mask
from outlive.stores.logs.names import followed_id
from outlive.stores.logs.protocol import UnknownSession

UUID = 36
"""Characters at the end of a file's name that are the id of the session."""
HEAD = 256 * 1024
"""Bytes that are read to know what a session is about."""


class ClientSession(Struct, frozen=True):
    """A session of another agent."""

    client: str
    id: str
    path: str
    """Its file; for a session in a database, the database and the id."""
    folder: str
    changed: float
    size: int
    """Bytes; 0 if unknown."""
    about: str
    """How the user began; empty if that is not near the beginning."""


class SessionPlace(Struct, frozen=True):
    """Where a session of another agent is, and when it was last changed."""

    changed: float
    client: str
    path: Path
    known: ClientSession | None = None
    """What is known of it, where listing the sessions tells that already."""


def client_sessions(home: Path | None = None) -> list[SessionPlace]:
    """The sessions of all agents, newest first."""
    home = home or Path.home()
    found = list(_opencode_sessions(home))
    for client, path in _files(home):
        try:
            found.append(SessionPlace(path.stat().st_mtime, client, path))
        except OSError:
            continue
    return sorted(found, key=lambda place: (place.changed, place.path), reverse=True)


def session_path(wanted: str) -> Path:
    """Find a recording by its file, its session in a database, or the beginning of its id."""
    path = Path(wanted)
    if (path.exists() and not path.is_dir()) or is_database(path.parent):
        return path
    places = client_sessions()
    names = [place.path for place in places]
    fitting = [path for path in names if path.stem.startswith(wanted) or path.stem[-UUID:].startswith(wanted)]
    if not fitting:  # a file may have another name than its session
        found = filter(None, map(look_at, places))
        fitting = [Path(session.path) for session in found if session.id.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        some = ", ".join(path.stem for path in fitting[:3])
        raise UnknownSession(f"{wanted!r} fits {len(fitting)} sessions ({some} …); write more of the id")
    raise UnknownSession(
        f"{wanted!r} is neither a file nor the beginning of a session of another agent here", code="unknown_recording"
    )


def ran_here(session: str, home: Path | None = None) -> bool:
    """Whether a log of ours is of a session that another agent has left on this machine."""
    home = home or Path.home()
    ids = [(client, path.stem[-UUID:]) for client, path in _files(home)]
    if session.startswith(("opencode.", "ses_")):
        ids += [(place.client, place.path.name) for place in _opencode_sessions(home)]
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


def _opencode_sessions(home: Path) -> Iterator[SessionPlace]:
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
    databases = {*data.glob("opencode*.db"), data / (os.environ.get("OPENCODE_DB") or "opencode.db")}
    for database in filter(is_database, databases):
        from outlive.replay.importers.opencode_database import sessions

        try:
            rows = sessions(database)
        except ImportRefused:
            continue
        for row in rows:
            path = database / row.id
            texts = [part for part in row.first_prompt if part.get("type") == "text"]
            about = _said({"role": "user", "content": texts})
            known = ClientSession("opencode", row.id, str(path), row.folder, row.changed, 0, about)
            yield SessionPlace(row.changed, "opencode", path, known)


def look_at(place: SessionPlace) -> ClientSession | None:
    """What is known of a session; None if its file cannot be read."""
    if place.known:
        return place.known
    client, path = place.client, place.path
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
    return ClientSession(client, id or path.stem, str(path), folder, place.changed, size, about)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _said(value: dict[str, Any]) -> str:
    """The user's own words in a line, masked."""
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
    return mask(user_words(text for text in texts if isinstance(text, Text) and origin_of(text) == "user").strip())
