"""The window over time: for each request what filled it, what it cost, and how the cache did.

A fold over the log. Between two passes the sums only grow; a pass says what it left on its receipt. What the provider
counted for a request scales the sums of that request. Nothing is replayed.
"""

from bisect import bisect_right
from typing import Any

import msgspec

from outlive.context.log.pieces import call_text
from outlive.context.tokens import IMAGE_TOKENS, estimate
from outlive.events import (
    AssistantSaid,
    Compacted,
    Event,
    Renewed,
    SessionStarted,
    StateShown,
    SystemChanged,
    ToolFinished,
    Undone,
    UsageReported,
    UserSaid,
)
from outlive.messages import Block, Image, Text, Thinking, ToolCall
from outlive.printable import one_line
from outlive.replay.cache_misses import cache_account
from outlive.replay.recording import RecordedUsage
from outlive.web.sessions.receipt_kinds import receipt_kinds

BANDS = ("system", "digest", "user", "assistant", "calls", "results", "state")
"""From the bottom up."""
_BAND_OF = {"tools": "system", "thinking": "assistant", "pictures": "user"}
"""Kinds of a receipt that have no band of their own."""
LONGEST_REASON = 300  # a line of the page

Sums = dict[str, float]


class WindowColumn(msgspec.Struct, array_like=True):
    """One request. Sent as an array, `COLUMN_FIELDS` names its fields."""

    event: int
    """The answer."""
    time: float
    tokens: int
    """Of the request."""
    bands: tuple[int, ...]
    counted: bool = False
    """By the provider; else estimated."""
    fresh: int = 0
    """Tokens that were neither read from the cache nor written to it."""
    read: int = 0
    written: int = 0
    output: int = 0
    cost: float = 0.0
    missed: str = ""
    """Why the cache was not used as a whole, in the provider's words."""
    rewrote: int = 0
    """Tokens that the request before had sent, too, and that were not read from the cache."""
    reason: str = ""
    """Why: `expired`, `compacted`, `model` or `changed`."""
    rewrote_cost: float = 0.0
    """Dollars that they cost more than reading them would have, if the price is known."""
    passes: tuple[int, ...] = ()
    """Made since the request before."""
    other_cost: float = 0.0
    """Of calls since the request before that produced no answer, as a summary."""


COLUMN_FIELDS = tuple(field.name for field in msgspec.structs.fields(WindowColumn))


class _Now(msgspec.Struct, frozen=True):
    """The sums after an event; a pass can be undone by what was before it."""

    sums: Sums
    passed: "_InForce | None" = None
    """The newest pass."""


class _InForce(msgspec.Struct, frozen=True):
    event: int
    before: Sums
    after: Sums
    passed: "_InForce | None"
    """The pass before."""


class WindowOverTime:
    """The columns of one session, extended as its log grows."""

    def __init__(self) -> None:
        self.columns: list[WindowColumn] = []
        self._touched: list[int] = []
        """The event that changed each column last."""
        self._past: list[tuple[int, _Now]] = []
        """What was in force after each event that changed the sums; without what was taken back."""
        self._ratio = 1.0
        """What the provider counts for one token of our estimate."""
        self._usage: RecordedUsage | None = None
        """Of the request before."""
        self._has_cache = False
        self._models: dict[int, str] = {}
        """By answer."""
        self._passes: list[int] = []
        self._other_cost = 0.0

    @property
    def _now(self) -> _Now:
        return self._past[-1][1] if self._past else _Now({})

    def take(self, event: Event) -> None:
        match event:
            case SessionStarted() | SystemChanged():
                self._prompt(event)
            case UserSaid():
                self._add(event.id, _sizes(event.blocks, "user"))
            case AssistantSaid():
                self._request(event)
                self._add(event.id, _sizes(event.blocks, "assistant"))
            case ToolFinished():
                self._add(event.id, {"results": estimate(event.text) + IMAGE_TOKENS * len(event.images)})
            case StateShown():
                self._add(event.id, {"state": estimate(event.text)})
            case Compacted():
                self._passed(event)
            case Renewed():
                system = self._now.sums.get("system", 0.0)
                self._put(event.id, _Now({"system": system, "digest": estimate(event.handoff)}))
            case UsageReported():
                self._used(event)
            case Undone():
                self._undo(event)
            case _:
                pass

    def since(self, after: int) -> list[tuple[int, WindowColumn]]:
        """The columns that are new or other since an event, with their numbers, counted from 0."""
        return [(at, self.columns[at]) for at, touched in enumerate(self._touched) if touched > after]

    def _put(self, event: int, now: _Now) -> None:
        self._past.append((event, now))

    def _add(self, event: int, more: Sums) -> None:
        now = self._now
        sums = now.sums | {kind: now.sums.get(kind, 0.0) + tokens for kind, tokens in more.items()}
        self._put(event, _Now(sums, now.passed))

    def _prompt(self, event: SessionStarted | SystemChanged) -> None:
        if isinstance(event, SystemChanged) and event.told:
            return  # the receipt of the pass that uses it has its size
        size = estimate(event.system) + _tools(event.tools)
        now = self._now
        self._put(event.id, _Now(now.sums | {"system": size}, now.passed))

    def _request(self, event: AssistantSaid) -> None:
        sums = self._now.sums
        bands = tuple(round(sums.get(kind, 0.0) * self._ratio) for kind in BANDS)
        passes, self._passes = tuple(self._passes), []
        self._models[event.id] = event.model
        column = WindowColumn(event.id, event.time, sum(bands), bands, passes=passes, other_cost=self._other_cost)
        self._other_cost = 0.0
        self.columns.append(column)
        self._touched.append(event.id)

    def _used(self, event: UsageReported) -> None:
        at = bisect_right(self.columns, event.of, key=lambda column: column.event) - 1
        if not event.of or at < 0 or self.columns[at].event != event.of:
            self._other_cost += event.cost or 0.0
            return
        column = self.columns[at]
        actual = event.input + event.cache_read + event.cache_write
        estimated = sum(column.bands) / self._ratio
        if actual and estimated:
            self._ratio = min(max(actual / estimated, 0.2), 5.0)
            column.bands = _scaled(column.bands, actual)
            column.tokens, column.counted = actual, True
        column.fresh, column.read, column.written = event.input, event.cache_read, event.cache_write
        column.output, column.cost = event.output, column.cost + (event.cost or 0.0)
        column.missed = one_line(event.cache_miss, LONGEST_REASON)
        self._miss(column)
        self._touched[at] = event.id

    def _miss(self, column: WindowColumn) -> None:
        """Compare a request with the one before. A provider that never reported a cache has no misses."""
        usage = RecordedUsage(
            column.time, self._models.get(column.event, ""), column.fresh, column.written, column.read
        )
        before, self._usage = self._usage, usage
        self._has_cache |= bool(column.read or column.written)
        account = cache_account([before, usage]) if before is not None and self._has_cache else None
        for miss in account.misses if account else ():
            column.rewrote, column.reason = miss.tokens, "compacted" if column.passes else miss.reason
            column.rewrote_cost = miss.cost or 0.0

    def _passed(self, event: Compacted) -> None:
        self._passes.append(event.id)
        now, receipt = self._now, event.receipt
        after: Sums = {}
        for kind, tokens in receipt_kinds(event)[1].items():
            band = _BAND_OF.get(kind, kind)
            after[band] = after.get(band, 0.0) + tokens
        if not after:  # a log from before receipts had kinds
            digest = estimate(event.digest)
            after = {"digest": digest, "results": max(0.0, receipt.after - digest)}
        after["state"] = now.sums.get("state", 0.0) if event.keeps_front else 0.0
        after.setdefault("system", now.sums.get("system", 0.0))
        self._put(event.id, _Now(after, _InForce(event.id, now.sums, after, now.passed)))

    def _undo(self, event: Undone) -> None:
        if event.what != "pass":
            while self._past and self._past[-1][0] > event.target:
                self._past.pop()
            return
        now, found = self._now, self._now.passed
        if found is None or found.event != event.target:
            return
        kinds = {*found.before, *now.sums}
        grown = {kind: now.sums.get(kind, 0.0) - found.after.get(kind, 0.0) for kind in kinds}
        sums = {kind: max(0.0, found.before.get(kind, 0.0) + grown[kind]) for kind in kinds}
        self._put(event.id, _Now(sums, found.passed))


def _sizes(blocks: tuple[Block, ...], own: str) -> Sums:
    """Tokens of a turn by band."""
    sums: Sums = {}
    for block in blocks:
        match block:
            case Text() | Thinking():
                kind, tokens = own, estimate(block.text)
            case ToolCall():
                kind, tokens = "calls", estimate(call_text(block))
            case Image():
                kind, tokens = own, float(IMAGE_TOKENS)
            case _:
                continue
        sums[kind] = sums.get(kind, 0.0) + tokens
    return sums


def _tools(tools: tuple[dict[str, Any], ...]) -> float:
    return estimate(msgspec.json.encode(tools).decode()) if tools else 0.0


def _scaled(bands: tuple[int, ...], total: int) -> tuple[int, ...]:
    """The bands scaled so that they sum to `total`; the largest takes what rounding leaves."""
    known = sum(bands)
    scaled = [round(size * total / known) for size in bands]
    scaled[scaled.index(max(scaled))] += total - sum(scaled)
    return tuple(scaled)
