"""Bringing memories into order in a session: beside everything else, and whole or not at all."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from outlive.memory.book import Memories
from outlive.memory.consolidate import MANY, Report, consolidate
from outlive.memory.transfer import Imported, import_memories
from outlive.session import tidying
from outlive.session.tidying import Tidying
from outlive.stores import open_log_store
from outlive.stores.memory_records import Memory
from tests.agents import run

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[Memories]:
    book = Memories.open(base=tmp_path, home=tmp_path / "home", durability="process")
    yield book
    book.close()


class Tidied:
    """A session's tidying, and what it said."""

    def __init__(self, memories: Memories, folder: Path) -> None:
        self.said: list[str] = []
        self.tidying = Tidying(memories, open_log_store(f"files:{folder}/.tasks"), self.said.append)


def fill(memories: Memories) -> None:
    """So much that consolidation is due, with two that say the same."""
    many = [
        ("line", Memory(slug="-", name=f"n{number}", body=f"Thing {number} is so.", created=NOW, updated=NOW))
        for number in range(MANY)
    ]
    import_memories(memories, many, Imported())
    memories.add("one", "The build needs Python 3.11.")
    memories.add("two", "The build needs Python 3.11.", description="said at another time")


def test_it_is_done_when_due_and_not_again_and_can_be_undone(memories: Memories, tmp_path: Path) -> None:
    at = Tidied(memories, tmp_path)
    fill(memories)
    run(at.tidying.when_due())
    assert memories.superseded() == {"project/one": "two"}
    assert len(at.said) == 1
    assert "undo" in at.said[0]
    run(at.tidying.when_due())
    assert len(at.said) == 1
    memories.undo()
    assert memories.superseded() == {}


def test_the_loop_goes_on_meanwhile(memories: Memories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    went_on = threading.Event()

    def slow(memories: Memories, **_: object) -> Report:
        assert went_on.wait(20), "the loop stood still"
        return Report(scope="project")

    monkeypatch.setattr(tidying, "consolidate", slow)
    fill(memories)
    at = Tidied(memories, tmp_path)

    async def both() -> None:
        work = asyncio.ensure_future(at.tidying.when_due())
        await asyncio.sleep(0)
        went_on.set()
        await work

    run(both())


def test_whoever_is_cancelled_waits_for_what_is_being_written(
    memories: Memories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def slow(memories: Memories, **_: object) -> Report:
        begun.set()
        may_end.wait(20)
        report = consolidate(memories)
        ended.set()
        return report

    monkeypatch.setattr(tidying, "consolidate", slow)
    fill(memories)
    at = Tidied(memories, tmp_path)

    async def stopped() -> None:
        work = asyncio.ensure_future(at.tidying.when_due())
        while not begun.is_set():
            await asyncio.sleep(0.001)
        work.cancel()
        await asyncio.sleep(0)
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert ended.is_set()

    run(stopped())
    assert memories.superseded() == {"project/one": "two"}
