"""The user's words, logged the moment they are said, without loading engine or log: a client waits for this."""

import time
from collections.abc import Callable

from outlive.events import VERSION, SessionStarted, UserQueued
from outlive.stores.logs.names import followed_id
from outlive.stores.logs.protocol import LogStore, UnknownSession


def log_words(
    store: LogStore, client: str, session: str, words: str, *, folder: str, mask: Callable[[str], str]
) -> None:
    """Log what the user just said; `Followed` finds it again in the client's transcript."""
    id, now = followed_id(client, session), time.time()
    try:
        last = store.info(id).last_event
        writer = store.writer(id)
    except UnknownSession:
        last = 0
        writer = store.create(id)
    with writer:
        if not last:
            writer.append([SessionStarted(id=1, time=now, session=id, version=VERSION, folder=folder)])
            last = 1
        writer.append([UserQueued(id=last + 1, time=now, parent=last, text=mask(words))])
