"""The record of a task, and its one JSON form: used in `.tasks/task_N.json`, in `--json` output and in exports.

`dependsOn` and `status` are the truth; `blockedBy` and `blocks` are derived from them and written for readers.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

import msgspec

from outlive.errors import DamagedRecord, FutureVersion, InvalidTask
from outlive.regular import MIB

FORMAT_VERSION = 1
"""1: first format. Files without a version are the plain form, see `decode_task`."""

Status = Literal["pending", "in_progress", "completed", "cancelled"]
STATUSES: tuple[Status, ...] = get_args(Status)
FINISHED: frozenset[Status] = frozenset({"completed", "cancelled"})

DEFAULT_PRIORITY = 2  # in the middle of 0 (first) to 4
MAX_ID = 10**15 - 1
"""The largest id that any reader accepts: exact as a JSON number everywhere, and a BIGINT."""
MAX_ID_GAP = 10**9
"""An id further than this above all smaller ones was planted or mistyped: new ids do not continue from it."""
MAX_LEASE = timedelta(days=7)
"""A lease that ends later than this comes from a wrong clock and counts as expired."""
STALE_LEASE = timedelta(days=30)
"""A lease that expired longer ago is not taken over automatically: more likely the clock is wrong."""
MAX_TASK_BYTES = 16 * MIB
"""Size of the JSON form."""
MAX_DEPENDENCIES = 10_000  # of one task; a task is one file, written whole
REPAIR = "repair_tasks"
"""The code of errors and problems that a repair of the store sets right."""
NO_NEW_TASKS = "repair it; until then no task can be created"
"""Direct dependencies of one task."""


class Lease(msgspec.Struct, frozen=True, rename="camel"):
    """A claim that expires. `token` fences: it grows with each claim of the task, so an old one is recognised."""

    owner: str
    token: int
    claimed_at: datetime
    expires_at: datetime

    def lapsed(self, now: datetime) -> bool:
        """Whether the task may be given to another owner."""
        oldest, latest = believable(now)
        return oldest <= self.expires_at <= now or self.expires_at > latest

    def stale(self, now: datetime) -> bool:
        """Whether it expired so long ago that the clock is doubted first."""
        return self.expires_at < believable(now)[0]


def believable(now: datetime) -> tuple[datetime, datetime]:
    """The range in which a recent lease by a correct clock ends."""
    return now - STALE_LEASE, now + MAX_LEASE


class Task(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=False):
    """One task at one moment."""

    id: int
    subject: str
    description: str = ""
    status: Status = "pending"
    blocked_by: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    owner: str | None = None
    depends_on: tuple[int, ...] = ()
    priority: int = DEFAULT_PRIORITY
    labels: tuple[str, ...] = ()
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None
    archived_at: datetime | None = None
    lease: Lease | None = None
    revision: int = 1
    result: str | None = None
    metadata: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    """Unknown keys of the JSON form, kept as they are."""

    @property
    def finished(self) -> bool:
        return self.status in FINISHED

    @property
    def ready(self) -> bool:
        return self.status == "pending" and not self.blocked_by


class TaskChange(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the audit trail: who did what to which task, when and from where."""

    id: str
    at: datetime
    actor: str
    origin: str
    op: str
    task: int
    revision: int
    changed: dict[str, tuple[Any, Any]] = {}
    """Field (as in JSON) to its values before and after."""
    note: str | None = None


_KEYS = {field.encode_name for field in msgspec.structs.fields(Task)} - {"extra"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST = datetime.min.replace(tzinfo=UTC) + timedelta(days=1)
_LATEST = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)


def highest_id(ids: Iterable[int], start: int = 0) -> int:
    """The largest id that new ones continue from, at least `start`; see MAX_ID_GAP."""
    for number in sorted({number for number in ids if number > start}):
        if number - start > MAX_ID_GAP:
            break
        start = number
    return start


def wrong_mark(mark: int, known: Callable[[], int]) -> str | None:
    """What is wrong with the mark of the last id given out; `known` is the largest id in use."""
    if 0 <= mark <= MAX_ID_GAP or (0 <= mark <= MAX_ID - MAX_ID_GAP and mark <= known() + MAX_ID_GAP):
        return None
    return f"says that the last id was {mark}, while the largest in use is {known()}"


def damaged_mark(where: str, wrong: str) -> DamagedRecord:
    return DamagedRecord(f"{where}: {wrong}. Nothing was changed", hint="a repair sets it right", code=REPAIR)


def check_reserve(high_water: int) -> None:
    """Refuse a mark that would leave no room for new ids."""
    if high_water > MAX_ID - MAX_ID_GAP:
        raise InvalidTask(
            f"the id {high_water} is too large: no id could follow it", hint="import with new ids", code="renumber"
        )


def task_to_json(task: Task) -> dict[str, Any]:
    """The JSON form of a task as plain Python values, in the stable key order."""
    form: dict[str, Any] = msgspec.to_builtins(task)
    extra = form.pop("extra")
    if task.archived_at is None:
        del form["archivedAt"]
    form["version"] = FORMAT_VERSION
    form.update(extra)
    return form


def encode_task(task: Task) -> bytes:
    """The bytes of a task file: pretty-printed, one item a line, so that diffs and merges are small."""
    return msgspec.json.format(msgspec.json.encode(task_to_json(task)), indent=2) + b"\n"


def decode_task(raw: bytes, *, where: str, written_at: datetime = _EPOCH) -> Task:
    """Read the JSON form, or the plain form without our extra fields (`written_at` then dates it)."""
    try:
        form = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = "an unresolved git conflict" if b"<<<<<<<" in raw else f"not valid JSON ({error})"
        raise DamagedRecord(f"{where}: {reason}") from None
    return task_from_json(form, where=where, written_at=written_at)


def task_from_json(form: Any, *, where: str, written_at: datetime = _EPOCH) -> Task:
    if not isinstance(form, dict):
        raise DamagedRecord(f"{where}: expected a JSON object, found {type(form).__name__}")
    version = form.get("version", FORMAT_VERSION)
    if not isinstance(version, int):
        raise DamagedRecord(f"{where}: format version {version!r} is not one of ours")
    if version > FORMAT_VERSION:
        raise FutureVersion(
            f"{where}: format version {version!r}, this outlive reads up to {FORMAT_VERSION}; upgrade outlive"
        )
    known = {key: value for key, value in form.items() if key in _KEYS}
    known.setdefault("createdAt", written_at)
    known.setdefault("updatedAt", known["createdAt"])
    known["owner"] = known.get("owner") or None
    known["extra"] = {key: value for key, value in form.items() if key not in _KEYS and key != "version"}
    try:
        task = msgspec.convert(known, Task, strict=False)
        msgspec.msgpack.encode(task)  # numbers beyond 64 bits are valid JSON, but no engine can keep them
    except (msgspec.ValidationError, OverflowError, RecursionError) as error:
        allowed = f"; one of {', '.join(STATUSES)}" if "$.status" in str(error) else ""
        raise DamagedRecord(f"{where}: {error}{allowed}") from None
    return _normalised(task, where)


def _normalised(task: Task, where: str) -> Task:
    """Edges as truth, ids in range, times in UTC: what every reader of a Task may rely on."""
    # `blockedBy` is always written as a part of `dependsOn`. An id that is only there was put there by a
    # person, another tool or the plain form, and means a dependency.
    if max(len(task.depends_on), len(task.blocked_by)) > MAX_DEPENDENCIES:
        count = max(len(task.depends_on), len(task.blocked_by))
        raise DamagedRecord(f"{where}: {count:,} dependencies, a task has at most {MAX_DEPENDENCIES:,}")
    edges = sorted({*task.depends_on, *task.blocked_by})
    for number in (task.id, *edges):
        if not 1 <= number <= MAX_ID:
            raise DamagedRecord(f"{where}: {number} is not a task id")
    lease = task.lease and msgspec.structs.replace(
        task.lease, claimed_at=_utc(task.lease.claimed_at), expires_at=_utc(task.lease.expires_at)
    )
    return msgspec.structs.replace(
        task,
        depends_on=tuple(edge for edge in edges if edge != task.id),
        blocked_by=(),
        blocks=(),
        created_at=_utc(task.created_at),
        updated_at=_utc(task.updated_at),
        completed_at=task.completed_at and _utc(task.completed_at),
        archived_at=task.archived_at and _utc(task.archived_at),
        lease=lease,
        labels=tuple(sorted(set(task.labels))),
    )


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    return min(max(moment, _EARLIEST), _LATEST).astimezone(UTC)
