"""Old formats on disk are kept for ever: what was written once must be read as exactly the same."""

import json
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from outlive.stores.tasks.protocol import TaskQuery
from outlive.stores.tasks.records import Lease, Task
from tests.engines import Engine
from tests.truth import assert_sound

HERE = Path(__file__).parent
ALL = TaskQuery(archived=True, sort="id")
WRITTEN = 1_767_000_000
"""When the files without dates were last changed, as far as the test is concerned."""


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


WRITTEN_AT = datetime.fromtimestamp(WRITTEN, UTC)

TASKS_V1 = [
    Task(
        id=1,
        subject="Set up the project",
        status="completed",
        blocks=(3,),
        created_at=WRITTEN_AT,
        updated_at=WRITTEN_AT,
    ),
    Task(
        id=2,
        subject="Build it",
        description="Plain form: blockedBy are dependencies.",
        owner="lead",
        depends_on=(3,),
        blocked_by=(3,),
        created_at=WRITTEN_AT,
        updated_at=WRITTEN_AT,
    ),
    Task(
        id=3,
        subject="Write the parser",
        description="Two lines,\nand a tab\there.",
        status="in_progress",
        owner="ann",
        depends_on=(1, 7),
        blocks=(2, 12),
        priority=0,
        labels=("core", "parser"),
        created_at=moment("2026-01-02T03:04:05.678901Z"),
        updated_at=moment("2026-01-03T00:00:00Z"),
        lease=Lease(
            owner="ann",
            token=5,
            claimed_at=moment("2026-01-03T00:00:00Z"),
            expires_at=moment("2026-01-03T00:15:00Z"),
        ),
        revision=5,
        metadata={"points": 3, "nested": {"list": [1, 2.5, None, True]}},
    ),
    Task(
        id=4,
        subject="Keep what others wrote",
        status="cancelled",
        blocks=(12,),
        created_at=moment("2026-01-02T03:00:00Z"),
        updated_at=moment("2026-01-02T03:00:00Z"),
        completed_at=moment("2026-01-02T04:00:00Z"),
        result="not needed",
        extra={"activeForm": "Keeping what others wrote", "x-other-tool": {"keep": ["me", 1]}},
    ),
    Task(
        id=7,
        subject="Archived long ago",
        status="completed",
        blocks=(3,),
        created_at=moment("2025-12-01T00:00:00Z"),
        updated_at=moment("2025-12-03T00:00:00Z"),
        completed_at=moment("2025-12-02T00:00:00Z"),
        archived_at=moment("2025-12-03T00:00:00Z"),
        revision=3,
        result="done",
    ),
    Task(
        id=12,
        subject="Grüße, 世界 🌍",
        description='e\u0301 and "quotes" and \\ and \u2028',
        depends_on=(3, 4),
        blocked_by=(3,),
        priority=4,
        labels=("naïve", "日本"),
        created_at=moment("2026-01-04T00:00:00Z"),
        updated_at=moment("2026-01-04T00:00:00Z"),
        metadata={"ключ": "значение"},
    ),
]


@pytest.fixture
def folder_v1(files: Engine) -> Engine:
    shutil.copytree(HERE / "tasks-v1", files.path)
    import os

    for path in files.path.rglob("task_*.json"):
        os.utime(path, (WRITTEN, WRITTEN))
    return files


def test_task_files_of_version_1_are_read(folder_v1: Engine) -> None:
    assert folder_v1.graph().find(ALL) == TASKS_V1


def test_the_trail_of_version_1_is_read(folder_v1: Engine) -> None:
    changes = folder_v1.graph().history()
    assert [(change.id, change.op, change.task, change.revision) for change in changes] == [
        ("a1", "create", 3, 1),
        ("a2", "update", 3, 2),
        ("a3", "update", 12, 2),
        ("a4", "claim", 3, 5),
    ]
    assert changes[1].changed == {"priority": (2, 0)}
    assert changes[1].note == "urgent"
    assert changes[0].at == moment("2026-01-02T03:04:05.678901Z")


def test_reading_version_1_changes_no_file(folder_v1: Engine) -> None:
    before = {path: path.read_bytes() for path in folder_v1.path.rglob("*") if path.is_file()}
    graph = folder_v1.graph()
    graph.find(ALL)
    graph.doctor()
    assert {path: path.read_bytes() for path in folder_v1.path.rglob("*") if path.is_file()} == before


def test_version_1_can_be_worked_on(folder_v1: Engine) -> None:
    graph = folder_v1.graph()
    assert {task.id for task in graph.complete(3).unblocked} == {2, 12}
    graph.update(4, subject="kept")
    assert json.loads((folder_v1.path / "task_4.json").read_text())["x-other-tool"] == {"keep": ["me", 1]}
    assert graph.reopen(7).archived_at is None
    assert graph.create("new").id == 13


@pytest.fixture
def database_v1(sqlite: Engine) -> Engine:
    raw = sqlite3.connect(sqlite.path)
    raw.executescript((HERE / "sqlite-v1.sql").read_text())
    raw.close()
    return sqlite


def test_a_database_of_version_1_is_read(database_v1: Engine) -> None:
    graph = database_v1.graph()
    one, two, three, five = graph.find(ALL)
    start = moment("2026-01-02T03:04:05.678901Z")
    assert (one.id, one.subject, one.status, one.result, one.blocks) == (1, "Set up", "completed", "done", (2, 3))
    assert (one.created_at, one.completed_at) == (start, moment("2026-01-03T03:04:08.678901Z"))
    assert (two.subject, two.description, two.priority) == ("Grüße, 世界 🌍", "two\nlines", 0)
    assert (two.status, two.owner, two.depends_on, two.blocked_by) == ("in_progress", "ann", (1,), ())
    assert two.lease == Lease(
        owner="ann",
        token=2,
        claimed_at=moment("2026-01-03T03:05:08.678901Z"),
        expires_at=moment("2026-01-03T03:20:08.678901Z"),
    )
    assert (two.labels, two.metadata) == (("naïve", "日本"), {"ключ": [1, 2.5, None, True]})
    assert (three.depends_on, three.blocked_by, three.extra) == ((1, 2), (2,), {"x-other-tool": {"keep": ["me", 1]}})
    assert (five.status, five.result, five.archived_at) == (
        "cancelled",
        "not needed",
        moment("2026-01-03T03:04:08.678901Z"),
    )
    assert [change.op for change in graph.history()] == [
        *("create", "create", "create", "create", "delete", "create", "cancel"),
        *("archive", "complete", "claim", "update"),
    ]
    assert graph.history(4)[-1].changed["task"][0]["subject"] == "Deleted"
    assert_sound(graph.store)


def test_a_database_of_version_1_can_be_worked_on(database_v1: Engine) -> None:
    graph = database_v1.graph()
    assert [task.id for task in graph.complete(2).unblocked] == [3]
    assert graph.create("new").id == 6
    assert_sound(graph.store)
