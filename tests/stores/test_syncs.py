"""What is acknowledged is on disk: the bytes of a file are synced before it gets its name, the name after that.

Counted at the calls to the system, for no test cuts the power.
"""

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from outlive.events import UserSaid
from outlive.memory.memories import Memories
from outlive.messages import Text
from outlive.stores import open_stores
from outlive.tasks.graph import TaskGraph

Step = tuple[str, str]
"""What was done (`sync`, `sync folder`, `rename SOURCE`) to which file, by its path below the root."""


class Disk:
    """Notes syncs and renames in their order, by the paths that the files have at that moment. A file that is renamed
    was synced with all its bytes, or not at all."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.steps: list[Step] = []
        self._synced: dict[str, int] = {}
        """Bytes of a file at its last sync."""
        for name in ("fsync", "fdatasync"):
            patch.setattr(os, name, self._sync)
        for name in ("replace", "rename"):
            patch.setattr(os, name, self._renaming(getattr(os, name)))

    def during(self, work: Callable[[], object]) -> list[Step]:
        self.steps.clear()
        work()
        return list(self.steps)

    def _name(self, path: str | os.PathLike[str]) -> str:
        name = os.path.relpath(os.fspath(path), self.root)
        return re.sub(r"staged\.[0-9a-f]+", "staged", re.sub(r"[0-9a-f]{64}(\.[0-9a-f]{8})?", "DIGEST", name))

    def _sync(self, descriptor: int) -> None:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        self._synced[path] = os.fstat(descriptor).st_size
        self.steps.append(("sync folder" if Path(path).is_dir() else "sync", self._name(path)))

    def _renaming(self, real: Callable[..., None]) -> Callable[..., None]:
        def rename(source: str, target: str, **options: int) -> None:
            size = os.stat(source).st_size
            assert self._synced.pop(os.path.realpath(source), size) == size
            self.steps.append((f"rename {self._name(source)}", self._name(target)))
            real(source, target, **options)

        return rename


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    monkeypatch.chdir(tmp_path)
    return Disk(tmp_path, monkeypatch)


def in_order(steps: list[Step], *wanted: Step) -> bool:
    """Whether the wanted steps were done, one after the other, whatever was done in between."""
    rest = iter(steps)
    return all(step in rest for step in wanted)


def test_a_task_file_is_synced_before_its_rename_and_the_folder_after(disk: Disk) -> None:
    graph = TaskGraph(open_stores().tasks, actor="tester")
    graph.create("one")
    steps = disk.during(lambda: graph.update(1, subject="changed"))
    assert in_order(
        steps,
        ("sync", ".tasks/.local/staged"),
        ("sync", ".tasks/history.jsonl"),
        ("rename .tasks/.local/staged", ".tasks/task_1.json"),
        ("sync folder", ".tasks"),
    )
    assert len(steps) == 4


def test_a_new_id_is_on_disk_before_the_task_that_has_it(disk: Disk) -> None:
    graph = TaskGraph(open_stores().tasks, actor="tester")
    steps = disk.during(lambda: graph.create("one"))
    assert in_order(
        steps,
        ("sync", ".tasks/.local/scratch"),
        ("rename .tasks/.local/scratch", ".tasks/.local/high-water"),
        ("sync folder", ".tasks/.local"),
        ("sync", ".tasks/.local/staged"),
        ("rename .tasks/.local/staged", ".tasks/task_1.json"),
        ("sync folder", ".tasks"),
    )


def test_a_change_of_several_tasks_is_synced_as_one_journal_and_then_file_by_file(disk: Disk) -> None:
    graph = TaskGraph(open_stores().tasks, actor="tester")
    graph.create("one")
    graph.create("two")
    steps = disk.during(lambda: (graph.complete(1), graph.complete(2), graph.archive()))
    assert in_order(
        steps,
        ("sync", ".tasks/.local/staged"),
        ("sync", ".tasks/history.jsonl"),
        ("rename .tasks/.local/staged", ".tasks/.local/journal"),
        ("sync folder", ".tasks/.local"),
        ("sync", ".tasks/.local/scratch"),
        ("rename .tasks/.local/scratch", ".tasks/archive/task_1.json"),
        ("sync folder", ".tasks/archive"),
        ("sync folder", ".tasks"),
        ("rename .tasks/.local/journal", ".tasks/.local/journal.done"),
    )


def test_an_event_is_synced_before_append_returns(disk: Disk) -> None:
    store = open_stores().logs
    writer = store.create("s")
    assert ("sync folder", ".transcripts") in disk.steps, "the name of a new session"
    for number in (1, 2):
        append = partial(writer.append, [UserSaid(id=number, time=1.0, blocks=(Text("x"),))])
        assert disk.during(append) == [("sync", ".transcripts/s.jsonl")]
    writer.close()


def test_a_replaced_session_is_synced_before_its_rename_and_the_folder_after(disk: Disk) -> None:
    store = open_stores().logs
    steps = disk.during(lambda: store.replace("s", [UserSaid(id=1, time=1.0, blocks=(Text("x"),))]))
    assert steps == [
        ("sync", ".transcripts/.s.jsonl.part"),
        ("rename .transcripts/.s.jsonl.part", ".transcripts/s.jsonl"),
        ("sync folder", ".transcripts"),
    ]


def test_a_blob_is_synced_before_its_rename_and_the_folder_after(disk: Disk) -> None:
    store = open_stores().logs
    folder = ".task_outputs/tool-results"
    assert disk.during(lambda: store.put_blob(b"large")) == [
        ("sync", f"{folder}/.DIGEST"),
        (f"rename {folder}/.DIGEST", f"{folder}/DIGEST.txt"),
        ("sync folder", folder),
    ]
    assert disk.during(lambda: store.put_blob(b"large")) == []


def test_a_memory_is_synced_in_its_journal_before_it_is_acknowledged(disk: Disk) -> None:
    memories = Memories.open()
    steps = disk.during(lambda: memories.add("one", "about one"))
    assert in_order(
        steps,
        ("sync", ".memory/.local/staged.memory"),
        ("rename .memory/.local/staged.memory", ".memory/.local/journal"),
        ("sync folder", ".memory/.local"),
        ("sync", ".memory/.local/scratch"),
        ("rename .memory/.local/scratch", ".memory/one.md"),
        ("sync", ".memory/history.jsonl"),
        ("sync folder", ".memory"),
        ("rename .memory/.local/journal", ".memory/.local/journal.done"),
    )
    memories.close()


def test_without_full_durability_nothing_is_synced(disk: Disk) -> None:
    graph = TaskGraph(open_stores(durability="process").tasks, actor="tester")
    store = open_stores(durability="process").logs
    store.create("s").close()
    store.put_blob(b"large")
    graph.create("one")
    graph.create("two", blocks=[1])
    assert {step for step, _ in disk.steps if step.startswith("sync")} == set()
