"""What the cache misses of a recorded session cost, by the usage that its provider reported."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from outlive.models.prices import facts
from outlive.replay.recording import RecordedUsage

LIFETIME = 300.0
"""Seconds that a provider keeps a prompt unless it is asked for more."""
SLACK = 2_048
"""Tokens: the end of a prompt is not cached, as providers cache in blocks."""
SHRUNK = 0.8
"""A prompt of less than this part of the one before it shows a compaction."""
MissReason = Literal["expired", "compacted", "model", "changed"]


class CacheMiss(Struct, frozen=True):
    """A call that paid in full for what the call before had sent."""

    call: int
    time: float
    gap: float
    """Seconds since the call before."""
    tokens: int
    reason: MissReason
    cost: float | None
    """In dollars, what it cost more than reading would have; None if the price of the model is not known."""


class CacheAccount(Struct, frozen=True):
    """The cache in a whole session, in tokens."""

    calls: int
    input: int
    written: int
    read: int
    misses: tuple[CacheMiss, ...]

    @property
    def share(self) -> float:
        """Of all input, what was read from the cache."""
        return self.read / max(self.input + self.written + self.read, 1)

    def missed(self, reason: MissReason | None = None) -> tuple[int, int, float | None]:
        """Misses, their tokens and their cost; of one kind, or all."""
        found = [miss for miss in self.misses if reason in (None, miss.reason)]
        costs = [miss.cost for miss in found if miss.cost is not None]
        return len(found), sum(miss.tokens for miss in found), sum(costs) if len(costs) == len(found) else None


def cache_account(usage: Sequence[RecordedUsage]) -> CacheAccount | None:
    """The account of a session; None if no usage was recorded."""
    if not usage:
        return None
    misses = [
        miss
        for number, (before, now) in enumerate(pairwise(usage), start=2)
        if (miss := _miss(number, before, now)) is not None
    ]
    return CacheAccount(
        calls=len(usage),
        input=sum(one.input for one in usage),
        written=sum(one.written for one in usage),
        read=sum(one.read for one in usage),
        misses=tuple(misses),
    )


def _miss(number: int, before: RecordedUsage, now: RecordedUsage) -> CacheMiss | None:
    missed = min(before.prompt, now.prompt) - now.read
    if missed <= SLACK:
        return None
    gap = max(now.time - before.time, 0.0)
    reason: MissReason = "changed"
    if now.prompt < SHRUNK * before.prompt:
        reason = "compacted"
    elif now.model != before.model:
        reason = "model"
    elif gap > LIFETIME:
        reason = "expired"
    price = facts(now.model).price
    cost = missed * (price.cache_write - price.cache_read) / 1e6 if price else None
    return CacheMiss(number, now.time, gap, missed, reason, cost)
