"""Options and output shared by the task commands."""

import functools
import re
import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, NoReturn, TypeVar

import click
import msgspec

from outlive.cli.echo import echo, echo_exact
from outlive.cli.output import done
from outlive.config import Workspace, default_actor
from outlive.stores import open_stores
from outlive.stores.tasks.records import Task, task_to_json
from outlive.tasks.graph import TaskGraph
from outlive.tasks.listing import DEFAULT_BUDGET, line, listing

F = TypeVar("F", bound=Callable[..., Any])

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
    """A command on the graph: it gets `graph` and `as_json`, and --store and --json."""

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        @click.pass_context
        def run(ctx: click.Context, /, store: str | None, **options: Any) -> None:
            graph = open_graph(store or ctx.obj)
            try:
                function(graph, **options)
                for text in graph.store.left_out():
                    echo(f"left out: {text}; see: outlive task doctor", err=True)
            finally:
                graph.store.close()

        wrapped = click.option(
            "--store", metavar="URL", help="Where the tasks are, if not where the workspace says."
        )(click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(run))
        return click.command(name or function.__name__)(wrapped)

    return decorate


def open_graph(store: str | None) -> TaskGraph:
    workspace = Workspace.find(store=store)
    opened = open_stores(**workspace.store).tasks
    return TaskGraph(opened, actor=default_actor())


def id_argument(function: F) -> F:
    return click.argument("ref", metavar="ID", shell_complete=complete_ids)(function)


def optional_id_argument(function: F) -> F:
    return click.argument("ref", metavar="[ID]", required=False, shell_complete=complete_ids)(function)


def budget_option(function: F) -> F:
    return click.option(
        "--budget",
        type=click.IntRange(min=0),
        metavar="TOKENS",
        help=f"Stop the list there; 0 for no end. {DEFAULT_BUDGET} if not given, and no end with --json or --limit.",
    )(function)


def holder_options(function: F) -> F:
    """Who is acting. Without either the caller speaks for the user and may act on any task."""
    owner = click.option("--owner", metavar="NAME", help="Act as this worker; refused if another holds the task.")
    token = click.option("--token", type=int, help="The fencing token of your claim (lease.token); refused if stale.")
    return owner(token(function))


def fit_options(function: F) -> F:
    label = click.option("--label", "labels", multiple=True, help="Only tasks with this label; repeat for more.")
    able = click.option(
        "--capability",
        "capabilities",
        multiple=True,
        help="Only tasks whose labels are all among these; repeat for more.",
    )
    return label(able(function))


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


def print_json(value: Any) -> None:
    """Indented for a person at a terminal, one line for a program."""
    raw = msgspec.json.encode(value)
    echo_exact((msgspec.json.format(raw, indent=2) if sys.stdout.isatty() else raw) + b"\n")


def print_list(
    tasks: Sequence[Task], total: int, *, budget: int | None, limit: int | None, as_json: bool, none: str
) -> None:
    """Tasks, one a line, as far as the budget reaches."""
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
    """The budget of a list: as asked for, else none where the reader said how much or is a program."""
    if budget is not None:
        return budget
    return 0 if as_json or limit is not None else DEFAULT_BUDGET


def print_task(task: Task, verb: str, *, as_json: bool, unblocked: Sequence[Task] | None = None) -> None:
    """What became of a task: the task as JSON, or a line that says it."""
    done(f"task {task.id} was {verb}")
    if as_json:
        more = {} if unblocked is None else {"unblocked": [other.id for other in unblocked]}
        print_json(task_to_json(task) | more)
        return
    echo(f"{verb} {line(task, paint)}")
    for other in unblocked or ():
        echo(f"  now ready: {line(other, paint)}")


def local(moment: datetime, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A moment as people at this terminal read it: in their own time zone. JSON stays in UTC."""
    return moment.astimezone().strftime(form)


def usage(message: str) -> NoReturn:
    raise click.UsageError(message)


def complete_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    graph = open_graph(None)
    return [
        CompletionItem(str(task.id), help=task.subject)
        for task in graph.find()
        if str(task.id).startswith(incomplete)
    ]
