"""The engine: append events, ask for the next request. Everything is in memory; there is no I/O and no clock.

A session drives it. Events that the engine itself makes (a pass) are returned with the request and applied already;
the session writes them to its log before it sends the request. The same events give the same requests, byte for byte.
"""

from collections.abc import Iterable

from outlive.context.history import History
from outlive.context.pages import Page, handle
from outlive.context.passes.ladder import Ladder
from outlive.context.passes.receipts import by_kind
from outlive.context.policy import RICH, Policy
from outlive.context.summary import marked
from outlive.context.view import Projection, View, projection_of
from outlive.events import AssistantSaid, Compacted, Event, Renewed, Undone, UsageReported
from outlive.messages import Message
from outlive.request import Request


class Engine(View):
    """The context of one session: the view, the events that led to it, and the ladder that keeps it in its window."""

    def __init__(self, window: int, policy: Policy = RICH) -> None:
        super().__init__(window, policy)

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
        if isinstance(event, AssistantSaid):
            self.render_new()
            self._asked_tokens = event.id, self.estimate()
            self._ladder.answered()
        changed = self.history.append(event)
        if changed is not None:
            self._came_late(changed)
        match event:
            case Compacted():
                self._apply(projection_of(event))
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
        """Take in a log."""
        for event in events:
            self.append(event)

    def _rewind(self, event: Undone) -> None:
        """Start again from what stays; pages keep their numbers."""
        live = [kept for kept in self.events if kept.id <= event.target]
        meter = self.meter
        self._start(History(self.history.pages))
        self.extend(live)
        self.history.last_id = event.id
        self.meter = meter

    def _renewal(self, event: Renewed) -> Projection:
        pages = " ".join(handle(page.number) for page in self.history.pages)
        text = f"[A new sprint of this session. Handoff:]\n{event.handoff}\n[What came before, by handle: {pages}]"
        return Projection(event.id, event.id, text)

    # -- requests out

    def next_request(self, now: float | None = None, *, relieve: bool = True) -> Request:
        """The request that continues the session, after the passes that were due. `now`: else the last event.

        Without `relieve` no pass is made: the view as it is, for a question about it.
        """
        self.render_new()
        block = self.state_block()
        made = self._ladder.relieve(now, block) if relieve else []
        block = self.state_block() if made else block
        messages = self.request_messages(block)
        tokens = self.meter.tokens(self.estimate(block))
        return Request(self.history.system, self.history.tools, messages, block, tokens, tuple(made))

    def compact(self, focus: str = "", summary: str = "") -> Compacted | None:
        """Fold all but the tail now, whatever the marks say; None when there is nothing to gain.

        `summary` is a model's, already checked (`outlive.context.summary`); without one the digest is built by rule.
        """
        self.render_new()
        if summary:
            summary = marked(summary, self.history.units[0].event if self.history.units else 0, self.history.last_id)
        return self._ladder.asked(focus, summary)

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
        """The messages of the view now, without the state block. Makes no pass."""
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

    def kinds(self) -> dict[str, int]:
        """What fills the window, in tokens by kind."""
        self.render_new()
        sums = by_kind(self.history.units[self.folded :], self.projection)
        return {kind: self.meter.tokens(tokens) for kind, tokens in (sums | self.fixed_parts()).items() if tokens}
