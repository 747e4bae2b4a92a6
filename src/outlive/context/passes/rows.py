"""Rows of a digest: each names the handles of what it stands for, and rows that differ in one number become one."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from outlive.context.log.pages import handle

ALIKE_ROWS = 3
"""Rows in a row that differ in one number only, from which on they are written as one."""
_NUMBER = re.compile(r"([0-9]+)")


class RowWriter:
    """Collects rows; handles wait for the next row that belongs to them."""

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._pending: list[int] = []
        self._shown = 0
        self._alike: list[tuple[list[str], list[str]]] = []
        """The newest rows, if they differ in one number only: the handles of each, and its text, cut at numbers."""
        self._differs_at = 0
        """Which part that number is, once there are two of them."""

    def point(self, pages: Iterable[int]) -> bool:
        """These pages must be visible from here on; whether one of them was not yet."""
        new = [page for page in pages if page > self._shown]
        self._pending += new
        self._shown = max([self._shown, *new])
        return bool(new)

    def point_all(self, pages: Iterable[int]) -> None:
        """The same for pages in ascending order."""
        shown = self._shown
        for page in pages:
            if page > shown:
                self._pending.append(page)
                shown = page
        self._shown = shown

    def row(self, text: str, pages: tuple[int, ...] = (), *, bare: bool = False) -> None:
        """Write a row behind its own handles, and before those, set apart, the handles of what is not shown.

        A `bare` row has nothing below it, so it can be written as one with rows that differ in a number.
        """
        others = [handle(page) for page in self._pending if page not in pages]
        own = [handle(page) for page in self._pending if page in pages]
        self._pending.clear()
        handles = [*others, *(["·"] if others and text != "·" else []), *own]
        parts = _NUMBER.split(text) if bare else [text]
        if not self._joins(parts):
            self._close()
        self._alike.append((handles, parts))

    def add(self, rows: Iterable[str]) -> None:
        """Write rows as they are."""
        self._close()
        self._rows.extend(rows)

    def finish(self) -> str:
        """All rows, and the handles that still wait."""
        if self._pending:
            self.row("·")
        self._close()
        return "\n".join(self._rows)

    def _joins(self, parts: list[str]) -> bool:
        """Whether a row is like the newest ones but for the number in which they differ."""
        if not self._alike:
            return True
        first = self._alike[0][1]
        places = [at for at in range(len(first)) if parts[at] != first[at]] if len(parts) == len(first) else []
        if len(places) != 1 or places[0] % 2 == 0 or (len(self._alike) > 1 and places[0] != self._differs_at):
            return False
        self._differs_at = places[0]
        return True

    def _close(self) -> None:
        """Write the rows that are alike, as one if they are enough."""
        alike, self._alike = self._alike, []
        if len(alike) < ALIKE_ROWS:
            self._rows += (" ".join([*handles, "".join(parts)]) for handles, parts in alike)
            return
        handles = dict.fromkeys(one for of_row, _ in alike for one in of_row if one != "·")
        first, at = alike[0][1], self._differs_at
        numbers = ",".join(_ranges([parts[at] for _, parts in alike]))
        text = "".join([*first[:at], f"{{{numbers}}}", *first[at + 1 :]])  # log/part{1..7,9}.txt
        self._rows.append(" ".join([*handles, text]))


def _ranges(numbers: Sequence[str]) -> Iterable[str]:
    """Numbers in their order; a run that counts up is `first..last`."""
    start = numbers[0]
    for number, then in pairwise([*numbers, ""]):
        counts = then and int(then) == int(number) + 1 and then == str(int(then)).zfill(len(number))
        if not counts:
            yield number if number == start else f"{start}..{number}"
            start = then
