"""The task list of a client, mirrored into the graph: created, begun, completed and blocked there as well."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from outlive.agent.session import Session
from outlive.events import OpenTask, TasksSeen
from outlive.stores.tasks.protocol import TaskQuery, TaskStore
from outlive.stores.tasks.records import Task
from outlive.tasks.edit import TaskEdit
from outlive.tasks.graph import TaskGraph

MIRRORED = "mirrors"
"""Metadata of a task: the client, its session and the number that the task has there."""
ALL = TaskQuery()
READY = 10
"""Tasks of the project, besides those of the session, that are shown."""
STATUSES = {"pending": "pending", "in_progress": "in_progress", "completed": "completed", "deleted": "cancelled"}


def mirror(store: TaskStore, client: str, session: str, event: dict[str, Any]) -> None:
    """Apply a change of the client's list to the graph, unless the graph refuses it (a cycle)."""
    graph = TaskGraph(store, actor=f"{client} {session[:8]}")
    given = event.get("tool_input")
    if not isinstance(given, dict):
        return
    if event.get("tool_name") == "TaskCreate":
        response = event.get("tool_response")
        task = response.get("task") if isinstance(response, dict) else None
        subject = str(given.get("subject") or "").strip()
        if isinstance(task, dict) and subject:
            source = _source(client, session, task.get("id"))
            graph.create(subject, description=str(given.get("description") or ""), metadata={MIRRORED: source})
        return
    known = {task.metadata.get(MIRRORED): task for task in graph.find(ALL)}
    task = known.get(_source(client, session, given.get("taskId")))
    if task is not None:
        _update(graph, task, given, lambda id: known.get(_source(client, session, id)))


def _update(graph: TaskGraph, task: Task, given: dict[str, Any], known: Callable[[object], Task | None]) -> None:
    edit: TaskEdit = {}
    if subject := str(given.get("subject") or "").strip():
        edit["subject"] = subject
    if status := STATUSES.get(str(given.get("status"))):
        edit["status"] = status
    for side, key in (("add_blocked_by", "addBlockedBy"), ("add_blocks", "addBlocks")):
        named = given.get(key)
        if others := [other.id for id in (named if isinstance(named, list) else ()) if (other := known(id))]:
            edit[side] = others  # type: ignore[literal-required]
    if edit:
        graph.update(task.id, force=True, **edit)


def see_tasks(session: Session, store: TaskStore, client: str, id: str) -> None:
    """Log which tasks the client's session has open, and those of the project that are ready."""
    graph = TaskGraph(store)
    mine = [task for task in graph.find(ALL) if _is_of(task, client, id)]
    shown = {task.id: task for task in (*graph.ready(limit=READY), *mine) if not task.finished}
    tasks = tuple(
        OpenTask(task.id, task.subject, task.status) for task in sorted(shown.values(), key=attrgetter("id"))
    )
    done = tuple(sorted(task.id for task in mine if task.status == "completed"))
    if (tasks, done) != (session.state.tasks, session.state.tasks_done):
        session.log(TasksSeen, tasks=tasks, done=done)


def _is_of(task: Task, client: str, session: str) -> bool:
    return str(task.metadata.get(MIRRORED, "")).startswith(f"{client} {session} ")


def _source(client: str, session: str, id: object) -> str:
    return f"{client} {session} {id}"
