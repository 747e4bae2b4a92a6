"""What the model is shown now: messages that only grow until a pass, state blocks included."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from outlive.context.errors import InvalidRequest
from outlive.context.log.history import History
from outlive.context.log.pieces import Line, Piece
from outlive.context.log.units import Unit, steps_shown
from outlive.context.passes.lines.pool import choose_pool, pool_of
from outlive.context.passes.stubs import handles
from outlive.context.policy import STATE_FAR, Budget, Policy, budget_for
from outlive.context.projection import Projection, Segment, digest_tokens, segment_tokens, unit_tokens
from outlive.context.rendering import EMPTY, digest_messages, join, opening, sendable, unit_messages
from outlive.context.state_block import StateBlock, render_state
from outlive.context.tokens import Meter, estimate
from outlive.context.validity import problems
from outlive.events import PoolChange, StateShown, SystemChanged
from outlive.messages import Message, Text
from outlive.request import ToolChange, tools_after


@dataclass(slots=True)
class _Pass:
    """A pass in the log: its projection, how many units it folded, and how the pool changed."""

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
        """Whether the provider keeps the digest in its cache when a pass changes what follows it."""
        self.awaits_summary = False
        """The provider is writing a summary. A pass comes with it, so none is made before only to save money."""
        self._start(History())

    def _start(self, history: History) -> None:
        self.history = history
        history.reserve = history.overhead = self._reserve
        self.meter = Meter()
        self._pool: list[Line] | None = []
        """Cached: the lines of the pool."""
        self.messages: list[Message] = []
        self.tokens = 0.0
        """Of the messages."""
        self.thinking_from = 0
        """Thinking in messages before this one belongs to an earlier view."""
        self.tool_changes: list[ToolChange] = []
        """Since the tools of requests were declared."""
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
            files=not compacted and self.folded > 0 and not self.projection.facts,  # the facts list them, too
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
        """Tokens of system prompt, tools and state blocks."""
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
            for change in unit.tools_changed:
                self._change_tools(change)
            for state in unit.states:
                if state.id < until:
                    self._show(state)
            self._rendered += 1

    def _change_tools(self, event: SystemChanged) -> None:
        """Add a change of tools from the newest message on, unless they were declared since."""
        if event.id <= self.history.tools_declared_at:
            return
        before = {tool["name"] for tool in tools_after(self.history.tools, self.tool_changes)}
        added = tuple(tool for tool in event.tools if tool["name"] not in before)
        removed = before.difference(tool["name"] for tool in event.tools)
        if added or removed:
            self.tool_changes.append(ToolChange(len(self.messages) - 1, added, tuple(sorted(map(str, removed)))))
            self.tokens += estimate(json.dumps(added, ensure_ascii=False))

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
        self.tool_changes.clear()
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
        """Show a new result; the state block tells it if its placeholder was shown already or its call is folded."""
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

        If the log does not tell them (it is older, or damaged), they are chosen from everything that is folded.
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
        """Cache the pool of the pass that was just made."""
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
        """Return to the projection before a pass; results that came late since then are told again."""
        self._passes = [kept for kept in self._passes if kept.projection.event != target or not target]
        self._pool = None
        self._count_folded()
        self._render_all()
        self._late = self._unsaid()
        self.prefix_changed()

    def _unsaid(self) -> list[Piece]:
        """Late results that neither the digest nor the messages show."""
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
