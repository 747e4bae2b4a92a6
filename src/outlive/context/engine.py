"""The engine: append events, ask for the next request. Everything is in memory; there is no I/O and no clock.

A session drives it. Events that the engine itself makes (a pass) are returned with the request and applied already;
the session writes them to its log before it sends the request. The same events give the same requests, byte for byte.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from outlive.context.contract import visible_pages
from outlive.context.errors import BrokenContract, FloorError, InvalidRequest
from outlive.context.history import History
from outlive.context.ledger import facts
from outlive.context.pages import Page, handle
from outlive.context.passes import ladder
from outlive.context.passes.budget import Budget, budget_for
from outlive.context.passes.plan import (
    SAFE,
    PassDepth,
    PassInput,
    PassPlan,
    digest_tokens,
    floor_tokens,
    next_pool,
    shown_tokens,
    unit_tokens,
    view_tokens,
)
from outlive.context.passes.protect import guarded
from outlive.context.passes.receipts import by_kind
from outlive.context.passes.stubs import handles
from outlive.context.pieces import Line, Piece
from outlive.context.policy import RICH, Policy
from outlive.context.state_block import render_state
from outlive.context.summary import marked
from outlive.context.tokens import Meter, estimate
from outlive.context.units import Unit, steps_shown
from outlive.context.validity import problems
from outlive.context.view import Projection, join, opening, projection_of, unit_messages, with_state
from outlive.events import AssistantSaid, Compacted, Event, Renewed, Undone, UsageReported
from outlive.messages import Message
from outlive.request import Request

ATTEMPTS = 2
ASKED_GAIN = 0.02
"""Of the window: what a pass that somebody asked for must free."""
PASS_ROW = 16.0
"""Tokens that the state block gains by saying that a pass was made."""
DIGEST_ROOM = 0.12
"""Of the window: where previews are needed anyway, they leave this much for a digest with some lines in it."""


@dataclass(slots=True)
class _Pass:
    """A projection in force, with what planning remembers of it."""

    projection: Projection
    folded: int
    pool: "array[int]"
    """Ids of the folded lines that the next pass chooses from; only those of the newest pass are kept at hand."""


def late_note(piece: Piece) -> str:
    """What the state block says of a result whose call is folded away."""
    return f"a result came late: {piece.label} {handles(piece)}"


class Engine:
    """The context of one session."""

    def __init__(self, window: int, policy: Policy = RICH) -> None:
        self.window = window
        self.policy = policy
        self.meter = Meter()
        self.history = History()
        self.events: list[Event] = []
        """All that is in force, oldest first; what was taken back is in the log alone."""
        self._passes = [_Pass(Projection(), 0, array("I"))]
        self._pool: list[Line] = []
        self._messages: list[Message] = []
        self._rendered = 0
        self._checked = 0
        self._tokens = 0.0
        self._after_pass = 0.0
        self._passed_at = -1000
        self._tried = 0
        self._answers = 0
        self._asked_tokens: dict[int, float] = {}
        self._refusals = 0
        self._late: list[str] = []
        self._settled: tuple[int, int, str] | None = None
        self.problems: tuple[str, ...] = ()
        """Why the last planned pass did not happen."""

    # -- events in

    def append(self, event: Event) -> None:
        """Take in one event of the log."""
        if isinstance(event, Undone) and event.what != "pass":
            self._rewind(event)
            return
        self.events.append(event)
        if isinstance(event, AssistantSaid):
            self._render_new()
            self._asked_tokens = {event.id: self._estimate()}
            self._tried = self._grown()
            self._answers += 1
            self._refusals = 0
        changed = self.history.append(event)
        if changed is not None:
            self._came_late(changed)
        match event:
            case Compacted():
                self._apply(projection_of(event))
                self._settled = self._now(event.focus) if "auto" in event.receipt.rungs else None
            case Renewed():
                self._apply(self._renewal(event))
            case Undone():
                self._undo(event.target)
            case UsageReported() if event.of in self._asked_tokens:
                actual = event.input + event.cache_write + event.cache_read
                self.meter = self.meter.reported(self._asked_tokens[event.of], actual)
            case _:
                pass

    def _came_late(self, unit: Unit) -> None:
        """A result may come after its placeholder was shown, or even after its call was folded away."""
        if unit.event <= self.projection.fold_to:
            self._late.append(late_note(unit.pieces[-1]))
        elif self._rendered and unit.event <= self.history.units[self._rendered - 1].event:
            self._render_all()

    def extend(self, events: Iterable[Event]) -> None:
        """Take in a log."""
        for event in events:
            self.append(event)

    # -- requests out

    def next_request(self, now: float | None = None, *, relieve: bool = True) -> Request:
        """The request that continues the session, after the passes that were due. `now`: else the last event.

        Without `relieve` no pass is made: the view as it is, for a question about it.
        """
        made: list[Compacted] = []
        self._render_new()
        block = self._state_block()
        if relieve and (not self.history.mid_batch or self._estimate(block) > self.budget.hard):
            made = self._relieve(now, block, self._spool())
            block = self._state_block() if made else block
        messages = with_state(self._messages, block)
        if found := problems(messages, self._checked):
            raise InvalidRequest("; ".join(found))
        self._checked = max(0, len(messages) - 2)
        tokens = self.meter.tokens(self._estimate(block))
        return Request(self.history.system, self.history.tools, messages, block, tokens, tuple(made))

    def due(self, now: float | None = None) -> str:
        """Why the next request would make a pass ("pressure", "cold", "limit"), or nothing; nothing is changed."""
        self._render_new()
        return "" if self.history.mid_batch else self._due(now, self._full())

    def compact(self, focus: str = "", summary: str = "") -> Compacted | None:
        """Fold all but the tail now, whatever the marks say; None when there is nothing to gain.

        `summary` is a model's, already checked (`outlive.context.summary`); without one the digest is built by rule.
        """
        self._render_new()
        if self.history.mid_batch or (self._settled == self._now(focus) and not summary):
            return None
        if summary:
            summary = marked(summary, self.history.units[0].event if self.history.units else 0, self.history.last_id)
        return self._pass(ladder.deep(self.budget, "auto"), "asked", focus, summary)

    def too_long(self, actual: int = 0, limit: int = 0) -> Compacted:
        """The provider refused the last request as too long: go down to the floor, twice at most."""
        self._render_new()
        if limit:
            self.window = min(self.window, limit)
        if actual:
            self.meter = self.meter.reported(self._estimate(), actual)
        self._refusals += 1
        made = self._pass(ladder.floor(), "refused") if self._refusals <= ATTEMPTS else None
        if made is None:
            raise FloorError(self.window, self.breakdown())
        return made

    def recall(self, ref: str | int) -> Page:
        """The page behind a handle."""
        return self.history.pages.get(ref)

    # -- what a person may ask

    @property
    def budget(self) -> Budget:
        """The marks in estimated tokens, so that plans and views are counted alike."""
        return budget_for(round(self.window / self.meter.ratio), self.policy)

    def shown(self) -> tuple[Message, ...]:
        """The messages of the view now, without the state block. Makes no pass."""
        self._render_new()
        return tuple(self._messages)

    @property
    def used(self) -> int:
        """Tokens of the request as it would go out now."""
        self._render_new()
        return self.meter.tokens(self._full())

    @property
    def next_pass(self) -> int:
        """At how many tokens the next pass engages, as it looks now; shortly after a pass it waits longer."""
        self._render_new()
        return self.meter.tokens(min(self._high_water(self.budget.payback), self.budget.hard))

    def kinds(self) -> dict[str, int]:
        """What fills the window, in tokens by kind."""
        self._render_new()
        sums = by_kind(self._pass_input(), self.projection, self._passes[-1].folded)
        system = estimate(self.history.system)
        parts = {
            "system": system,
            "tools": self.history.overhead - system,
            "state": estimate(self._state_block()),
        }
        return {kind: self.meter.tokens(tokens) for kind, tokens in (sums | parts).items() if tokens}

    @property
    def projection(self) -> Projection:
        """What is in force."""
        return self._passes[-1].projection

    def breakdown(self) -> dict[str, int]:
        """What fills the floor, in tokens."""
        units = self.history.units
        current = next((unit for unit in reversed(units) if unit.kind == "user"), None)
        newest = next((unit for unit in reversed(units) if unit is not current), None)
        parts = {
            "system": estimate(self.history.system),
            "tools": self.history.overhead - estimate(self.history.system),
            "state": estimate(self._state_block()),
            "current request": current.tokens if current else 0.0,
            "newest unit": unit_tokens(newest, self.projection) if newest else 0.0,
            "digest": estimate(self.projection.digest),
        }
        return {name: self.meter.tokens(tokens) for name, tokens in parts.items()}

    # -- passes

    def _spool(self) -> list[Compacted]:
        """Previews, but only when what arrived does not fit beside the least that must stay."""
        arrived = sum(piece.tokens for piece in self.history.unseen())
        if arrived <= self.budget.spool:
            return []
        given = self._pass_input(compacted=True)
        room = arrived + SAFE * self.budget.hard - floor_tokens(given)
        if arrived <= room:
            return []
        plan = ladder.spooled(self.history, given, room, DIGEST_ROOM * self.budget.window)
        return [self._commit(plan, "arrival", self._estimate())] if plan else []

    def _relieve(self, now: float | None, block: str, made: list[Compacted]) -> list[Compacted]:
        budget = self.budget
        total = self._estimate(block)
        reason = self._due(now, total)
        if not reason:
            return made
        best: tuple[PassPlan, float] | None = None
        for depth in (ladder.usual(budget, len(self.history.units) - self._passed_at), ladder.floor()):
            best = self._plan(depth, reason) or best
            if (best[1] if best else total) <= budget.hard:
                break
        made += [self._commit(best[0], reason, self._estimate(), after=best[1])] if best else []
        if self._full() <= budget.hard:
            return made
        room = (
            sum(shown_tokens(p, self.projection) for p in self.history.unseen()) + SAFE * budget.hard - self._full()
        )
        if plan := ladder.spooled(self.history, self._pass_input(), room, again=True):
            made.append(self._commit(plan, "limit", self._estimate()))
        if self._full() > self.window / self.meter.ratio:
            raise FloorError(self.window, self.breakdown(), made)
        return made

    def _due(self, now: float | None, total: float) -> str:
        budget = self.budget
        engage = partial(self._high_water, ladder.time_to_pay(budget, self._answers))
        return ladder.due(budget, total, self._grown(), self._tried, engage, cold=self.is_cold(now))

    def _high_water(self, requests: float) -> float:
        """Where a pass engages. What arrived since the last request has to be written to the cache either way."""
        asked = max(self._asked_tokens.values(), default=0.0)
        arrived = max(self._estimate() - asked, 0.0)
        return ladder.high_water(self._pass_input(compacted=True), self.history.overhead, arrived, requests)

    def _full(self) -> float:
        """Estimated tokens of the request as it would go out now."""
        return self._estimate(self._state_block())

    def _grown(self) -> int:
        """What came since the last pass, in steps of the smallest gain that is worth one."""
        return int((self._tokens - self._after_pass) / max(self.budget.gain, 1))

    def is_cold(self, now: float | None) -> bool:
        """Whether the provider's prompt cache has expired since the last request."""
        asked = self.history.asked_at
        moment = self.history.heard_at if now is None else now
        return asked is not None and moment - asked > self.policy.cache_seconds

    def _pass(self, depth: PassDepth, reason: str, focus: str = "", summary: str = "") -> Compacted | None:
        before = self._estimate()
        found = self._plan(depth, reason, focus, summary)
        return self._commit(found[0], reason, before, focus, found[1]) if found else None

    def _plan(
        self, depth: PassDepth, reason: str, focus: str = "", summary: str = ""
    ) -> tuple[PassPlan, float] | None:
        """A pass that keeps its contract and is worth a broken cache, and the tokens after it."""
        before = self._estimate()
        try:
            plan, after = ladder.attempt(
                self.history, self._pass_input(focus, summary, compacted=True), depth, before
            )
        except BrokenContract as error:
            self.problems = error.problems
            return None
        return None if before - after < self._worth(reason) else (plan, after)

    def _worth(self, reason: str) -> float:
        """What a pass must free to be made."""
        if reason in ("refused", "limit"):
            return 1.0
        gain = self.budget.gain
        return min(gain, ASKED_GAIN * self.budget.window) if reason == "asked" else gain

    def _commit(self, plan: PassPlan, reason: str, before: float, focus: str = "", after: float = 0.0) -> Compacted:
        given = self._pass_input(focus)
        after = after or view_tokens(given, plan)
        event = ladder.compacted(self.history, given, plan, reason, before, after, focus)
        self.append(event)
        return event

    def _pass_input(self, focus: str = "", summary: str = "", *, compacted: bool = False) -> PassInput:
        now = self._passes[-1]
        return PassInput(
            units=self.history.units,
            index=self.history.index,
            projection=now.projection,
            folded=now.folded,
            pool=self._pool,
            overhead=self.history.overhead + estimate(self._state_block(compacted=compacted)) + PASS_ROW * compacted,
            budget=self.budget,
            guard=guarded(self.history.state, self.history.ledger, focus),
            facts=facts(self.history.ledger),
            summary=summary or now.projection.summary,
        )

    # -- the view

    def _apply(self, projection: Projection) -> None:
        now = self._passes[-1]
        folded = now.folded
        while folded < len(self.history.units) and self.history.units[folded].event <= projection.fold_to:
            folded += 1
        ids = now.pool
        if folded > now.folded:
            self._pool = next_pool(self._pass_input(), folded)
            ids = array("I", (line.id for line in self._pool))
            for piece in (piece for unit in self.history.units[now.folded : folded] for piece in unit.pieces):
                piece.forget_lines()
        self._passes.append(_Pass(projection, folded, ids))
        self._render_all()
        self._start_count()
        self._passed_at = len(self.history.units)
        if projection.digest != now.projection.digest:
            self._late = []  # a new digest has their handles

    def _start_count(self) -> None:
        """Count growth towards the next pass from here."""
        self._after_pass, self._tried, self._answers = self._tokens, 0, 0

    def _now(self, focus: str) -> tuple[int, int, str]:
        """Key of a requested pass: the same request with nothing new since does nothing."""
        units = self.history.units
        return len(units), units[-1].last_event if units else 0, focus

    def _undo(self, target: int) -> None:
        """Back to the projection before; what had come late in the meantime is said again."""
        self._settled = None
        self._passes = [kept for kept in self._passes if kept.projection.event != target or not target]
        self._pool = self.history.index.find(self._passes[-1].pool)
        self._render_all()
        visible = visible_pages(self.projection.digest)
        folded = (piece for unit in self.history.units[: self._passes[-1].folded] for piece in unit.pieces)
        self._late = [late_note(p) for p in folded if p.kind == "result" and not visible.issuperset(p.pages)]
        self._start_count()  # a pass that was undone is not made again at once

    def _rewind(self, event: Undone) -> None:
        """Start again from what stays; pages keep their numbers."""
        live = [kept for kept in self.events if kept.id <= event.target]
        fresh = Engine(self.window, self.policy)
        fresh.history = History(self.history.pages)
        fresh.extend(live)
        fresh.history.last_id = event.id
        fresh.meter = self.meter
        self.__dict__.update(fresh.__dict__)

    def _renewal(self, event: Renewed) -> Projection:
        pages = " ".join(handle(page.number) for page in self.history.pages)
        text = f"[A new sprint of this session. Handoff:]\n{event.handoff}\n[What came before, by handle: {pages}]"
        return Projection(event.id, event.id, text)

    def _render_all(self) -> None:
        self._messages = opening(self.history.units, self.projection)
        self._tokens = digest_tokens(self.projection)
        self._rendered = self._passes[-1].folded
        self._checked = 0
        self._render_new()

    def _render_new(self) -> None:
        for unit in self.history.units[self._rendered :]:
            join(self._messages, unit_messages(unit, self.projection.edits))
            self._tokens += unit_tokens(unit, self.projection)
        self._rendered = len(self.history.units)

    def _state_block(self, *, compacted: bool = False) -> str:
        """The state block, as it is or (`compacted`) as it will be at most after the next pass."""
        history, now = self.history, self._passes[-1]
        shown = 0 if compacted else steps_shown(history.units, now.folded, len(history.state.recent_actions))
        compacted = compacted or len(self._passes) > 1
        notes = [*history.notes, *self._late]
        return render_state(
            history.state, history.ledger, self.budget.state, compacted=compacted, notes=notes, steps_shown=shown
        )

    def _estimate(self, block: str = "") -> float:
        """Estimated tokens of the whole request."""
        return self._tokens + self.history.overhead + estimate(block)
