"""What must be true of every store at every moment, whatever happened to it."""

import json
from collections import defaultdict
from pathlib import Path

from outlive.stores.tasks.protocol import TaskQuery, TaskReader, TaskStore
from outlive.stores.tasks.records import Task, TaskChange
from outlive.testing.tasks.support import assert_derived

EVERYTHING = TaskQuery(archived=True, sort="id")


def look(store: TaskStore) -> tuple[dict[int, Task], list[TaskChange], list[int]]:
    """All tasks, the audit trail and the ready ids, seen at one moment."""

    def work(tx: TaskReader) -> tuple[dict[int, Task], list[TaskChange], list[int]]:
        return {task.id: task for task in tx.find(EVERYTHING)}, tx.history(), [task.id for task in tx.ready()]

    return store.read(work)


def assert_sound(store: TaskStore) -> None:
    """Derived fields follow from the truth, the audit trail tells how each task came to be as it is, and the
    store finds nothing wrong with itself beyond what it calls harmless."""
    assert_derived(store)
    tasks, trail, _ = look(store)
    assert_trail_agrees(tasks, trail)
    problems = [problem for problem in store.check() if not problem.harmless]
    assert problems == []


def assert_trail_agrees(tasks: dict[int, Task], trail: list[TaskChange]) -> None:
    changes: dict[int, list[TaskChange]] = defaultdict(list)
    for change in trail:
        changes[change.task].append(change)
    for number, task in tasks.items():
        revisions = [change.revision for change in changes[number]]
        assert revisions == list(range(1, task.revision + 1)), f"task {number}: {changes[number]}"
        status = "pending"
        for change in changes[number]:
            was, now = change.changed.get("status", (status, status))
            assert was == status, f"task {number}: {change} does not follow {status}"
            status = now
        assert status == task.status, f"task {number} is {task.status}, its trail ends at {status}"
    for number in changes.keys() - tasks.keys():
        assert changes[number][-1].op == "delete", f"task {number} is gone, its trail ends with {changes[number][-1]}"


def assert_files_tell_the_truth(folder: Path) -> None:
    """`blockedBy` and `blocks` as written in the task files, for readers that are not outlive."""
    forms = {}
    for path in folder.glob("task_*.json"):
        form = json.loads(path.read_text())
        forms[form["id"]] = form
    archived = {path.name: json.loads(path.read_text()) for path in (folder / "archive").glob("task_*.json")}
    finished = {
        form["id"] for form in (*forms.values(), *archived.values()) if form["status"] in ("completed", "cancelled")
    }
    for number, form in forms.items():
        assert form["blockedBy"] == [other for other in form["dependsOn"] if other not in finished], form
        assert form["blocks"] == sorted(n for n, other in forms.items() if number in other["dependsOn"]), form
