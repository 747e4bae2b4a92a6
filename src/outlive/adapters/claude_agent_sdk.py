"""A `SessionStore` for claude-agent-sdk: transcripts of Claude Code in outlive's store.

Entries are kept verbatim, and what was said in them is logged too, so that a session can be listed, searched and
recalled like any other. It cannot be deleted: the log is append-only, which the SDK provides for.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from claude_agent_sdk import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
    fold_session_summary,
)

from outlive.adapters.native_log import LogCache, sealed, unsealed
from outlive.config import Workspace
from outlive.events import Checkpointed, Event
from outlive.replay.importers.claude_code import read
from outlive.replay.importers.lines import TranscriptLine
from outlive.replay.player import add_message
from outlive.stores import open_stores

CLIENT = "claude-agent-sdk"
ENTRIES = "entries"
_SUB = ".sub-"
"""Before the subpath in the id of a session; outlive's own sub-agents have it too."""


class OutliveSessionStore(SessionStore):
    """Keeps each transcript in a session whose id begins with that of the transcript."""

    def __init__(self, store: str | None = None) -> None:
        """`store` is a URL; by default it is the store of the current workspace."""
        self._stores = open_stores(**Workspace.find(store=store).store)
        self._logs = LogCache(CLIENT, store=store, window=1 << 40)

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Log entries in one write. An entry whose `uuid` is known is left out."""
        if not entries:
            return
        log = self._logs.get(_id(key))
        with log.open() as session:
            known = {form.get("uuid") for form in _forms(session.events)} - {None}
            new = [entry for entry in entries if entry.get("uuid") not in known]
            if new:
                forms = [{name: sealed(value) for name, value in entry.items()} for entry in new]
                event = session.log(Checkpointed, label=ENTRIES, data={ENTRIES: forms})
                for recorded in read(Path(log.id), _lines(key, event), ()).messages:
                    add_message(session, recorded.message)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """All entries of a transcript, as they were; None if there is none."""
        return unsealed(_forms(self._logs.get(_id(key)).everything())) or None

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """The transcripts of a project, without those of sub-agents."""
        ending = f"@{_quoted(project_key)}"
        return [
            {"session_id": unquote(info.id.removesuffix(ending)), "mtime": int(info.updated * 1000)}
            for info in self._stores.logs.sessions()
            if info.id.endswith(ending)
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """What the SDK tells of each session of a project, made from the whole log of each."""
        found: list[SessionSummaryEntry] = []
        for listed in await self.list_sessions(project_key):
            key: SessionKey = {"project_key": project_key, "session_id": listed["session_id"]}
            folded = fold_session_summary(None, key, await self.load(key) or [])
            found.append({**folded, "mtime": listed["mtime"]})
        return found

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """The transcripts of the sub-agents of a session."""
        beginning = f"{_quoted(key['session_id'])}@{_quoted(key['project_key'])}{_SUB}"
        ids = (info.id for info in self._stores.logs.sessions())
        return sorted(unquote(id.removeprefix(beginning)) for id in ids if id.startswith(beginning))

    delete = SessionStore.delete
    """Not implemented, so that the SDK leaves it out: nothing is deleted from a log."""

    def close(self) -> None:
        """Close connections to a database, if there are any."""
        self._logs.close()
        self._stores.close()


def _id(key: SessionKey) -> str:
    """The id of the session of a transcript; no two keys have the same."""
    subpath = key.get("subpath")
    main = f"{_quoted(key['session_id'])}@{_quoted(key['project_key'])}"
    return f"{main}{_SUB}{_quoted(subpath)}" if subpath else main


def _quoted(name: str) -> str:
    return quote(name, safe="").replace(".", "%2E")


def _forms(events: Iterable[Event]) -> list[Any]:
    """The entries of a log as it holds them."""
    noted = (event.data for event in events if isinstance(event, Checkpointed) and event.label == ENTRIES)
    return [form for data in noted for form in data[ENTRIES]]


def _lines(key: SessionKey, event: Event) -> list[TranscriptLine]:
    """Entries for the importer, which leaves out the talk of sub-agents unless the transcript is theirs."""
    own = {"isSidechain": False} if key.get("subpath") else {}
    return [TranscriptLine(number, {**entry, **own}) for number, entry in enumerate(unsealed(_forms([event])), 1)]
