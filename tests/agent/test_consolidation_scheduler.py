"""Bringing memories into order in a session: beside everything else, and whole or not at all."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from outlive.agent.memory import consolidation_scheduler
from outlive.agent.memory.consolidation_scheduler import MAX_REQUESTS, Consolidation, ConsolidationScheduler
from outlive.errors import OutliveError
from outlive.memory.consolidate import DUE_AFTER_CHANGES, ConsolidationReport, consolidate
from outlive.memory.memories import Memories
from outlive.memory.transfer import Imported, import_memories
from outlive.stores import open_stores
from outlive.stores.memories.records import Memory
from tests.agents import run

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[Memories]:
    book = Memories.open(base=tmp_path, home=tmp_path / "home", durability="process")
    yield book
    book.close()


class Tidied:
    """A session's tidying, and what it said."""

    def __init__(self, memories: Memories, folder: Path, how: Consolidation = "auto") -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self.tidying = ConsolidationScheduler(
            memories, open_stores(f"files:{folder}/.tasks").logs, self.said.append, how
        )

    async def when_due(self, answer: Callable[[list[str]], dict[str, Any] | str]) -> None:
        async def ask(prompt: str) -> str:
            self.asked.append(prompt)
            said = answer([json.loads(line)["id"] for line in prompt.splitlines() if line.startswith('{"id"')])
            return said if isinstance(said, str) else json.dumps(said)

        await self.tidying.when_due(ask)


def fill(memories: Memories) -> None:
    """So much that consolidation is due, with two that say the same."""
    many = [
        ("line", Memory(slug="-", name=f"n{number}", body=f"Thing {number} is so.", created=NOW, updated=NOW))
        for number in range(DUE_AFTER_CHANGES)
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

    def slow(memories: Memories, **_: object) -> ConsolidationReport:
        assert went_on.wait(300), "the loop stood still"
        return ConsolidationReport(scope="project")

    monkeypatch.setattr(consolidation_scheduler, "consolidate", slow)
    fill(memories)
    at = Tidied(memories, tmp_path)

    async def both() -> None:
        work = asyncio.ensure_future(at.tidying.when_due())
        await asyncio.sleep(0)
        went_on.set()
        await work

    run(both())


def test_a_cancelled_run_waits_for_what_is_being_written(
    memories: Memories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def slow(memories: Memories, **_: object) -> ConsolidationReport:
        begun.set()
        may_end.wait(300)
        report = consolidate(memories)
        ended.set()
        return report

    monkeypatch.setattr(consolidation_scheduler, "consolidate", slow)
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


# -- with a model


def merged(ids: list[str]) -> dict[str, Any]:
    """Two of them as one."""
    one = ["n1", "n2"]
    return {"keep": [slug for slug in ids if slug not in one], "merge": [{"ids": one}]}


def test_a_model_is_asked_when_it_is_due_and_what_it_did_is_said_and_can_be_undone(
    memories: Memories, tmp_path: Path
) -> None:
    at = Tidied(memories, tmp_path)
    fill(memories)
    before = memories.all()
    run(at.when_due(merged))
    assert memories.superseded() == {"project/one": "two", "project/n1": "n2-2", "project/n2": "n2-2"}
    (line,) = at.said
    assert "merged n1, n2" in line
    memories.undo(line.partition("memory undo ")[2].rstrip(")"))
    assert [(memory.slug, memory.body) for memory in memories.all()] == [(one.slug, one.body) for one in before]
    run(at.when_due(merged))
    assert len(at.asked) == 1


@pytest.mark.parametrize("answer", ["[]", '{"keep": []}', "I would rather not."])
def test_a_bad_answer_changes_nothing_is_said_and_not_asked_for_again(
    memories: Memories, tmp_path: Path, answer: str
) -> None:
    at = Tidied(memories, tmp_path)
    fill(memories)
    before = memories.all()
    run(at.when_due(lambda _: answer))
    run(at.when_due(merged))
    assert memories.all() == before
    assert len(at.asked) == 1
    (line,) = at.said
    assert "not consolidated" in line
    assert "due again" in line


def test_a_model_that_cannot_be_had_leaves_it_to_the_rules(memories: Memories, tmp_path: Path) -> None:
    at = Tidied(memories, tmp_path)
    fill(memories)

    async def unreachable(prompt: str) -> str:
        raise OutliveError("the server is away")

    run(at.tidying.when_due(unreachable))
    assert memories.superseded() == {"project/one": "two"}
    assert "the server is away" in at.said[0]
    assert "undo" in at.said[1]
    run(at.when_due(merged))
    assert at.asked == []


def test_the_settings_say_whether_a_model_or_anybody_does_it(memories: Memories, tmp_path: Path) -> None:
    fill(memories)
    never = Tidied(memories, tmp_path, "never")
    run(never.when_due(merged))
    assert (never.asked, memories.superseded()) == ([], {})
    rules = Tidied(memories, tmp_path, "rules")
    run(rules.when_due(merged))
    assert (rules.asked, memories.superseded()) == ([], {"project/one": "two"})


def test_too_many_memories_are_not_shown_to_a_model_unasked(memories: Memories, tmp_path: Path) -> None:
    long = "x" * 5_000
    many = [
        ("line", Memory(slug="-", name=f"long {n}", body=f"Thing {n} {long}", created=NOW, updated=NOW))
        for n in range(5 * MAX_REQUESTS)
    ]
    import_memories(memories, many, Imported())
    fill(memories)
    at = Tidied(memories, tmp_path)
    run(at.when_due(merged))
    assert (at.asked, memories.superseded()) == ([], {"project/one": "two"})


class Silent:
    """A model that never answers."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.stopped = False

    async def __call__(self, prompt: str) -> str:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped = True
            raise
        return ""


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_model_is_not_waited_for_when_the_session_ends(
    memories: Memories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(consolidation_scheduler, "CLOSING_TIMEOUT_SECONDS", 0.05)
    fill(memories)
    at = Tidied(memories, tmp_path)

    async def ended() -> Silent:
        model = Silent()
        if when == "before":
            at.tidying.hurry()
        work = asyncio.ensure_future(at.tidying.when_due(model.__call__))
        await model.asked.wait()
        if when == "meanwhile":
            at.tidying.hurry()
        await asyncio.wait_for(work, 300)
        return model

    assert run(ended()).stopped
    assert memories.superseded() == {"project/one": "two"}  # by rules
    assert len(at.said) == 1


def test_who_is_cancelled_changes_nothing_and_leaves_no_lock(memories: Memories, tmp_path: Path) -> None:
    fill(memories)
    at = Tidied(memories, tmp_path)

    async def cancelled() -> Silent:
        model = Silent()
        work = asyncio.ensure_future(at.tidying.when_due(model.__call__))
        await model.asked.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        return model

    assert run(cancelled()).stopped
    assert (memories.superseded(), at.said) == ({}, [])
    with memories.stores["project"].exclusive("consolidate") as free:
        assert free
    run(at.when_due(merged))
    assert len(at.asked) == 1
