"""From units to messages: what the model is shown under a projection.

Until a pass the view only grows: what was shown stays as it was, state blocks included. A projection says which units
are folded into a digest and which blocks read differently. It comes from the newest pass in the log that was not
undone, so the same log always gives the same view.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from outlive.context.errors import InvalidRequest
from outlive.context.history import History
from outlive.context.pages import pages_of_segment
from outlive.context.passes.pool import choose_pool, pool_of
from outlive.context.passes.stubs import handles
from outlive.context.pieces import Line, Piece
from outlive.context.policy import STATE_FAR, Budget, Policy, budget_for
from outlive.context.state_block import StateBlock, render_state
from outlive.context.tokens import IMAGE_TOKENS, Meter, estimate
from outlive.context.units import Unit, first_from, steps_shown
from outlive.context.validity import problems
from outlive.events import SPOOL_ONLY, Compacted, PoolChange, ProviderSummary, StateShown
from outlive.messages import Block, Message, Text, ToolResult

INTERRUPTED = "[no result: the call was interrupted]"
OPENING = "[the session starts here]"
EMPTY = "[nothing]"

Edits = Mapping[tuple[int, int], str]


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the digest, which later passes leave as it is until one merges it with others."""

    event: int
    """The pass that wrote it; 0 while it is planned."""
    text: str
    tokens: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", estimate(self.text))


@dataclass(frozen=True, slots=True)
class Projection:
    """How the log is shown."""

    event: int = 0
    """The pass it comes from; 0 when there was none."""
    fold_to: int = 0
    segments: tuple[Segment, ...] = ()
    """The digest, oldest first."""
    edits: Edits = field(default_factory=dict)
    summary: str = ""
    pictures: tuple[tuple[int, int], ...] = ()
    """Pictures of the current request, if the request is in the digest."""
    request: str = ""
    """The current request, if it is not among the units that are shown; it stands below the digest."""
    shown_to: int = 0
    """The newest pass that changed what had been shown: state blocks before it are gone, results that came late until
    then are in their place."""
    facts: str = ""
    """What the ledger tells; it stands below the digest."""
    provider_summary: ProviderSummary | None = None
    digest_after: int = 0
    """The event before which all units stand before the digest; 0 if the digest stands before them."""

    @property
    def digest(self) -> str:
        return "\n".join(segment.text for segment in self.segments)

    @property
    def visible(self) -> frozenset[int]:
        """The pages whose handles stand in the digest."""
        return frozenset[int]().union(*(pages_of_segment(segment.text) for segment in self.segments))

    @property
    def front(self) -> tuple[Segment, ...]:
        """The parts of the digest that stand before all else and stay there."""
        return () if self.digest_after else self.segments


def projection_of(event: Compacted, before: Projection) -> Projection:
    """The projection that a pass put in force: the one before, if that lacks what the pass keeps of it."""
    known = {segment.event: segment for segment in before.segments}
    if not known.keys() >= set(event.keeps):
        return before
    kept = tuple(known[number] for number in event.keeps)
    return Projection(
        event.id,
        event.fold_to,
        (*kept, Segment(event.id, event.digest)) if event.digest else kept,
        {(edit.event, edit.block): edit.text for edit in event.edits},
        event.summary,
        event.pictures,
        event.request,
        _shown_to(event, before),
        event.facts,
        event.provider_summary,
        event.digest_after,
    )


def _shown_to(event: Compacted, before: Projection) -> int:
    if event.receipt.rungs == SPOOL_ONLY:
        return before.shown_to
    return event.fold_to if event.digest_after else event.id


def unit_messages(unit: Unit, edits: Edits, shown_to: int) -> list[Message]:
    """One unit as messages: the user's words, or an answer and the results of its calls."""
    said = tuple(block for _, block in said_blocks(unit, edits)) or (Text(EMPTY),)
    if unit.kind == "user":
        return [Message("user", said)]
    messages = [Message("assistant", said)]
    if unit.calls:
        messages.append(Message("user", tuple(block for _, block in result_blocks(unit, edits, shown_to))))
    return messages


def said_blocks(unit: Unit, edits: Edits) -> Iterator[tuple[int, Block]]:
    """What a unit says as it is shown: blocks with their numbers in its event."""
    for number, block in enumerate(unit.blocks):
        shown = _shown(unit.event, number, block, edits)
        if shown is not None:
            yield number, shown


def result_blocks(unit: Unit, edits: Edits, shown_to: int) -> Iterator[tuple[str, ToolResult]]:
    """The results of a unit as they are shown, by call."""
    for call_id in unit.calls:
        yield call_id, _result(unit, call_id, edits, shown_to)


def _shown(event: int, number: int, block: Block, edits: Edits) -> Block | None:
    if isinstance(block, Text):
        text = edits.get((event, number), block.text)
        return Text(text) if text.strip() else None  # providers refuse blank text
    return block


def _result(unit: Unit, call_id: str, edits: Edits, shown_to: int) -> ToolResult:
    event = unit.results.get(call_id)
    if event is None or (event.id > shown_to and event.id in unit.late):
        return ToolResult(call_id, INTERRUPTED, is_error=True)
    text = edits.get((event.id, 0))
    if text is None:
        return ToolResult(call_id, event.text, event.is_error, event.images)
    return ToolResult(call_id, text, event.is_error)


def join(messages: list[Message], new: Iterable[Message]) -> None:
    """Append, merging neighbours of the same role, which providers want to alternate."""
    for message in new:
        if not messages and message.role == "assistant":
            messages.append(Message("user", (Text(OPENING),)))
        if messages and messages[-1].role == message.role:
            messages[-1] = Message(message.role, (*messages[-1].blocks, *message.blocks))
        else:
            messages.append(message)


def opening(units: Sequence[Unit], projection: Projection) -> list[Message]:
    """What stands before the units that are shown: the provider's summary and the digest, if it does."""
    summary = projection.provider_summary
    messages = [Message("assistant", (summary.block,))] if summary else []
    return messages if projection.digest_after else messages + digest_messages(units, projection)


def digest_messages(units: Sequence[Unit], projection: Projection) -> list[Message]:
    """The digest, and below it the facts and the current request with its pictures."""
    if not projection.segments:
        return []
    pictures = (
        block
        for event in sorted({event for event, _ in projection.pictures})
        for unit in units[first_from(units, event) : first_from(units, event + 1)]
        for number, block in enumerate(unit.blocks)
        if (event, number) in projection.pictures
    )
    digest = (Text(segment.text) for segment in projection.segments)
    facts = (Text(projection.facts),) if projection.facts else ()
    request = (Text(projection.request, "user"),) if projection.request else ()
    return [Message("user", (*digest, *facts, *request, *pictures))]


def conversation(units: Sequence[Unit], projection: Projection) -> list[Message]:
    """All messages under the projection of a new pass, before its first state block."""
    messages = opening(units, projection)
    for unit in units[first_from(units, projection.fold_to + 1) :]:
        join(messages, unit_messages(unit, projection.edits, unit.last_event))
    if projection.digest_after:
        join(messages, digest_messages(units, projection))
    return messages


def sendable(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages; the last one is a user's, as providers want it."""
    if messages and messages[-1].role == "user":
        return tuple(messages)
    return (*messages, Message("user", (Text(EMPTY if messages else OPENING),)))


def digest_tokens(projection: Projection) -> float:
    """Tokens of the digest with what stands beside it."""
    beside = estimate(projection.facts) + estimate(projection.request) + IMAGE_TOKENS * len(projection.pictures)
    summary = projection.provider_summary
    return segment_tokens(projection.segments) + beside + (summary.tokens if summary else 0)


def segment_tokens(segments: Iterable[Segment]) -> float:
    """Tokens of these parts of the digest."""
    return sum(segment.tokens for segment in segments)


def unit_tokens(unit: Unit, projection: Projection) -> float:
    """Tokens of a unit as it is shown."""
    return unit.extra + sum(shown_tokens(piece, projection) for piece in unit.pieces)


def shown_tokens(piece: Piece, projection: Projection) -> float:
    """Tokens of a piece as it is shown."""
    text = projection.edits.get(piece.key)
    return piece.tokens if text is None else estimate(text)


@dataclass(slots=True)
class _Pass:
    """A projection in force."""

    projection: Projection
    folded: int
    pool: PoolChange | None


class View:
    """What the model is shown now, rendered as the log grows. All tokens are estimates, scaled by the meter."""

    def __init__(self, window: int, policy: Policy, reserve: int) -> None:
        self.window = window
        self.policy = policy
        self._reserve = reserve
        self.caches_front = True
        """Whether a digest stays in the provider's cache when a pass changes what stands below it."""
        self.awaits_summary = False
        """A summary of the provider is on its way, and so is a pass: one that only saves money is not made before."""
        self._start(History())

    def _start(self, history: History) -> None:
        self.history = history
        history.reserve = history.overhead = self._reserve
        self.meter = Meter()
        self._pool: list[Line] | None = []
        """The lines of the pool, once somebody asked."""
        self.messages: list[Message] = []
        self.tokens = 0.0
        """Of the messages."""
        self.thinking_from = 0
        """Thinking in messages before this one was thought in another view."""
        self._passes = [_Pass(Projection(), 0, PoolChange())]
        self._rendered = 0
        self._starts: dict[int, int] = {}
        """The first message of each unit that begins one."""
        self._checked = 0
        self._late: list[Piece] = []
        self._known: Mapping[str, str] | None = None
        """The state that the view tells; None when it tells none."""
        self._told_at = 0.0
        """Tokens of the view when it was told as a whole."""
        self._state_tokens = 0.0
        """Of the state blocks in the view."""

    @property
    def budget(self) -> Budget:
        """The marks in estimated tokens, so that plans and views are counted alike."""
        return budget_for(round(self.window / self.meter.ratio), self.policy)

    @property
    def projection(self) -> Projection:
        """What is in force."""
        return self._passes[-1].projection

    @property
    def cached_front(self) -> tuple[Segment, ...]:
        """The parts of the digest that are still in the provider's cache after a pass."""
        return self.projection.front if self.caches_front else ()

    @property
    def folded(self) -> int:
        """How many units are folded into the digest."""
        return self._passes[-1].folded

    def request_messages(self) -> tuple[Message, ...]:
        """The messages to send. Raises InvalidRequest."""
        messages = sendable(self.messages)
        if found := problems(messages, self._checked):
            raise InvalidRequest("; ".join(found))
        self._checked = max(0, len(messages) - 2)
        return messages

    def estimate(self) -> float:
        """Tokens of system prompt, tools and messages."""
        return self.tokens + self.history.overhead

    def full(self) -> float:
        """Tokens of the request as it would go out now."""
        return self.estimate() + estimate(self.state_due()[0])

    def is_cold(self, now: float | None) -> bool:
        """Whether the provider's prompt cache has expired since the last request."""
        asked = self.history.asked_at
        moment = self.history.heard_at if now is None else now
        return asked is not None and moment - asked > self.policy.cache_seconds

    def state_due(self) -> tuple[str, bool]:
        """The state block that enters the view with the next request, and whether it tells the whole state.

        It is due when something has changed that the view does not tell yet, or when the view has grown so much that
        the last whole one is far; also where the last message is the model's, which cannot be answered.
        """
        if not self.messages:
            return "", False
        block = self.state_block()
        far = self._known is not None and self.tokens - self._told_at > STATE_FAR
        text = block.again() if far and block.text else block.after(self._known)
        if not text and self.messages[-1].role == "assistant":
            text = block.again() if self._known is not None else EMPTY
        return text, text in (block.text, block.again())

    def state_block(self, *, compacted: bool = False) -> StateBlock:
        """The state, as it is or (`compacted`) as it will be at most after the next pass."""
        history = self.history
        shown = 0 if compacted else steps_shown(history.units, self.folded, len(history.state.recent_actions))
        return render_state(
            history.state,
            history.ledger,
            self.budget.state,
            compacted=compacted or len(self._passes) > 1,
            notes=[*history.notes, *map(_late_note, self._late)],
            system_news="" if compacted else history.system_news,
            steps_shown=shown,
        )

    def breakdown(self) -> dict[str, int]:
        """What fills the floor, in tokens."""
        units = self.history.units
        current = next((unit for unit in reversed(units) if unit.kind == "user"), None)
        newest = next((unit for unit in reversed(units) if unit is not current), None)
        parts = {
            **self.fixed_parts(),
            "current request": current.tokens if current else 0.0,
            "newest unit": unit_tokens(newest, self.projection) if newest else 0.0,
            "digest": segment_tokens(self.projection.segments) + estimate(self.projection.facts),
        }
        return {name: self.meter.tokens(tokens) for name, tokens in parts.items()}

    def fixed_parts(self) -> dict[str, float]:
        """Tokens of what stands around the history."""
        system = estimate(self.history.system)
        tools = self.history.overhead - system
        return {"system": system, "tools": tools, "state": self._state_tokens + estimate(self.state_due()[0])}

    # -- changes

    def render_new(self, until: float = math.inf) -> None:
        """Append the messages of units that came since, and before event `until`."""
        for unit in self.history.units[self._rendered :]:
            if unit.event > until:
                break
            new = unit_messages(unit, self.projection.edits, self.projection.shown_to)
            if self.messages and self.messages[-1].role != new[0].role:
                self._starts[unit.event] = len(self.messages)
            join(self.messages, new)
            self.tokens += unit_tokens(unit, self.projection)
            for state in unit.states:
                if state.id < until:
                    self._show(state)
            self._rendered += 1

    def _take_state(self, state: StateShown) -> None:
        if self.history.units:
            self.history.units[-1].states += (state,)
            self._show(state)

    def _show(self, state: StateShown) -> None:
        """Append a state block, unless a pass came since."""
        if state.id <= self.projection.shown_to:
            return
        join(self.messages, [Message("user", (Text(state.text, "harness"),))])
        tokens = estimate(state.text)
        self.tokens += tokens
        self._state_tokens += tokens
        self._known = state.sections
        if state.whole:
            self._told_at = self.tokens

    def _render_all(self) -> int:
        """Render the view; return how many of its messages are from before the pass."""
        self.messages = opening(self.history.units, self.projection)
        self.tokens = digest_tokens(self.projection)
        self._rendered = self.folded
        self._starts.clear()
        self._checked = 0
        self._state_tokens = 0.0
        after = self.projection.digest_after
        self.render_new(after)
        kept = len(self.messages)
        if after:
            join(self.messages, digest_messages(self.history.units, self.projection))
        self._known = None
        for unit in self.history.units[self.folded : self._rendered]:
            for state in unit.states:
                if state.id > after:
                    self._show(state)
        self.render_new()
        return kept

    def _finished(self, unit: Unit) -> None:
        """A result came: after its placeholder was shown perhaps, or even after its call was folded away."""
        piece = unit.pieces[-1]
        if piece.event in unit.late or unit.event <= self.projection.fold_to:
            self._late.append(piece)
        elif self._rendered and unit.event <= self.history.units[self._rendered - 1].event:
            self._render_all()

    def _apply(self, projection: Projection, pool: PoolChange | None = None) -> None:
        units, now = self.history.units, self._passes[-1]
        if projection.digest_after:
            self.render_new()
        thought_here = len(self.messages) - self.thinking_from
        folded = now.folded
        while folded < len(units) and units[folded].event <= projection.fold_to:
            folded += 1
        if folded > now.folded:
            self._pool = None
        self._passes.append(_Pass(projection, folded, pool))
        self._count_folded()
        kept = self._render_all()
        new_digest = projection.segments != now.projection.segments
        self._late = [] if new_digest and not projection.digest_after else self._unsaid()
        if projection.shown_to == now.projection.shown_to:
            return
        if projection.digest_after:
            self.thinking_from = max(0, kept - thought_here)
        else:
            self.prefix_changed()

    def _count_folded(self) -> None:
        units = self.history.units[self.folded :]
        self.history.index.fold(next((piece for unit in units for piece in unit.pieces), None))

    def prefix_changed(self) -> None:
        """The thinking in all messages so far was produced after other messages than it now follows."""
        self.thinking_from = len(self.messages)

    def pool(self) -> list[Line]:
        """The folded lines that the next pass chooses from, besides those that it folds.

        What the log does not tell (it is older, or damaged) is chosen from all that is folded.
        """
        if self._pool is not None:
            return self._pool
        changes, _ = self._pool_changes()
        folded = [piece for unit in self.history.units[: self.folded] for piece in unit.pieces]
        index = self.history.index
        index.catch_up()
        if changes is None:
            return choose_pool(index, (line for piece in folded for line in piece.lines), self.budget)
        self._pool = pool_of(changes, {piece.key: piece for piece in folded})
        return self._pool

    def keep_pool(self, lines: list[Line]) -> None:
        """The pool after the pass that was just made, as its planner had it: it need not be read again."""
        self._pool = lines

    @property
    def pool_from(self) -> int:
        """The pass that the pool in force is from; 0 if there was none, or the log does not tell."""
        return self._pool_changes()[1]

    def _pool_changes(self) -> tuple[list[PoolChange] | None, int]:
        """The changes that lead to the pool in force, oldest first, and the newest pass among them."""
        changes: list[PoolChange] = []
        newest, wanted = 0, -1
        for before, made in zip(reversed(self._passes[:-1]), reversed(self._passes), strict=False):
            if made.folded == before.folded:
                continue
            if made.pool is None or wanted not in (-1, made.projection.event):
                return None, 0
            newest = newest or made.projection.event
            changes.append(made.pool)
            wanted = made.pool.after
            if not wanted:
                break
        return (None, 0) if wanted > 0 else (changes[::-1], newest)

    def _undo(self, target: int) -> None:
        """Back to the projection before; what had come late in the meantime is said again."""
        self._passes = [kept for kept in self._passes if kept.projection.event != target or not target]
        self._pool = None
        self._count_folded()
        self._render_all()
        self._late = self._unsaid()
        self.prefix_changed()

    def _unsaid(self) -> list[Piece]:
        """Results that neither the digest nor the messages tell, because they came late."""
        visible, units = self.projection.visible, self.history.units
        all_told = visible.issuperset(self.history.unit_pages.of_steps(0, self.folded))
        steps = () if all_told else units[: self.folded]
        folded = (p for unit in steps for p in unit.pieces if not visible.issuperset(p.pages))
        shown_to = self.projection.shown_to
        kept = (p for unit in units[self.folded :] if unit.late for p in unit.pieces if p.event in unit.late)
        return [p for p in (*folded, *(p for p in kept if p.event > shown_to)) if p.kind == "result"]


def _late_note(piece: Piece) -> str:
    """What the state block says of a result whose call is folded away."""
    return f"a result came late: {piece.label} {handles(piece)}"
