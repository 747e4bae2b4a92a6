"""The whole past of a session: a fork shares the events before it with the log it came from."""

from outlive.events import Event, Forked
from outlive.stores.log_protocol import Damage, Log, LogStore, UnknownSession


def full_log(store: LogStore, session: str) -> Log:
    """All events of a session, those before its fork included, and all damage on the way."""
    log = store.read(session)
    events, damage = list(log.events), list(log.damage)
    met = {session}
    while events and isinstance(fork := events[0], Forked):
        if fork.session in met:
            damage.append(Damage(f"session {session!r}", f"forked from itself by way of {fork.session!r}"))
            break
        met.add(fork.session)
        try:
            past = store.read(fork.session)
        except UnknownSession as error:
            damage.append(Damage(f"session {session!r}", f"its past is out of reach: {error}"))
            break
        shared: list[Event] = [event for event in past.events if event.id <= fork.at]
        events = shared + events
        damage += past.damage
        if not shared:
            damage.append(Damage(f"session {session!r}", f"{fork.session!r} has no events up to {fork.at}"))
            break
    return Log(session, tuple(events), tuple(damage))
