"""The process of an agent: what it has loaded is not gone over by every collection of garbage."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from outlive.cli.agent.start import settle


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    gc.unfreeze()


class Node:
    """A part of a circle, which only a collection can free."""

    def __init__(self) -> None:
        self.itself = self


def test_what_is_there_is_set_apart_and_what_comes_later_is_not() -> None:
    settle()
    assert gc.get_freeze_count() > 1000
    later = weakref.ref(Node())
    gc.collect()
    assert later() is None


def test_what_an_earlier_session_left_behind_is_freed_when_another_begins() -> None:
    node = Node()
    settle()
    left = weakref.ref(node)
    del node
    gc.collect()
    assert left() is not None
    settle()
    assert left() is None
