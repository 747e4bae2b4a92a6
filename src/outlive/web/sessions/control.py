"""Changes of a session from the page: take back the newest pass, fork. The same rules as on the command line."""

from typing import Any

from outlive.agent.log.forking import fork
from outlive.agent.session import Session
from outlive.stores.logs.protocol import LogStore
from outlive.web.api import bad_request


def undo_newest_pass(store: LogStore, session: str, form: dict[str, Any]) -> object:
    """Take back the newest pass, if it is still the one that the person saw. Raises SessionBusy, NothingToUndo."""
    with Session.resume(store, session) as opened:
        seen = form.get("pass")
        if isinstance(seen, int) and opened.engine.projection.event not in (0, seen):
            raise bad_request(f"the newest pass is event {opened.engine.projection.event} by now, not {seen}")
        return {"undone": opened.undo_pass().target}


def fork_session(store: LogStore, session: str, form: dict[str, Any]) -> object:
    """A new session that goes on from an event. Raises CannotFork."""
    at, name = form.get("at", 0), form.get("name", "")
    if not isinstance(at, int) or not isinstance(name, str) or at < 0:
        raise bad_request("at must be the number of an event, and name a text")
    return {"session": fork(store, session, at=at, name=name.strip())}
