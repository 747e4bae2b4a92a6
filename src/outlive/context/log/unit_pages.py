"""The pages of all units in flat lists that grow with the log, so that no pass has to walk over every unit."""

from array import array
from collections.abc import Sequence

from outlive.context.log.units import Unit


class UnitPages:
    """Which pages and objects the first N units have. New units are read on demand."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._units = units
        self._clear()

    def _clear(self) -> None:
        self._pages: list[int] = []
        self._ends = array("I", [0])
        """How many pages the units before each have."""
        self._distinct = array("I", [0])
        """The same, each page counted once."""
        self._seen: set[int] = set()
        self._objects: list[int] = []
        self._object_ends = array("I", [0])
        self._odd: list[int] = []

    def changed(self, number: int) -> None:
        """A unit has other pages than before."""
        if number >= len(self._ends) - 1:
            return
        del self._ends[number + 1 :], self._distinct[number + 1 :], self._object_ends[number + 1 :]
        del self._pages[self._ends[-1] :], self._objects[self._object_ends[-1] :]
        self._seen = set(self._pages)
        self._odd = [odd for odd in self._odd if odd < number]

    def of_steps(self, start: int, stop: int) -> list[int]:
        """Pages of the steps among these units, in their order; neighbours may share one."""
        self._read()
        return self._pages[self._ends[start] : self._ends[stop]]

    def count(self, stop: int) -> int:
        """How many pages the steps before a unit have."""
        self._read()
        return self._distinct[stop]

    def objects(self, stop: int) -> Sequence[int]:
        """The handles of pictures and other objects before a unit."""
        self._read()
        return self._objects[: self._object_ends[stop]]

    def odd(self, start: int, stop: int) -> list[int]:
        """Steps among these units that have objects, or pages that are not in ascending order."""
        self._read()
        return [number for number in self._odd if start <= number < stop]

    def _read(self) -> None:
        for number in range(len(self._ends) - 1, len(self._units)):
            unit = self._units[number]
            if unit.kind != "user":
                pages = unit.pages
                self._pages.extend(pages)
                self._seen.update(pages)
                if unit.objects or sorted(pages) != list(pages):
                    self._odd.append(number)
            self._objects += unit.objects
            self._ends.append(len(self._pages))
            self._distinct.append(len(self._seen))
            self._object_ends.append(len(self._objects))
