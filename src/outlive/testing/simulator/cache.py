"""The prompt caches, as far as they show in a usage report.

Anthropic: a prefix is written at each breakpoint, and read if a later request has the same prefix up to a place
within the 20 blocks before one of its own breakpoints. OpenAI: the longest prefix sent before is read, in steps of
128 tokens; of newer models, a prefix that ends at a breakpoint, exactly.
"""

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from outlive.testing.simulator.seen import ReportedUsage
from outlive.testing.simulator.tokens import tokens_of

LOOKBACK_BLOCKS = 20  # Anthropic: blocks before a breakpoint that are looked at for a cached prefix
CACHE_STEP_TOKENS = 128  # OpenAI caches prefixes in steps of this
SHORT, HALF_HOUR, LONG = 300.0, 1800.0, 3600.0
MAX_WRITES, MAX_READS = 4, 80
"""OpenAI: breakpoints of a request that are written, and that are considered for reading."""


@dataclass(frozen=True)
class CachedPiece:
    """A piece of the prompt: its bytes, its length, and whether a breakpoint is on it."""

    data: bytes
    characters: int
    lifetime: float | None = None
    """Seconds that a prefix which ends here is cached; None without a breakpoint."""
    ends_message: bool = False
    """OpenAI: whether a message of the user or of a tool ends here, where an implicit breakpoint may be."""


@dataclass(frozen=True)
class _Place:
    """The end of a piece: hash and token count of the prompt up to here."""

    prefix: bytes
    tokens: int
    lifetime: float | None


@dataclass
class PromptCache:
    """Cached prefixes and their expiry. Thread-safe."""

    clock: Callable[[], float]
    minimum: int = 1024
    _until: dict[bytes, tuple[float, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def with_breakpoints(self, salt: str, pieces: Iterable[CachedPiece]) -> ReportedUsage:
        """Anthropic: read the longest cached prefix, write up to the last breakpoint."""
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
        """OpenAI: read the longest prefix sent before, cache this request."""
        places = _places(salt, pieces)
        total = places[-1].tokens if places else 0
        with self._lock:
            known = (place.tokens for place in reversed(places) if self._alive(place.prefix))
            longest = next(known, 0)
            for place in places:
                self._until[place.prefix] = (self.clock() + SHORT, SHORT)
        read = longest // CACHE_STEP_TOKENS * CACHE_STEP_TOKENS if longest >= self.minimum else 0
        return ReportedUsage(input=total - read, cache_read=read)

    def at_breakpoints(self, salt: str, pieces: Sequence[CachedPiece], *, implicit: bool) -> ReportedUsage:
        """OpenAI's newer models: read the longest prefix that ends at a breakpoint, write at the latest ones.

        `implicit`: the last message of the user or of a tool has a breakpoint too. Without explicit breakpoints, all
        of these messages are considered for reading.
        """
        places = _places(salt, pieces)
        explicit = [index for index, piece in enumerate(pieces) if piece.lifetime is not None]
        ends = [index for index, piece in enumerate(pieces) if piece.ends_message] if implicit else []
        written = {*explicit[-(MAX_WRITES - implicit) :], *ends[-1:]}
        considered = {*explicit[-MAX_READS:], *(ends[-1:] if explicit else ends[-MAX_READS:])}
        with self._lock:
            long_enough = [index for index in considered if places[index].tokens >= self.minimum]
            found = max((index for index in long_enough if self._alive(places[index].prefix)), default=-1)
            marked = [index for index in sorted(written) if places[index].tokens >= self.minimum]
            return self._write(places, marked, found, places[-1].tokens if places else 0, HALF_HOUR)

    def _counts(self, place: _Place) -> bool:
        return place.lifetime is not None and place.tokens >= self.minimum

    def _found(self, places: Sequence[_Place], breakpoint: int) -> int:
        """Return the latest place within LOOKBACK_BLOCKS of a breakpoint whose prefix is cached; -1 for none."""
        sight = range(breakpoint, max(-1, breakpoint - LOOKBACK_BLOCKS), -1)
        return next((index for index in sight if self._alive(places[index].prefix)), -1)

    def _alive(self, prefix: bytes) -> bool:
        return prefix in self._until and self.clock() < self._until[prefix][0]

    def _refresh(self, prefix: bytes) -> None:
        lifetime = self._until[prefix][1]
        self._until[prefix] = (self.clock() + lifetime, lifetime)

    def _write(
        self, places: Sequence[_Place], marked: Sequence[int], found: int, total: int, usual: float = SHORT
    ) -> ReportedUsage:
        read = at = places[found].tokens if found >= 0 else 0
        written = for_an_hour = 0
        for index in marked:
            place = places[index]
            lifetime = place.lifetime or usual
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
