"""Session ids and file names. Any id has a file name of its own, and none leads out of the folder."""

import hashlib
import secrets
from datetime import UTC, datetime
from urllib.parse import quote, unquote

from outlive.errors import StoreError

SUFFIX = ".jsonl"
LONGEST = 180
_KEPT = 120
_SUB = ".sub-"
_FOLLOWED = ".session-"


class InvalidSession(StoreError):
    """No session can have that id."""


def new_session_id(now: float) -> str:
    """Sorts by time; two sessions of the same second differ by 48 random bits."""
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(6)}"


def subagent_id(parent: str) -> str:
    """The id of a session that an agent starts for a job of its own."""
    return f"{parent}{_SUB}{secrets.token_hex(3)}"


def is_subagent(session: str) -> bool:
    return _SUB in session


def followed_id(client: str, session: str) -> str:
    """The id of our log of a session of another agent."""
    return f"{client}{_FOLLOWED}{session}"


def is_followed(session: str) -> bool:
    return _FOLLOWED in session


def file_name(session: str) -> str:
    """The file of a session. Only shortened names contain `~`, so they cannot equal another."""
    if not session.strip() or "\x00" in session:
        raise InvalidSession(f"{session!r} cannot be the name of a session")
    name = quote(session, safe=" ", errors="replace").replace("~", "%7E")
    if name.startswith("."):
        name = "%2E" + name[1:]
    if len(name) > LONGEST:
        digest = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:32]
        name = f"{name[:_KEPT]}~{digest}"
    return name + SUFFIX


def is_shortened(session: str) -> bool:
    """Whether the id is so long that its file name does not tell it."""
    return "~" in file_name(session)


def session_of(name: str) -> str | None:
    """The id behind a file name; None when the file is none of ours, or its name was shortened."""
    if not name.endswith(SUFFIX) or name.startswith(".") or "~" in name:
        return None
    session = unquote(name.removesuffix(SUFFIX))
    return session if session.strip() and file_name(session) == name else None
