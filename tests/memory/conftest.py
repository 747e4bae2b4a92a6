"""A book of memories: on files for rules that do not depend on the engine, on all engines where they might."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from outlive.memory.memories import Memories
from tests.engines import Engine


class Ticking:
    """A clock that goes on by a second with every look, so that newer means newer."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def ticking() -> Ticking:
    return Ticking()


@pytest.fixture
def memories(tmp_path: Path, ticking: Ticking) -> Memories:
    return Memories.open(base=tmp_path, home=tmp_path / "home", durability="process", clock=ticking, actor="tester")


@pytest.fixture
def shared(engine: Engine, tmp_path: Path, ticking: Ticking) -> Iterator[Memories]:
    """The same on each of the three engines."""
    book = Memories.open(engine.url, home=tmp_path / "home", durability="process", clock=ticking)
    yield book
    book.close()
