"""Options and output shared by the task commands."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from outlive.cli.echo import echo, print_json, store_command
from outlive.cli.output import done
from outlive.config import Workspace, default_actor
from outlive.options import together
from outlive.stores import open_stores
from outlive.stores.tasks.records import Task, task_to_json
from outlive.tasks.graph import TaskGraph
from outlive.tasks.listing import DEFAULT_BUDGET_TOKENS, line, listing

if TYPE_CHECKING:
    from outlive.work.shared.board import FleetBoard

_COLOURS: dict[str, dict[str, Any]] = {
    "ready": {"fg": "green"},
    "blocked": {"fg": "yellow", "dim": True},
    "in_progress": {"fg": "cyan", "bold": True},
    "completed": {"dim": True},
    "cancelled": {"dim": True},
    "dim": {"dim": True},
    "label": {"fg": "magenta"},
    "bold": {"bold": True},
}


def command(name: str | None = None) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function that takes `graph` and `as_json`; adds --store and --json."""
    return store_command(name, "tasks", _opened)


@contextmanager
def _opened(store: str | None) -> Iterator[TaskGraph]:
    graph = open_graph(store)
    try:
        yield graph
        for text in graph.store.left_out():
            echo(f"left out: {text}; see: outlive task doctor", err=True)
    finally:
        graph.store.close()


def open_graph(store: str | None) -> TaskGraph:
    return TaskGraph(open_stores(**Workspace.find(store=store).store).tasks, actor=default_actor())


@contextmanager
def opened_board() -> "Iterator[FleetBoard]":
    """The documents of the fleet in the store of the current command."""
    from outlive.work.shared.board import FleetBoard

    ctx = click.get_current_context()
    with open_stores(**Workspace.find(store=ctx.params.get("store") or ctx.obj).store) as stores:
        yield FleetBoard(stores.fleet)


def scheduled(task: Task, every: timedelta) -> None:
    """Let a task come again. Workers make the next one."""
    from outlive.work.shared.schedules import repeat

    with opened_board() as board:
        repeat(board, task, every)


def complete_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    tasks = open_graph(None).find()
    return [CompletionItem(str(task.id), help=task.subject) for task in tasks if str(task.id).startswith(incomplete)]


id_argument = click.argument("ref", metavar="ID", shell_complete=complete_ids)
optional_id_argument = click.argument("ref", metavar="[ID]", required=False, shell_complete=complete_ids)
budget_option = click.option(
    "--budget",
    type=click.IntRange(min=0),
    metavar="TOKENS",
    help=f"Stop the list there; 0 for no limit. Default {DEFAULT_BUDGET_TOKENS}; no limit with --json or --limit.",
)
holder_options = together(
    click.option("--owner", metavar="NAME", help="Act as this worker; refused if another holds the task."),
    click.option("--token", type=int, help="The fencing token of your claim (lease.token); refused if stale."),
)
"""A caller that gives neither acts for the user, on any task."""
fit_options = together(
    click.option("--label", "labels", multiple=True, help="Only tasks with this label; repeat for more."),
    click.option(
        "--capability",
        "capabilities",
        multiple=True,
        help="Only tasks whose labels are all among these; repeat for more.",
    ),
)


class Duration(click.ParamType[timedelta]):
    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)?", str(value).strip())
        if match is None:
            self.fail(f"{value!r} is not a duration; write 90s, 15m, 2h or 7d", param, ctx)
        unit = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}[match[2] or "s"]
        return timedelta(**{unit: float(match[1])})


def paint(text: str, role: str) -> str:
    return click.style(text, **_COLOURS[role])


def print_list(
    tasks: Sequence[Task], total: int, *, budget: int | None, limit: int | None, as_json: bool, none: str
) -> None:
    """Print tasks, one a line, within the token budget."""
    if as_json:
        print_json([task_to_json(task) for task in tasks])
    elif not tasks:
        echo(paint(none, "dim"), err=True)
    else:
        tokens = budget_of(budget, limit=limit, as_json=as_json)
        text = listing(tasks, total=total, budget=tokens, paint=paint)
        echo(text)
        if tokens and "… and" in text.rpartition("\n")[2]:
            echo(paint("--budget 0 shows all; filters narrow it down", "dim"), err=True)


def budget_of(budget: int | None, *, limit: int | None, as_json: bool) -> int:
    """Return the token budget of a list: the option, else unlimited with --limit or --json, else the default."""
    if budget is not None:
        return budget
    return 0 if as_json or limit is not None else DEFAULT_BUDGET_TOKENS


def print_task(task: Task, verb: str, *, as_json: bool, unblocked: Sequence[Task] | None = None) -> None:
    done(f"task {task.id} was {verb}")
    if as_json:
        more = {} if unblocked is None else {"unblocked": [other.id for other in unblocked]}
        print_json(task_to_json(task) | more)
        return
    echo(f"{verb} {line(task, paint)}")
    for other in unblocked or ():
        echo(f"  now ready: {line(other, paint)}")


def local(moment: datetime, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """Format a time in the local time zone. JSON stays in UTC."""
    return moment.astimezone().strftime(form)
