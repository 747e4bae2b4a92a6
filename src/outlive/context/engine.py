"""The engine: append events, ask for the next request. Holds everything in memory, does no I/O.

A session drives it: every event it appends goes to the log as well, and the events that `next_request` returns (a pass,
when one was needed) must be appended to the log before the request is sent.
"""

from collections.abc import Iterable

from msgspec import Struct

from outlive.context import plan as planning
from outlive.context.budget import Budget, budget_for
from outlive.context.index import Index
from outlive.context.pages import Pages
from outlive.context.pieces import Line
from outlive.context.policy import RICH, Policy
from outlive.context.tokens import Meter, estimate
from outlive.context.units import Unit, add_result, step_unit, user_unit
from outlive.context.view import Projection, history, join, projection_of, unit_messages, with_state
from outlive.events import AssistantSaid, Compacted, Edit, Event, Receipt, ToolFinished, Undone, UserSaid
from outlive.messages import Message


class Request(Struct, frozen=True):
    """What to send, and what to log before it is sent."""

    system: str
    messages: tuple[Message, ...]
    tokens: int
    new_events: tuple[Compacted, ...] = ()


class Engine:
    def __init__(self, window: int, policy: Policy = RICH) -> None:
        self.window = window
        self.policy = policy
        self.meter = Meter()
        self.units: list[Unit] = []
        self.index = Index()
        self.pages = Pages()
        self.projection = Projection()
        self.folded = 0
        self.pool: list[Line] = []
        self.system = ""
        self._open: dict[str, Unit] = {}
        self._messages: list[Message] = []
        self._rendered = 0
        self._tokens = 0.0
        self._last_time = 0.0
        self._asked_at: float | None = None
        self._last_id = 0
        self._after_pass = 0.0

    def append(self, event: Event) -> None:
        self._last_id = max(self._last_id, event.id)
        if isinstance(event, UserSaid):
            self._add_unit(user_unit(event))
            self._last_time = event.time
        elif isinstance(event, AssistantSaid):
            self._asked_at = self._last_time
            unit = step_unit(event)
            self._add_unit(unit)
            for call_id in unit.calls:
                self._open[call_id] = unit
        elif isinstance(event, ToolFinished):
            self._last_time = event.time
            unit = self._open.pop(event.call_id)
            piece = add_result(unit, event)
            self.pages.add(piece)
            self.index.add(piece)
        elif isinstance(event, Compacted):
            self._apply(event)

    def extend(self, events: Iterable[Event]) -> None:
        for event in events:
            self.append(event)

    def _add_unit(self, unit: Unit) -> None:
        self.units.append(unit)
        for piece in unit.pieces:
            self.pages.add(piece)
            self.index.add(piece)

    def _apply(self, event: Compacted) -> None:
        scene = self._scene()
        projection = projection_of(event)
        boundary = self.folded
        while boundary < len(self.units) and self.units[boundary].event <= projection.fold_to:
            boundary += 1
        self.pool = planning.next_pool(scene, boundary)
        self.folded = boundary
        self.projection = projection
        self._messages = history((), projection)
        self._rendered = boundary
        self._tokens = estimate(projection.digest)
        self._render_new()
        self._after_pass = self._tokens

    def _render_new(self) -> None:
        while self._rendered < len(self.units):
            unit = self.units[self._rendered]
            join(self._messages, unit_messages(unit, self.projection.edits))
            self._tokens += planning.unit_tokens(unit, self.projection)
            self._rendered += 1

    def _scene(self) -> planning.Scene:
        return planning.Scene(self.units, self.index, self.projection, self.folded, self.pool,
            estimate(self.system), budget_for(self.window, self.policy))

    def next_request(self) -> Request:
        self._render_new()
        budget = budget_for(self.window, self.policy)
        total = self._tokens + estimate(self.system)
        cold = self._asked_at is not None and self._last_time - self._asked_at > self.policy.cache_seconds
        events: tuple[Compacted, ...] = ()
        mark = budget.cold if cold else budget.engage
        if total > mark and self._tokens > self._after_pass + budget.gain or total > budget.hard:
            plan = planning.plan_pass(self._scene(), budget.target, budget.tail, budget.skeleton)
            edits = tuple(Edit(e, b, t) for (e, b), t in plan.projection.edits.items())
            after = planning.view_tokens(self._scene(), plan)
            if after < total - budget.gain:
                event = Compacted(id=self._last_id + 1, time=self._last_time, fold_to=plan.projection.fold_to,
                    digest=plan.projection.digest, edits=edits,
                    receipt=Receipt(plan.rungs, "cold" if cold else "pressure", round(total), round(after), lines_kept=plan.lines))
                self.append(event)
                events = (event,)
        return Request(self.system, with_state(self._messages, ""), round(self._tokens), events)
