"""A recording as a session of ours, which can be resumed."""

from collections.abc import Callable
from itertools import count

from outlive.agent.session import Session
from outlive.events import VERSION, Checkpointed, SessionStarted, StateChanged
from outlive.replay.player import add_message
from outlive.replay.recording import Recording
from outlive.stores.logs.buffer import Buffer
from outlive.stores.logs.protocol import LogStore, UnknownSession

ADOPTED = "adopted"


def adopt(recording: Recording, store: LogStore, *, folder: str, mask: Callable[[str], str]) -> str:
    """Save a recording as a new session that works in `folder`, in one write; its id.

    It grants nothing: mode, rules and trust are those of this folder. A call without a result was interrupted.
    """
    id = _free(store, recording.id)
    now = recording.messages[0].time if recording.messages else 0.0
    buffer = Buffer(id)
    session = Session(buffer, window=1 << 40, clock=lambda: now, mask=mask)
    session.log(SessionStarted, session=id, version=VERSION, model=recording.model, folder=folder)
    session.log(Checkpointed, label=ADOPTED, data={"client": recording.format, "session": recording.id})
    for recorded in recording.messages:
        now = recorded.time
        add_message(session, recorded.message)
    session.settle()
    session.log(StateChanged, scratchpad=f"This session began in {recording.format}, where tools had other names.")
    store.replace(id, buffer.events)
    return id


def _free(store: LogStore, wanted: str) -> str:
    """The id of the recording, or one like it that no session has."""
    id = wanted
    for number in count(2):
        try:
            store.info(id)
        except UnknownSession:
            break
        id = f"{wanted}.{number}"
    return id
