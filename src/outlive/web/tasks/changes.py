"""What a page with control may do to tasks: the operations of the graph, with its own refusals."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from outlive.stores.tasks.records import Task
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import DEFAULT_TTL, TaskGraph
from outlive.tasks.refs import Ref
from outlive.web.api import bad_request
from outlive.web.tasks.rows import TaskRow, row_of

T = TypeVar("T")
MOST_NAMED = 50
"""Unblocked tasks that an answer names."""


class Done(msgspec.Struct, frozen=True):
    """The task as it is now, and what became ready."""

    task: TaskRow
    unblocked: list[TaskRow] = []


class _Form(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class _Edit(_Form, frozen=True):
    subject: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    labels: tuple[str, ...] | UnsetType = UNSET
    add_blocked_by: tuple[Ref, ...] = ()
    remove_blocked_by: tuple[Ref, ...] = ()
    add_blocks: tuple[Ref, ...] = ()
    remove_blocks: tuple[Ref, ...] = ()


class _Claim(_Form, frozen=True):
    owner: str
    seconds: int = int(DEFAULT_TTL.total_seconds())


class _Complete(_Form, frozen=True):
    result: str | None = None
    force: bool = False


class _Cancel(_Form, frozen=True):
    reason: str | None = None


def create(graph: TaskGraph, form: Any) -> Done:
    return Done(row_of(graph.create_many([_read(form, TaskDraft)])[0]))


def edit(graph: TaskGraph, ref: Ref, form: Any) -> Done:
    given = msgspec.structs.asdict(_read(form, _Edit))
    return _done(graph.update(ref, **{name: value for name, value in given.items() if value is not UNSET}))


def claim(graph: TaskGraph, ref: Ref, form: Any) -> Done:
    given = _read(form, _Claim)
    if not 0 < given.seconds < 10**9:  # what is too long is refused by the graph, in its words
        raise bad_request("a lease lasts at least a second")
    return _done(graph.claim(ref, owner=given.owner, ttl=timedelta(seconds=given.seconds)))


def release(graph: TaskGraph, ref: Ref, form: Any) -> Done:
    _read(form, _Form)
    return _done(graph.release(ref))


def complete(graph: TaskGraph, ref: Ref, form: Any) -> Done:
    given = _read(form, _Complete)
    outcome = graph.complete(ref, result=given.result or None, force=given.force)
    return _done(outcome.task, outcome.unblocked)


def reopen(graph: TaskGraph, ref: Ref, form: Any) -> Done:
    _read(form, _Form)
    return _done(graph.reopen(ref))


def cancel(graph: TaskGraph, ref: Ref, form: Any) -> Done:
    outcome = graph.cancel(ref, reason=_read(form, _Cancel).reason or None)
    return _done(outcome.task, outcome.unblocked)


CHANGES: dict[str, Callable[[TaskGraph, Ref, Any], Done]] = {
    "edit": edit,
    "claim": claim,
    "release": release,
    "complete": complete,
    "reopen": reopen,
    "cancel": cancel,
}


def _done(task: Task, unblocked: tuple[Task, ...] = ()) -> Done:
    return Done(row_of(task), [row_of(other) for other in unblocked[:MOST_NAMED]])


def _read(form: Any, kind: type[T]) -> T:
    try:
        return msgspec.convert(form, kind)
    except msgspec.ValidationError as error:
        raise bad_request(str(error)) from None
