"""The past of a session in the shape that planning needs: units, names, pages, state and ledger.

Grows by one event at a time, at a cost that depends on that event alone.
"""

import json
from collections import deque
from collections.abc import Iterable

from outlive.context.ledger import Ledger
from outlive.context.log.pages import Pages
from outlive.context.log.pieces import Piece
from outlive.context.log.unit_pages import UnitPages
from outlive.context.log.units import Unit, add_result, step_unit, user_unit
from outlive.context.passes.lines.name_index import NameIndex
from outlive.context.passes.user_words import read_rules
from outlive.context.policy import SMALLEST_WORDS
from outlive.context.tokens import estimate
from outlive.events import (
    AssistantSaid,
    Checkpointed,
    Compacted,
    Event,
    Forked,
    Noted,
    Renewed,
    SessionStarted,
    SystemChanged,
    ToolFinished,
    Unqueued,
    UserQueued,
    UserSaid,
)
from outlive.messages import Text, ToolCall, tool_calls
from outlive.origin import origin_of
from outlive.state import WorkingState

RECENT_NOTES = 5
"""They stand in every request until the user speaks again."""
LINES_READ = 40
"""Lines of a wall of text that are read for standing instructions when another event comes: a few milliseconds."""
SEEN = "seen"
"""Checkpoints of this label say what was seen of files, git and processes."""
LEARNED, MEMORY_NOTICE = "learned", "memory"
"""Kinds of notes for the user only, not for the model: what was remembered, and what else the memory has to say."""


class History:
    """Everything that was said and done, indexed."""

    def __init__(self, pages: Pages | None = None) -> None:
        self.pages = Pages() if pages is None else pages
        self.units: list[Unit] = []
        self.user_units: list[Unit] = []
        """Those in which the user speaks."""
        self.user_words: list[Piece] = []
        """What is said in them."""
        self.unit_pages = UnitPages(self.units)
        self.index = NameIndex()
        self.ledger = Ledger()
        self.state = WorkingState()
        self.notes: list[str] = []
        self.queued: dict[int, str] = {}
        """Words of the user that wait for the next request, by event."""
        self.system = self.next_system = ""
        """In force; from the next pass on."""
        self.system_news = ""
        """How they differ, where they do."""
        self.tools: tuple[dict[str, object], ...] = ()
        """As requests declare them: those in force, or until the next pass those of before."""
        self.next_tools: tuple[dict[str, object], ...] = ()
        """Those in force."""
        self.tools_changed: tuple[SystemChanged, ...] = ()
        """Changes since they were declared that no unit has followed yet."""
        self.tools_declared_at = 0
        """The event since which they are declared."""
        self.reserve = 0.0
        """Tokens that the caller adds to each request, which the log does not have."""
        self.overhead = 0.0
        """Tokens of system prompt and tools, which no pass can change, and the reserve."""
        self.last_id = 0
        self.last_time = 0.0
        self.heard_at = 0.0
        """When the model got something to answer, for how cold the cache is."""
        self.asked_at: float | None = None
        """When the last request that was answered went out."""
        self._walls: deque[Piece] = deque()
        """Texts of the user that a pass may shorten; they are read for standing instructions before that."""
        self._open: dict[str, tuple[Unit, ToolCall]] = {}
        self._answer: Unit | None = None
        """The newest one."""

    def append(self, event: Event) -> Unit | None:
        """Take in an event; the unit is returned when an existing one changed."""
        self.last_id = max(self.last_id, event.id)
        self.last_time = max(self.last_time, event.time)
        self.state = self.state.apply(event)
        if self._walls and not self.index.waits and read_rules(self._walls[0], LINES_READ):
            self._walls.popleft()
        self._queue(event)
        self._prompt(event)
        match event:
            case UserSaid():
                self.heard_at = event.time
                self._add(user_unit(event, len(self.units)))
                self.notes.clear()
                for block in event.blocks:
                    if isinstance(block, Text) and origin_of(block) != "user":
                        self.ledger.heard(block.text)
            case AssistantSaid():
                self.asked_at = self.heard_at
                unit = self._answer = step_unit(event, len(self.units))
                self._add(unit)
                self._open.update((call.id, (unit, call)) for call in tool_calls(event.blocks))
            case ToolFinished():
                self.heard_at = event.time
                return self._finish(event)
            case Compacted():
                if self.pages.settle(event.pages):
                    for unit in self.units:
                        unit.recount()
                    self.unit_pages.changed(0)
            case Noted() if event.kind not in (LEARNED, MEMORY_NOTICE):
                self.notes = [*self.notes, event.text][-RECENT_NOTES:]
            case Checkpointed() if event.label == SEEN:
                self.ledger.ended(map(str, event.data.get("gone") or ()))
            case _:
                pass
        return None

    def _prompt(self, event: Event) -> None:
        """The system prompt and the tools; a prompt that waits is used when a pass changes what was sent anyway."""
        match event:
            case SystemChanged() if event.told or event.keeps_tools:
                self.next_system, self.system_news = event.system, event.told
                if event.keeps_tools:
                    self.next_tools = event.tools
                    self.tools_changed += (event,)
                return
            case SessionStarted() | SystemChanged():
                self.next_system, self.next_tools = event.system, event.tools
            case Compacted() if event.keeps_front or not (self.system_news or self.next_tools != self.tools):
                return
            case Compacted() | Renewed():
                pass
            case _:
                return
        self.system, self.tools, self.system_news = self.next_system, self.next_tools, ""
        self.tools_changed, self.tools_declared_at = (), event.id
        tools = json.dumps(self.tools, ensure_ascii=False) if self.tools else ""
        self.overhead = self.reserve + estimate(self.system) + estimate(tools)

    def _queue(self, event: Event) -> None:
        """Queued words; a fork starts with none, because they are said in the session that it was made from."""
        match event:
            case UserQueued():
                self.queued[event.id] = event.text
            case UserSaid(queued=heard) | Unqueued(events=heard) if heard:
                self.queued = {number: text for number, text in self.queued.items() if number not in heard}
            case Forked():
                self.queued = {}
            case _:
                pass

    def _add(self, unit: Unit) -> None:
        self.units.append(unit)
        if unit.kind == "user":
            unit.tools_changed, self.tools_changed = self.tools_changed, ()
        if unit.kind == "user":
            self.user_units.append(unit)
            said = [piece for piece in unit.pieces if piece.kind == "user"]
            self.user_words += said
            self._walls.extend(piece for piece in said if piece.tokens > SMALLEST_WORDS)
        self._read(unit, unit.pieces)

    def _finish(self, event: ToolFinished) -> Unit | None:
        if event.call_id not in self._open:
            self.notes = [*self.notes, f"a result for the unknown call {event.call_id} was ignored"][-RECENT_NOTES:]
            return None
        unit, call = self._open.pop(event.call_id)
        if unit is not self._answer:
            unit.late |= {event.id}
        self._read(unit, [add_result(unit, event)])
        self.ledger.note(call, event.id, event.text, is_error=event.is_error, exit_code=event.exit_code)
        return unit

    def _read(self, unit: Unit, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            self.pages.add(piece)
            self.index.add(piece)
        unit.recount()
        self.unit_pages.changed(unit.number)

    @property
    def waiting(self) -> tuple[ToolCall, ...]:
        """Calls of the newest answer that have not come back yet."""
        newest = self.units[-1] if self.units else None
        return tuple(call for unit, call in self._open.values() if unit is newest)

    @property
    def mid_batch(self) -> bool:
        return bool(self.waiting)

    def unseen(self) -> list[Piece]:
        """Results that no answer of the model has followed yet."""
        found: list[Piece] = []
        for unit in reversed(self.units):
            found.extend(piece for piece in unit.pieces if piece.kind in ("result", "user"))
            if unit.kind == "step":
                break
        return found
