"""Logs of clients' sessions that a server keeps in memory between results, while other processes write to them too.

A log is rebuilt from its file when it is opened, which takes the longer the longer the session is.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from outlive.clients.answers.call import HookCall
from outlive.replay.follow import Followed
from outlive.stores import Stores
from outlive.stores.logs.names import followed_id
from outlive.stores.logs.protocol import SessionReplaced, UnknownSession

MAX_LOGS = 2  # usually one session is busy at a time; others are opened again
MAX_TOKENS = 10_000_000
"""A longer session is not kept in memory."""


class OpenLogs:
    """The logs of the sessions that were written to last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[Followed, Stores]] = OrderedDict()

    @contextmanager
    def open(self, call: HookCall) -> Iterator[Followed]:
        """The log of the session of a call, locked against other writers. Raises SessionBusy."""
        key = str(call.workspace.base), followed_id(call.client, call.session)
        log = self._woken(key)
        if log is None:
            log = call.new_log()
            self._kept[key] = log, call.stores
            call.keep_stores()
        try:
            yield log
        except BaseException:
            self._drop(key)  # it is read again from its file
            raise
        if log.session.engine.history.index.tokens > MAX_TOKENS:
            self._drop(key)
            return
        log.pause()
        self._kept.move_to_end(key)
        while len(self._kept) > MAX_LOGS:
            self._drop(next(iter(self._kept)))

    def close(self) -> None:
        """Close all of them."""
        for key in list(self._kept):
            self._drop(key)

    def _woken(self, key: tuple[str, str]) -> Followed | None:
        """Reopen a log that was kept; None if it has to be read from its file."""
        log, _ = self._kept.get(key, (None, None))
        if log is None:
            return None
        try:
            log.go_on()
        except (SessionReplaced, UnknownSession):
            self._drop(key)
            return None
        return log

    def _drop(self, key: tuple[str, str]) -> None:
        log, stores = self._kept.pop(key)
        log.close()
        stores.close()
