"""Long tests look at a part of what there is, another one in each run."""

import os
import random
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")
PARTS = 3
PART = os.environ.setdefault("OUTLIVE_TEST_PART", str(random.randrange(PARTS)))
"""From 0 to 2, or `all`. Processes that run tests inherit it, for all of them have to collect the same ones."""


def part(items: Iterable[T]) -> list[T]:
    """A third of them."""
    found = list(items)
    return found if PART == "all" else found[int(PART) :: PARTS]
