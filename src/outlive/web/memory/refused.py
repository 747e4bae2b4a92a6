"""What does not reach a model, what sessions did not remember, and why."""

import msgspec

from outlive.context.log.history import LEARNED, MEMORY_NOTICE
from outlive.errors import OutliveError
from outlive.events import Noted
from outlive.memory.doctor import problems
from outlive.memory.memories import Memories
from outlive.stores.logs.protocol import LogStore, SessionInfo
from outlive.stores.tasks.protocol import Problem
from outlive.web.excerpt import line

SESSIONS = 20
"""The newest sessions are looked through for what they did not remember."""
NOT_REMEMBERED = "not remembered"
MOST = 200  # of findings, and of refusals, newest first
COMMANDS = {
    "blocked_memory": "outlive memory confirm NAME",
    "repair_memories": "outlive memory doctor --repair",
    "unconfirmed_memory": "outlive memory confirm NAME, or: outlive memory forget NAME",
    "untrusted_memory": "outlive trust, or: outlive memory confirm NAME",
}
"""What helps in a terminal, by the code of a problem."""


class StoreFinding(msgspec.Struct, frozen=True):
    where: str
    what: str
    remedy: str
    harmless: bool


class RefusedMemory(msgspec.Struct, frozen=True):
    """Something that a session was asked to remember, and did not."""

    session: str
    event: int
    at: float
    text: str


class Refused(msgspec.Struct, frozen=True):
    findings: list[StoreFinding]
    refusals: list[RefusedMemory]
    sessions: int
    """How many sessions were looked through."""


class RefusedMemories:
    """Of one workspace. A log is read again only when it has grown."""

    def __init__(self, memories: Memories, logs: LogStore) -> None:
        self._memories = memories
        self._logs = logs
        self._read: dict[str, tuple[SessionInfo, list[RefusedMemory]]] = {}

    def now(self) -> Refused:
        findings = [
            StoreFinding(line(found.where), line(found.what, 400), line(_remedy(found), 400), found.harmless)
            for found in problems(self._memories)[:MOST]
        ]
        newest = self._logs.sessions()[:SESSIONS]
        self._read = {info.id: self._of(info) for info in newest}
        refusals = [refusal for _, found in self._read.values() for refusal in found]
        refusals.sort(key=lambda refusal: refusal.at, reverse=True)
        return Refused(findings, refusals[:MOST], len(newest))

    def _of(self, info: SessionInfo) -> tuple[SessionInfo, list[RefusedMemory]]:
        kept = self._read.get(info.id)
        if kept is not None and kept[0] == info:
            return kept
        try:
            events = self._logs.read(info.id).events
        except OutliveError:  # it is gone, or too large to be read whole
            return info, []
        return info, [
            RefusedMemory(info.id, event.id, event.time, line(event.text, 400))
            for event in events
            if isinstance(event, Noted)
            and event.kind in (LEARNED, MEMORY_NOTICE)
            and event.text.startswith(NOT_REMEMBERED)
        ]


def _remedy(found: Problem) -> str:
    command = COMMANDS.get(found.code, "").replace("NAME", str(found.data.get("name", "NAME")))
    return f"{found.remedy} ({command})" if command else found.remedy
