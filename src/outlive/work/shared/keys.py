"""Concurrency keys: how many workers may be at the same thing. The label `key:NAME` puts a task under one."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import KeyHolders

LABEL = "key:"
MAX_TTL = timedelta(days=7)
"""As for leases."""


def keys_of(labels: Collection[str]) -> list[str]:
    """The keys that a task with these labels needs."""
    return [label.removeprefix(LABEL) for label in labels if label.startswith(LABEL)]


class ConcurrencyKeys:
    """The keys of a fleet. `limits` says how many may hold a key, one where it says nothing."""

    def __init__(self, board: FleetBoard, limits: Mapping[str, int], ttl: timedelta) -> None:
        self._board = board
        self._limits = limits
        self._ttl = ttl

    def full(self) -> tuple[str, ...]:
        """Labels of tasks that cannot be worked on now."""
        found = self._board.all(KeyHolders)
        now = self._board.now() if found else None
        return tuple(f"{LABEL}{name}" for name, key in found.items() if now and _full(key, self._limit(name), now))

    def take(self, name: str, holder: str) -> bool:
        """Take a key, or extend it; False if as many as may have it have it."""
        taken = False

        def work(old: KeyHolders | None, now: datetime) -> KeyHolders:
            nonlocal taken
            limit = self._limit(name)
            holders = _present(old, now) if old else {}
            taken = holder in holders or len(holders) < limit
            if taken:
                holders[holder] = now + self._ttl
            return KeyHolders(limit=limit, holders=holders)

        self._board.change(KeyHolders, name, work)
        return taken

    def release(self, name: str, holder: str) -> None:
        def work(old: KeyHolders | None, now: datetime) -> KeyHolders | None:
            holders = _present(old, now) if old else {}
            holders.pop(holder, None)
            return replace(old, holders=holders) if old and holders else None

        self._board.change(KeyHolders, name, work, announce=True)

    def _limit(self, name: str) -> int:
        return self._limits.get(name, 1)


def _full(key: KeyHolders, limit: int, now: datetime) -> bool:
    return len(_present(key, now)) >= limit


def _present(key: KeyHolders, now: datetime) -> dict[str, datetime]:
    """Those who hold a key. A time that is too far ahead was written by a wrong clock."""
    return {who: until for who, until in key.holders.items() if now < until < now + MAX_TTL}
