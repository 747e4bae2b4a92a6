"""Export and import of graphs, also from other tools.

An export is JSON lines: a header, then tasks, then the audit trail.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from outlive.errors import ConflictError, CycleError, DamagedRecord, DependencyError, FutureVersion
from outlive.regular import UnusableFile, read_regular
from outlive.secrets import mask_value
from outlive.stores.tasks.protocol import TaskQuery, TaskStore, TaskWriter
from outlive.stores.tasks.records import MAX_TASK_BYTES, Task, TaskChange, task_from_json, task_to_json, wrong_mark
from outlive.tasks import shape
from outlive.tasks.audit import Audit
from outlive.tasks.edges import arrows, refuse_cycles

EXPORT_VERSION = 1
"""1: first form."""
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Bundle(msgspec.Struct):
    """The contents of an export, or of another tool's files."""

    tasks: list[Task] = []
    changes: list[TaskChange] = []
    high_water: int = 0


def export_lines(store: TaskStore) -> Iterator[str]:
    """Yield all tasks, archived ones included, and their history, from one snapshot."""
    tasks, changes, high_water = store.read(
        lambda tx: (tx.find(TaskQuery(archived=True, sort="id")), tx.history(), tx.high_water())
    )
    yield _line({"outlive": "tasks", "version": EXPORT_VERSION, "highWater": high_water})
    yield from (_line({"task": task_to_json(task)}) for task in tasks)
    yield from (_line({"change": change}) for change in changes)


def read_bundle(raw: bytes, *, where: str) -> Bundle:
    """Read our export, or tasks of another tool as a JSON array, one object, or JSON lines."""
    bundle = Bundle()
    for place, form in read_forms(raw, where):
        _take(bundle, place, form)
    return _checked(bundle, where)


def read_forms(raw: bytes, where: str) -> list[tuple[str, Any]]:
    """Return the objects of a JSON array, of {"tasks": […]}, of JSON lines, or a single one; each with its place."""
    try:
        whole = msgspec.json.decode(raw)
    except _NOT_JSON as error:
        if raw.lstrip()[:1] != b"[":
            return list(_json_lines(raw, where))
        byte = re.search(r"byte (\d+)", str(error))
        line = raw[: int(byte[1]) if byte else None].count(b"\n") + 1
        raise DamagedRecord(f"{where}, line {line}: not valid JSON ({error}). Nothing was changed.") from None
    if isinstance(whole, dict) and isinstance(whole.get("tasks"), list):
        whole = whole["tasks"]
    items = whole if isinstance(whole, list) else [whole]
    return [(f"{where}, item {index}", item) for index, item in enumerate(items, start=1)]


def read_folder(folder: Path) -> Bundle:
    """Read a folder of task files, ours or another tool's: one JSON object a file."""
    bundle = Bundle()
    for path in sorted(folder.glob("*.json")):
        try:
            raw = read_regular(path, MAX_TASK_BYTES)
        except UnusableFile as error:
            raise DamagedRecord(f"{error}. Nothing was imported.") from None
        moment = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
        for place, form in _json_lines(raw.replace(b"\n", b" "), str(path)):
            bundle.tasks.append(
                task_from_json(mask_value(form), where=place.partition(", line")[0], written_at=moment)
            )
    return _checked(bundle, str(folder))


def import_bundle(store: TaskStore, bundle: Bundle, audit: Audit, *, renumber: bool = False) -> list[Task]:
    """Import all tasks or none. Tasks that are in the store already, unchanged, are skipped."""

    def work(tx: TaskWriter) -> list[Task]:
        tasks, changes = bundle.tasks, bundle.changes
        if renumber:
            tasks, changes = _renumbered(tx, bundle)
        present = tx.lock([task.id for task in tasks], edges=True)
        new = [task for task in tasks if task.id not in present]
        clashes = [task.id for task in tasks if task.id in present and not _same(task, present[task.id])]
        if clashes:
            listed = ", ".join(map(str, clashes[:10])) + (" …" if len(clashes) > 10 else "")
            raise ConflictError(
                f"the store already has other tasks with the ids {listed}",
                hint="give the imported ones new ids",
                code="renumber",
            )
        if not new:
            return []
        tx.reserve(max(bundle.high_water, *(task.id for task in new)))
        known = {change.id for change in tx.history()}
        tx.record([change for change in changes if change.id not in known])
        for task in new:
            audit.create(tx, task, op="import")
        inside = {task.id for task in new}
        refuse_cycles(tx, [(task.id, other) for task in new for other in task.depends_on if other not in inside])
        imported = tx.get(inside)
        return [imported[task.id] for task in new]

    return store.write(work)


def _line(form: Any) -> str:
    return msgspec.json.encode(form).decode()


def _json_lines(raw: bytes, where: str) -> Iterator[tuple[str, Any]]:
    for number, text in enumerate(raw.split(b"\n"), start=1):
        if text.strip():
            place = f"{where}, line {number}"
            try:
                yield place, msgspec.json.decode(text)
            except _NOT_JSON as error:
                raise DamagedRecord(f"{place}: not valid JSON ({error}). Nothing was changed.") from None


def _take(bundle: Bundle, place: str, form: Any) -> None:
    if not isinstance(form, dict):
        raise DamagedRecord(f"{place}: expected a JSON object, found {type(form).__name__}. Nothing was imported.")
    form = mask_value(form)
    if form.get("outlive") == "tasks":
        if form.get("version", 0) > EXPORT_VERSION:
            raise FutureVersion(f"{place}: exported by a newer outlive; upgrade outlive to import it")
        mark = form.get("highWater", 0)
        if not isinstance(mark, int):
            raise DamagedRecord(f"{place}: highWater is {str(mark)[:80]!r}, not a number. Nothing was imported.")
        bundle.high_water = mark
    elif "change" in form:
        try:
            bundle.changes.append(msgspec.convert(form["change"], TaskChange))
        except msgspec.ValidationError as error:
            raise DamagedRecord(f"{place}: {error}. Nothing was imported.") from None
    elif "task" not in form and "id" not in form:
        raise DamagedRecord(f"{place}: has no id", hint="a plan without ids is created, not imported", code="no_id")
    else:
        bundle.tasks.append(task_from_json(form.get("task", form), where=place, written_at=datetime.now(UTC)))


def _checked(bundle: Bundle, where: str) -> Bundle:
    ids = Counter(task.id for task in bundle.tasks)
    if doubled := min((number for number, count in ids.items() if count > 1), default=None):
        raise ConflictError(f"{where}: the id {doubled} occurs twice. Nothing was imported.")
    named = {*ids, *(change.task for change in bundle.changes)}
    if wrong := wrong_mark(bundle.high_water, lambda: max(named, default=0)):
        raise DamagedRecord(f"{where}: highWater {wrong}. Nothing was imported; correct it.")
    cycle = shape.find_cycle({task.id: task.depends_on for task in bundle.tasks})
    if cycle:
        raise CycleError(f"{where}: has the cycle {arrows(cycle)}; remove one of these edges", cycle)
    return bundle


def _renumbered(tx: TaskWriter, bundle: Bundle) -> tuple[list[Task], list[TaskChange]]:
    ids = dict(zip((task.id for task in bundle.tasks), tx.new_ids(len(bundle.tasks)), strict=True))
    outside = {number for task in bundle.tasks for number in task.depends_on if number not in ids}
    existing = tx.lock(outside)
    for task in bundle.tasks:
        if lost := [number for number in task.depends_on if number not in ids and number not in existing]:
            raise DependencyError(
                f"task {task.id} of the import depends on {', '.join(map(str, lost))}, which is neither in it nor "
                "in the store; import that too, or take the dependency out"
            )
    # An id that is not in the import refers to a task of this store.
    tasks = [
        replace(
            task, id=ids[task.id], depends_on=tuple(sorted(ids.get(number, number) for number in task.depends_on))
        )
        for task in bundle.tasks
    ]
    carried = [change for change in bundle.changes if change.task in ids]  # without those of deleted tasks
    return tasks, [replace(change, id=f"{change.id}-{ids[change.task]}", task=ids[change.task]) for change in carried]


def _same(one: Task, other: Task) -> bool:
    return replace(one, blocked_by=(), blocks=()) == replace(other, blocked_by=(), blocks=())
