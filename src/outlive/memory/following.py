"""Views of a shelf that are brought up to date by what changed on it, when somebody asks and not before."""

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Hashable
from typing import Any, Generic, TypeVar

from outlive.stores.memories.records import Memory
from outlive.stores.memories.table import NOTHING, MemoryTable

K = TypeVar("K", bound=Hashable)
O = TypeVar("O", bound=tuple[Any, ...])  # noqa: E741 - what orders


class _Following(ABC, Generic[K]):
    def __init__(self, table: MemoryTable, key: Callable[[Memory], K]) -> None:
        self._shelf = table
        self._key = key
        self._keys: dict[str, K] = {}
        self._at = NOTHING

    def _follow(self) -> None:
        if self._at == self._shelf.moment:
            return
        changes = self._shelf.changed(self._at)
        self._at = self._shelf.moment
        for slug, memory in changes.items():
            if slug in self._keys:
                self._remove(slug, self._keys.pop(slug))
            if memory is not None:
                key = self._keys[slug] = self._key(memory)
                self._add(slug, key)

    @abstractmethod
    def _add(self, slug: str, key: K) -> None: ...

    @abstractmethod
    def _remove(self, slug: str, key: K) -> None: ...


class Grouped(_Following[tuple[K, ...]]):
    """Slugs by things that several memories may have in common."""

    def __init__(self, table: MemoryTable, keys: Callable[[Memory], tuple[K, ...]]) -> None:
        super().__init__(table, keys)
        self._groups: dict[K, set[str]] = {}

    def of(self, key: K) -> Collection[str]:
        self._follow()
        return self._groups.get(key, ())

    def _add(self, slug: str, key: tuple[K, ...]) -> None:
        for one in key:
            self._groups.setdefault(one, set()).add(slug)

    def _remove(self, slug: str, key: tuple[K, ...]) -> None:
        for one in dict.fromkeys(key):
            group = self._groups[one]
            group.discard(slug)
            if not group:
                del self._groups[one]


class Ordered(_Following[O]):
    """Slugs in an order; what orders differs for each of them."""

    def __init__(self, table: MemoryTable, key: Callable[[Memory], O]) -> None:
        super().__init__(table, key)
        self._order: list[tuple[O, str]] = []

    def all(self) -> list[tuple[O, str]]:
        if self._at == NOTHING:
            self._at = self._shelf.moment
            self._keys = {memory.slug: self._key(memory) for memory in self._shelf.all()}
            self._order = sorted((key, slug) for slug, key in self._keys.items())
        self._follow()
        return self._order

    def _add(self, slug: str, key: O) -> None:
        insort(self._order, (key, slug))

    def _remove(self, slug: str, key: O) -> None:
        del self._order[bisect_left(self._order, (key, slug))]
