"""get, list, history."""

from datetime import UTC, datetime
from typing import Any, cast

import click

from outlive.cli.echo import answer, echo, print_json
from outlive.cli.task.common import (
    budget_of,
    budget_option,
    command,
    complete_ids,
    local,
    optional_id_argument,
    paint,
    print_list,
)
from outlive.printable import one_line
from outlive.stores.tasks.protocol import SortKey, TaskQuery
from outlive.stores.tasks.records import STATUSES, Status, Task, TaskChange, task_to_json
from outlive.tasks.graph import TaskGraph
from outlive.tasks.listing import fits, line
from outlive.tasks.queries import OPEN_TASKS


@command()
@click.argument("refs", metavar="ID...", nargs=-1, required=True, shell_complete=complete_ids)
def get(graph: TaskGraph, refs: tuple[str, ...], as_json: bool) -> None:
    """Show tasks in full.

    \b
    Examples:
      outlive task get 3
      outlive task get 3 4 5 --json
    """
    tasks = [graph.get(ref) for ref in refs]
    forms = [task_to_json(task) for task in tasks]
    answer(forms[0] if len(forms) == 1 else forms, "\n\n".join(map(_full, tasks)), as_json=as_json)


@command("list")
@click.option("-a", "--all", "everything", is_flag=True, help="Finished tasks too.")
@click.option("--status", "statuses", type=click.Choice(STATUSES), multiple=True, help="Repeat for more.")
@click.option("--owner", metavar="NAME")
@click.option("-l", "--label", "labels", multiple=True, help="Has this label; repeat for more.")
@click.option(
    "--blocked/--unblocked", default=None, help="Only tasks that wait for others, or only those that do not."
)
@click.option("--text", metavar="TEXT", help="Subject or description contains it.")
@click.option("--archived", is_flag=True, help="Archived tasks too (implies --all).")
@click.option(
    "--sort",
    type=click.Choice(["priority", "id", "created", "updated", "status"]),
    default="priority",
    show_default=True,
)
@click.option("--reverse", is_flag=True)
@click.option("-n", "--limit", type=click.IntRange(min=1))
@budget_option
def list_(
    graph: TaskGraph,
    everything: bool,
    statuses: tuple[str, ...],
    sort: str,
    reverse: bool,
    limit: int | None,
    budget: int | None,
    archived: bool,
    as_json: bool,
    **conditions: Any,
) -> None:
    """List tasks, open ones by default.

    \b
    Examples:
      outlive task list --status in_progress
      outlive task list --all --label docs --text parser
      outlive task list --blocked --sort created --json
    """
    chosen = frozenset(cast(tuple[Status, ...], statuses)) or (
        None if everything or archived else OPEN_TASKS.statuses
    )
    reach = fits(budget_of(budget, limit=limit, as_json=as_json))
    most = min((number for number in (limit, reach) if number is not None), default=None)
    query = TaskQuery(
        statuses=chosen, archived=archived, sort=cast(SortKey, sort), descending=reverse, limit=most, **conditions
    )
    tasks = graph.find(query)
    total = graph.count(query) if most is not None and len(tasks) == most else len(tasks)
    if limit is not None:
        total = min(total, limit)
    filtered = bool(statuses) or any(value not in (None, ()) for value in conditions.values())
    none = "no tasks" if everything or archived else "no open tasks (--all shows finished ones)"
    none = "no task matches" if filtered else none
    print_list(tasks, total, budget=budget, limit=limit, as_json=as_json, none=none)


@command()
@optional_id_argument
def history(graph: TaskGraph, ref: str | None, as_json: bool) -> None:
    """Who changed what, when and from where; of one task, or of all.

    \b
    Examples:
      outlive task history 3
      outlive task history --json
    """
    changes = graph.history(ref)
    if as_json:
        print_json(changes)
        return
    for change in changes:
        echo(_change(change, name_task=ref is None))


def _full(task: Task) -> str:
    rows = [
        ("status", task.status.replace("_", " ") + (" (ready)" if task.ready else "")),
        ("priority", f"P{task.priority}"),
        ("labels", ", ".join(task.labels)),
        ("owner", task.owner or ""),
        ("lease", _lease(task)),
        ("blocked by", ", ".join(map(str, task.blocked_by))),
        ("depends on", ", ".join(map(str, task.depends_on)) if task.depends_on != task.blocked_by else ""),
        ("blocks", ", ".join(map(str, task.blocks))),
        ("created", local(task.created_at)),
        ("updated", f"{local(task.updated_at)} (revision {task.revision})"),
        ("finished", local(task.completed_at) if task.completed_at else ""),
        ("archived", local(task.archived_at) if task.archived_at else ""),
        ("result", task.result or ""),
        *((key, str(value)) for key, value in {**task.metadata, **task.extra}.items()),
    ]
    lines = [line(task, paint)]
    lines += [f"  {paint(f'{name:<11}', 'dim')}{value}" for name, value in rows if value]
    if task.description:
        lines += ["", *(f"  {text}" for text in task.description.splitlines())]
    return "\n".join(lines)


def _lease(task: Task) -> str:
    if task.lease is None:
        return ""
    now = datetime.now(UTC)
    over = " (ran out; goes back when work is next asked for)" if task.lease.lapsed(now) else ""
    over = " (ran out long ago; see: outlive task doctor)" if task.lease.stale(now) else over
    return f"until {local(task.lease.expires_at)}, token {task.lease.token}{over}"


def _change(change: TaskChange, *, name_task: bool) -> str:
    edits = [
        _short(new) if change.op in ("create", "import") else f"{field} {_short(old)} → {_short(new)}"
        for field, (old, new) in change.changed.items()
        if field not in ("completedAt", "archivedAt", "lease", "task")
    ]
    lease = change.changed.get("lease", (None, None))[1]
    if lease:
        until = datetime.fromisoformat(lease["expiresAt"])
        edits.append(f"until {local(until, '%H:%M:%S')}, token {lease['token']}")
    where = f"task {change.task} " if name_task else ""
    what = "; ".join(filter(None, [", ".join(edits), change.note]))
    who = paint(f"by {change.actor} from {change.origin}", "dim")
    return f"{paint(local(change.at), 'dim')}  {where}{paint(change.op, 'bold')}  {what}  {who}"


def _short(value: object) -> str:
    return "nothing" if value in (None, "", [], {}) else one_line(str(value), 60)
