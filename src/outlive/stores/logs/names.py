"""Session ids and their file names. Every id has its own file name inside the folder."""

from urllib.parse import quote, unquote

from outlive.errors import StoreError

SUFFIX = ".jsonl"
MAX_NAME_CHARS = 180  # file names may have 255 bytes, and suffixes of temporary files are added
_KEPT_CHARS = 120  # of a longer id, before its hash
_SUBAGENT_INFIX = ".sub-"
_FOLLOWED_INFIX = ".session-"


class InvalidSession(StoreError):
    """An id that no session can have."""


def new_session_id(now: float) -> str:
    """Sorts by time; two sessions of the same second differ by 48 random bits."""
    import secrets
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(now, UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(6)}"


def subagent_id(parent: str) -> str:
    """The id of a sub-agent's session."""
    import secrets

    return f"{parent}{_SUBAGENT_INFIX}{secrets.token_hex(3)}"


def is_subagent(session: str) -> bool:
    return _SUBAGENT_INFIX in session


def parent_of(session: str) -> str:
    """The session that started a sub-agent's; empty for any other."""
    return session.rpartition(_SUBAGENT_INFIX)[0]


def followed_id(client: str, session: str) -> str:
    """The id of our log of another agent's session."""
    return f"{client}{_FOLLOWED_INFIX}{session}"


def is_followed(session: str) -> bool:
    return _FOLLOWED_INFIX in session


def file_name(session: str) -> str:
    """The file of a session. Only shortened names contain `~`, so they cannot equal another."""
    if not session.strip() or "\x00" in session:
        raise InvalidSession(f"{session!r} cannot be the name of a session")
    name = quote(session, safe=" ", errors="replace").replace("~", "%7E")
    if name.startswith("."):
        name = "%2E" + name[1:]
    if len(name) > MAX_NAME_CHARS:
        import hashlib

        digest = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:32]
        name = f"{name[:_KEPT_CHARS]}~{digest}"
    return name + SUFFIX


def is_shortened(session: str) -> bool:
    """Whether the id is too long for its file name, which is then shortened."""
    return "~" in file_name(session)


def session_of(name: str) -> str | None:
    """The id behind a file name; None for other files and shortened names."""
    if not name.endswith(SUFFIX) or name.startswith(".") or "~" in name:
        return None
    session = unquote(name.removesuffix(SUFFIX))
    return session if session.strip() and file_name(session) == name else None
