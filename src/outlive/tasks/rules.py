"""Valid field values, and who may act on a claimed task. Pure functions; each refusal says what to do instead.

Secrets are masked in every text of a task, because others read task files.
"""

from collections.abc import Iterable, Sized
from datetime import datetime, timedelta
from typing import Any

import msgspec

from outlive.errors import BlockedError, ConflictError, InvalidTask, LeaseError
from outlive.printable import some
from outlive.secrets import mask, mask_value
from outlive.stores.tasks.records import MAX_DEPENDENCIES, MAX_LEASE, STATUSES, Status, Task

MAX_SUBJECT_CHARS = 200  # lists show it in one line
MAX_TEXT_CHARS = 100_000  # of a description or result, which models read; larger things belong into files
MAX_LABEL_CHARS = 60  # lists show several in one line
PRIORITIES = range(5)
RELEASE_HINT = "if the clock is right, release it in the name of {!r}"


def subject(text: str) -> str:
    text = _text(text, "the subject").strip()
    if not text:
        raise InvalidTask("the subject is blank; say in a few words what is to be done")
    if len(text) > MAX_SUBJECT_CHARS:
        raise InvalidTask(
            f"the subject has {len(text)} characters, at most {MAX_SUBJECT_CHARS} are allowed; "
            "put the detail into the description"
        )
    if any(ord(char) < 32 or char in "\x7f\x85\u2028\u2029" for char in text):
        raise InvalidTask(
            "the subject must be one line without control characters; put the rest into the description"
        )
    return mask(text)


def long_text(text: str, what: str) -> str:
    if len(_text(text, what)) > MAX_TEXT_CHARS:
        raise InvalidTask(f"{what} has {len(text):,} characters, at most {MAX_TEXT_CHARS:,} are allowed")
    return mask(text)


def name(text: str, what: str) -> str:
    """Validate a short name such as an owner or a label."""
    text = _text(text, what).strip()
    if not text or len(text) > MAX_LABEL_CHARS or not text.isprintable():
        raise InvalidTask(f"{what} {mask(text)[:80]!r} must be 1 to {MAX_LABEL_CHARS} printable characters")
    return mask(text)


def labels(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name(value, "the label") for value in values}))


def priority(value: int) -> int:
    if value not in PRIORITIES:
        raise InvalidTask(f"priority {value} is not one of 0 (most urgent) to {PRIORITIES[-1]}")
    return value


def status(value: str) -> Status:
    for known in STATUSES:
        if value == known:
            return known
    raise InvalidTask(f"{value!r} is not a status; one of: {', '.join(STATUSES)}")


def edges(refs: Sized, what: str = "one change") -> None:
    """Refuse more edges than a task may have, before any is looked up."""
    if len(refs) > MAX_DEPENDENCIES:
        raise InvalidTask(
            f"{what} names {len(refs):,} tasks to depend on, at most {MAX_DEPENDENCIES:,} are allowed; "
            "let it wait for a few tasks that wait for the rest"
        )


def dependencies(task: Task) -> Task:
    """Return the task, or refuse it if it has too many direct dependencies."""
    edges(task.depends_on, f"task {task.id}")
    return task


def metadata(value: dict[str, Any]) -> dict[str, Any]:
    """Validate metadata as plain JSON, which every engine can store."""
    try:
        encoded = msgspec.json.encode(value)
        msgspec.msgpack.encode(value)  # the index of the file store holds 64-bit integers only
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidTask(f"metadata must be plain JSON: {error}") from None
    if b"\\u0000" in encoded:
        raise InvalidTask("metadata must not contain the NUL character")
    decoded: dict[str, Any] = mask_value(msgspec.json.decode(encoded))
    return decoded


def ttl(value: timedelta) -> None:
    if not timedelta(0) < value <= MAX_LEASE:
        raise InvalidTask(
            f"the ttl of a lease is more than nothing and at most {MAX_LEASE.days} days",
            hint="a heartbeat extends it",
            code="lease_length",
        )


def may_act(task: Task, *, owner: str | None, token: int | None, verb: str) -> None:
    """Refuse a caller whose owner or token no longer holds the task.

    A caller that gives neither acts for the user and is allowed.
    """
    if token is not None and (task.lease is None or task.lease.token != token):
        raise LeaseError(
            f"cannot {verb} task {task.id}: token {token} is stale, {held(task)}; "
            "the work may have been given to another, so look at the task before you claim it again"
        )
    holder = task.lease.owner if task.lease else task.owner
    if owner is not None and holder is not None and holder != owner:
        raise LeaseError(f"cannot {verb} task {task.id} as {owner!r}: {held(task)}; leave it to its holder")


def may_finish(task: Task, *, force: bool) -> None:
    if task.blocked_by and not force:
        raise BlockedError(
            f"cannot complete task {task.id}: blocked by {some(task.blocked_by)}",
            task.blocked_by,
            hint="complete those first, or remove a dependency that is not one",
            code="complete_blocked",
        )


def may_start(task: Task, now: datetime, owner: str | None = None) -> None:
    """Refuse a claim of a task that is finished, blocked or held."""
    if task.finished:
        raise ConflictError(f"cannot claim task {task.id}: it is {task.status}; reopen it first")
    if task.blocked_by:
        listed = some(task.blocked_by)
        raise BlockedError(f"cannot claim task {task.id}: blocked by {listed}; claim those first", task.blocked_by)
    if task.lease and task.status == "in_progress" and task.lease.stale(now):
        raise LeaseError(
            f"cannot claim task {task.id}: {stale_lease(task, now)}",
            hint=RELEASE_HINT.format(task.lease.owner),
            code="stale_lease",
            id=task.id,
            owner=task.lease.owner,
        )
    if task.status == "in_progress" and (not task.lease.lapsed(now) if task.lease else task.owner is not None):
        message = f"cannot claim task {task.id}: {held(task)}"
        if task.lease and task.lease.owner == owner:
            raise LeaseError(message, hint="if that is you, go on, or extend it", code="own_lease", id=task.id)
        raise LeaseError(message, hint="claim another one that is ready, wait for it, or ask its owner to release it")


def stale_lease(task: Task, now: datetime) -> str:
    """Explain why a task with a stale lease is not taken over, and what to do."""
    assert task.lease is not None  # noqa: S101 - callers check it
    days = (now - task.lease.expires_at).days
    return (
        f"the lease of {task.lease.owner!r} ran out {days:,} days ago by this clock ({now:%Y-%m-%d %H:%M} UTC), "
        "which may be wrong, so the task stays with its holder"
    )


def held(task: Task) -> str:
    """Describe who holds the task."""
    if task.lease:
        return f"it is held by {task.lease.owner!r} until {task.lease.expires_at:%Y-%m-%d %H:%M:%S} UTC"
    if task.status == "in_progress" and task.owner:
        return f"it is in progress, owned by {task.owner!r}, without a lease"
    return f"it is {task.status} and has no owner"


def _text(text: str, what: str) -> str:
    if "\0" in text:
        raise InvalidTask(f"{what} must not contain the NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidTask(f"{what} is not valid Unicode text: {text[:60]!r}") from None
    return text
