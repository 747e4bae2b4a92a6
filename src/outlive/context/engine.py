"""The engine: append events, ask for the next request. Everything is in memory; there is no I/O and no clock.

A session drives it. Events that the engine itself makes (a pass) are returned with the request and applied already;
the session writes them to its log before it sends the request. The same events give the same requests, byte for byte.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from outlive.context.log.history import History
from outlive.context.log.pages import Page, handle
from outlive.context.passes.ladder import Ladder
from outlive.context.passes.receipts import by_kind
from outlive.context.policy import COLD_TAIL, RICH, SUMMARY_NEAR, Policy
from outlive.context.projection import Projection, Segment, projection_of
from outlive.context.summary import about_provider, marked
from outlive.context.view import View
from outlive.events import (
    AssistantSaid,
    Compacted,
    Event,
    ProviderSummary,
    Renewed,
    StateShown,
    SystemChanged,
    Undone,
    UsageReported,
)
from outlive.messages import Message
from outlive.request import Request


class Engine(View):
    """The context of one session: the view, the events that led to it, and the ladder that keeps it in its window."""

    def __init__(self, window: int, policy: Policy = RICH, reserve: int = 0) -> None:
        """`reserve`: tokens of each request that somebody else adds."""
        super().__init__(window, policy, reserve)

    def _start(self, history: History) -> None:
        super()._start(history)
        self.events: list[Event] = []
        """All that is in force, oldest first; what was taken back is in the log alone."""
        self._ladder = Ladder(self, self.append)
        self._asked_tokens: tuple[int, float] = (0, 0.0)
        """The newest answer, and the estimate of its request."""

    # -- events in

    def append(self, event: Event) -> None:
        """Take in one event of the log."""
        if isinstance(event, Undone) and event.what != "pass":
            self._rewind(event)
            return
        self.events.append(event)
        if isinstance(event, AssistantSaid | StateShown | SystemChanged):
            self.render_new()
        if isinstance(event, AssistantSaid):
            self._asked_tokens = event.id, self.estimate()
            self._ladder.answered()
        prompt = self.history.system, self.history.tools
        changed = self.history.append(event)
        if changed is not None:
            self._finished(changed)
        match event:
            case StateShown():
                self._take_state(event)
            case SystemChanged() if (self.history.system, self.history.tools) != prompt:
                self.prefix_changed()
            case Compacted():
                self._apply(projection_of(event, self.projection), event.pool)
                self._ladder.passed(event)
            case Renewed():
                self._apply(self._renewal(event))
                self._ladder.passed(event)
            case Undone():
                self._undo(event.target)
                self._ladder.undone()
            case UsageReported() if event.of and event.of == self._asked_tokens[0]:
                actual = event.input + event.cache_write + event.cache_read
                self.meter = self.meter.reported(self._asked_tokens[1], actual)
            case _:
                pass

    def extend(self, events: Iterable[Event]) -> None:
        """Take in a log. Its names are read when a pass needs them, or little by little as new events come."""
        waited, self.history.index.waits = self.history.index.waits, True
        try:
            for event in events:
                self.append(event)
        finally:
            self.history.index.waits = waited

    def _rewind(self, event: Undone) -> None:
        """Start again from what stays; pages keep their numbers."""
        live = [kept for kept in self.events if kept.id <= event.target]
        meter, waits = self.meter, self.history.index.waits
        self._start(History(self.history.pages))
        self.history.index.waits = waits
        self.extend(live)
        self.history.last_id = event.id
        self.meter = meter

    def _renewal(self, event: Renewed) -> Projection:
        pages = " ".join(handle(page.number) for page in self.history.pages)
        text = f"[A new sprint of this session. Handoff:]\n{event.handoff}\n[What came before, by handle: {pages}]"
        return Projection(event.id, event.id, (Segment(event.id, text),), shown_to=event.id)

    # -- requests out

    def next_request(self, now: float | None = None) -> Request:
        """The request that continues the session, after the passes that were due. `now`: else the last event."""
        passes = self.relieve(now)
        shown = self.tell_state()
        return replace(self.live_request(), passes=tuple(passes), state_shown=shown)

    def relieve(self, now: float | None = None) -> list[Compacted]:
        """Make the passes that are due. Raises FloorError."""
        self.render_new()
        return self._ladder.relieve(now)

    def live_request(self) -> Request:
        """The view as it is, without a pass and without a new state block: for a question about it."""
        self.render_new()
        return Request(
            self.history.system,
            self.history.tools,
            self.request_messages(),
            self.state_block().text,
            self.meter.tokens(self.estimate()),
            thinking_from=self.thinking_from,
            segments=len(self.projection.front),
            tool_changes=tuple(self.tool_changes),
        )

    def tell_state(self) -> StateShown | None:
        """Put a state block into the view, if one is due."""
        text, whole = self.state_due()
        if not text:
            return None
        last, time = self.history.last_id, self.history.last_time
        sections = dict(self.state_block().sections)
        shown = StateShown(id=last + 1, time=time, parent=last, text=text, sections=sections, whole=whole)
        self.append(shown)
        return shown

    def compact(self, focus: str = "", summary: str = "") -> Compacted | None:
        """Fold all but the tail now, whatever the marks say; None when there is nothing to gain.

        `summary` is a model's, already checked (`outlive.context.summary`); without one the digest is built by rule.
        """
        self.render_new()
        if summary:
            summary = marked(summary, self.history.units[0].event if self.history.units else 0, self.history.last_id)
        return self._ladder.asked(focus, summary)

    def may_gain(self, focus: str = "") -> bool:
        """Whether `compact` would save anything; a summary is asked for only then."""
        self.render_new()
        return self._ladder.may_gain(focus)

    def summary_request(self) -> tuple[Request, int] | None:
        """The part of the view that a provider is to summarize, all but the tail, and the event it goes up to; None
        when that is too little to be worth it, or when the tools have changed in it.

        It is the beginning of what was sent, so it is in the cache, and what stays begins with an answer.
        """
        self.render_new()
        units, start = self.history.units, self._ladder.summary_end()
        at = self._starts.get(units[start].event) if start else None
        if at is None or self.tool_changes:
            return None
        return replace(self.live_request(), messages=tuple(self.messages[:at])), units[start - 1].event

    def summarized(self, summary: ProviderSummary, fold_to: int, left_out: Iterable[str] = ()) -> Compacted | None:
        """Put the provider's summary in place of what it was asked to summarize, up to event `fold_to`.

        `left_out`: its lines that are not in the log; the digest says so. None when another pass came in
        between, when some of it was taken back, when the tools changed, or when nothing is gained.
        """
        self.render_new()
        units = self.history.units
        fold = next((number for number, unit in enumerate(units, 1) if unit.event == fold_to), 0)
        if fold <= self.folded or self.history.mid_batch or self.tool_changes:
            return None
        return self._ladder.summarized(summary, fold, about_provider(units[0].event, fold_to, left_out))

    def too_long(self, actual: int = 0, limit: int = 0) -> Compacted:
        """The provider refused the last request as too long: go down to the floor, twice at most."""
        self.render_new()
        if limit:
            self.window = min(self.window, limit)
        if actual:
            self.meter = self.meter.reported(self.estimate(), actual)
        return self._ladder.refused()

    def recall(self, ref: str | int) -> Page:
        """The page behind a handle."""
        return self.history.pages.get(ref)

    # -- what a person may ask

    def due(self, now: float | None = None) -> str:
        """Why the next request would make a pass ("pressure", "cold", "limit"), or nothing; nothing is changed."""
        self.render_new()
        return "" if self.history.mid_batch else self._ladder.due(now, self.full())

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the last planned pass did not happen."""
        return self._ladder.problems

    def shown(self) -> tuple[Message, ...]:
        """The messages of the view now. Makes no pass."""
        self.render_new()
        return tuple(self.messages)

    @property
    def used(self) -> int:
        """Tokens of the request as it would go out now."""
        self.render_new()
        return self.meter.tokens(self.full())

    @property
    def next_pass(self) -> int:
        """At how many tokens the next pass engages, as it looks now."""
        self.render_new()
        return self.meter.tokens(self._ladder.next_pass())

    @property
    def nears_pass(self) -> bool:
        """Whether the next pass is so near that its summary may be asked for."""
        return self.used >= SUMMARY_NEAR * self.next_pass

    @property
    def left_by_cold_pass(self) -> int:
        """Tokens that the request would have after a pass on a cold cache, roughly."""
        self.render_new()
        return self.meter.tokens(self._ladder.left(COLD_TAIL))

    def kinds(self) -> dict[str, int]:
        """What fills the window, in tokens by kind."""
        self.render_new()
        sums = by_kind(self.history.units[self.folded :], self.projection)
        return {kind: self.meter.tokens(tokens) for kind, tokens in (sums | self.fixed_parts()).items() if tokens}
