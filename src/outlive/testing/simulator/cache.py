"""The prompt caches, as far as they show in a usage report.

Anthropic: a prefix is written at each breakpoint and read when a later request has the same prefix up to a place that
lies within the 20 blocks before one of its own breakpoints. OpenAI: whatever prefix was sent before is read, in steps
of 128 tokens.
"""

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from outlive.testing.simulator.seen import ReportedUsage
from outlive.testing.simulator.tokens import tokens_of

LOOKBACK = 20
STEP = 128
SHORT, LONG = 300.0, 3600.0


@dataclass(frozen=True)
class CachedPiece:
    """A piece of the prompt: its bytes, its length, and whether a breakpoint is on it."""

    data: bytes
    characters: int
    lifetime: float | None = None
    """How long a prefix that ends here is kept, in seconds; None without a breakpoint."""


@dataclass(frozen=True)
class _Place:
    """The end of a piece: what comes before it, as a hash and in tokens."""

    prefix: bytes
    tokens: int
    lifetime: float | None


@dataclass
class PromptCache:
    """What was cached, by prefix, and until when. Safe for many threads."""

    clock: Callable[[], float]
    minimum: int = 1024
    _until: dict[bytes, tuple[float, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def with_breakpoints(self, salt: str, pieces: Iterable[CachedPiece]) -> ReportedUsage:
        """Anthropic's way: read the longest prefix that is there, write up to the last breakpoint."""
        places = _places(salt, pieces)
        marked = [index for index, place in enumerate(places) if self._counts(place)]
        total = places[-1].tokens if places else 0
        if not marked:
            return ReportedUsage(input=total)
        with self._lock:
            found = max((self._found(places, index) for index in marked), default=-1)
            if found >= 0:
                self._refresh(places[found].prefix)
            return self._write(places, marked, found, total)

    def automatic(self, salt: str, pieces: Iterable[CachedPiece]) -> ReportedUsage:
        """OpenAI's way: read what was sent before, remember what is sent now."""
        places = _places(salt, pieces)
        total = places[-1].tokens if places else 0
        with self._lock:
            known = (place.tokens for place in reversed(places) if self._alive(place.prefix))
            longest = next(known, 0)
            for place in places:
                self._until[place.prefix] = (self.clock() + SHORT, SHORT)
        read = longest // STEP * STEP if longest >= self.minimum else 0
        return ReportedUsage(input=total - read, cache_read=read)

    def _counts(self, place: _Place) -> bool:
        return place.lifetime is not None and place.tokens >= self.minimum

    def _found(self, places: Sequence[_Place], breakpoint: int) -> int:
        """The latest place at or before a breakpoint, within its sight, whose prefix is cached; -1 for none."""
        sight = range(breakpoint, max(-1, breakpoint - LOOKBACK), -1)
        return next((index for index in sight if self._alive(places[index].prefix)), -1)

    def _alive(self, prefix: bytes) -> bool:
        return prefix in self._until and self.clock() < self._until[prefix][0]

    def _refresh(self, prefix: bytes) -> None:
        lifetime = self._until[prefix][1]
        self._until[prefix] = (self.clock() + lifetime, lifetime)

    def _write(self, places: Sequence[_Place], marked: Sequence[int], found: int, total: int) -> ReportedUsage:
        read = at = places[found].tokens if found >= 0 else 0
        written = for_an_hour = 0
        for index in marked:
            place = places[index]
            lifetime = place.lifetime or SHORT
            if index > found:
                written += place.tokens - at
                for_an_hour += place.tokens - at if lifetime == LONG else 0
                at = place.tokens
            self._until[place.prefix] = (self.clock() + lifetime, lifetime)
        return ReportedUsage(total - read - written, written, read, 0, for_an_hour)


def _places(salt: str, pieces: Iterable[CachedPiece]) -> list[_Place]:
    state = hashlib.sha256(salt.encode())
    characters = 0
    places = []
    for piece in pieces:
        state.update(len(piece.data).to_bytes(8) + piece.data)
        characters += piece.characters
        places.append(_Place(state.digest(), tokens_of(characters), piece.lifetime))
    return places
