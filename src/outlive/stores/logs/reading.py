"""Finds sessions by the beginning of their id, and reads a session with the events before its fork."""

from outlive.events import Forked
from outlive.stores.logs.protocol import Damage, Log, LogStore, SessionTooLarge, UnknownSession


def sessions_like(store: LogStore, text: str) -> list[str]:
    """The session with this id, else those whose id (or its last part) starts with the text."""
    try:
        return [store.info(text).id]
    except UnknownSession:
        known = [info.id for info in store.sessions()]
        found = [id for id in known if id.startswith(text)]
        return found or [id for id in known if id.rpartition("-")[2].startswith(text)]


def full_log(store: LogStore, session: str) -> Log:
    """All events of a session, including those before its fork, and all damage found."""
    log = store.read(session)
    events, damage = list(log.events), list(log.damage)
    first = log.events[0] if log.events else None
    met, limit = {session}, 1 << 62
    while isinstance(first, Forked):
        source, limit = first.session, min(limit, first.at)
        if source in met:
            damage.append(Damage(f"session {session!r}", f"forked from itself by way of {source!r}"))
            break
        met.add(source)
        try:
            history = store.read(source)
        except (UnknownSession, SessionTooLarge) as error:
            damage.append(Damage(f"session {session!r}", f"its past is out of reach: {error}"))
            break
        damage += history.damage
        events = [event for event in history.events if event.id <= limit] + events
        first = history.events[0] if history.events else None
    return Log(session, tuple(events), tuple(damage))
