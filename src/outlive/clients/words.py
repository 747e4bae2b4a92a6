"""The user's words, logged the moment they are said; `Followed` finds them again in the client's transcript."""

import time

from outlive.stores.locations import path_of
from outlive.stores.logs.names import followed_id
from outlive.stores.logs.quick import append_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from outlive.clients.answers.call import HookCall
    from outlive.stores.logs.protocol import LogStore


def log_words(call: "HookCall", words: str) -> None:
    """Log what the user just said. Raises SessionBusy if another process keeps the log."""
    store, now = call.workspace.store, time.time()
    id, folder, words = followed_id(call.client, call.session), str(call.workspace.root), call.mask()(words)
    if store["url"].startswith("files:"):
        root = path_of(store["url"], store["base"]).parent
        if append_words(root, id, words, folder=folder, now=now, durable=store["durability"] == "full"):
            return None
    from outlive.clients.answers.call import LOG_RETRY_SECONDS, LOG_WAIT_SECONDS
    from outlive.stores.logs.protocol import SessionBusy

    until = time.monotonic() + LOG_WAIT_SECONDS
    while True:
        try:
            return append_by_store(call.stores.logs, id, words, folder=folder, now=now)
        except SessionBusy:
            if time.monotonic() > until:
                raise
            time.sleep(LOG_RETRY_SECONDS)


def append_by_store(store: "LogStore", id: str, words: str, *, folder: str, now: float) -> None:
    """Log words as queued in any kind of store, and begin the session if there is none."""
    from outlive.events import VERSION, SessionStarted, UserQueued
    from outlive.stores.logs.protocol import UnknownSession

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
        writer.append([UserQueued(id=last + 1, time=now, parent=last, text=words)])
