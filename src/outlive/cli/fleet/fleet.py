"""`outlive fleet`: what workers do, and what a person tells them."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import click
import msgspec

from outlive.cli.echo import answer as answer_with
from outlive.cli.echo import echo, json_option, print_json, store_command, store_option
from outlive.cli.fleet.following import events_of, show_events
from outlive.cli.fleet.picture import picture
from outlive.cli.task.common import Duration, id_argument
from outlive.config import Workspace, default_actor
from outlive.errors import ConflictError
from outlive.events import encode
from outlive.stores import open_stores
from outlive.stores.tasks.records import task_to_json
from outlive.tasks.graph import TaskGraph
from outlive.work.control import FleetControl
from outlive.work.overview import overview
from outlive.work.reaper import task_worktrees
from outlive.work.settings import worktrees_folder
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import OVER, TaskRun
from outlive.work.shared.schedules import end_schedule, repeat


@contextmanager
def opened(store: str | None) -> Iterator[FleetControl]:
    with open_stores(**Workspace.find(store=store).store) as stores:
        yield FleetControl(TaskGraph(stores.tasks, actor=default_actor()), FleetBoard(stores.fleet), stores.logs)


def command() -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function that takes `control` and `as_json`."""
    return store_command(None, "stores", opened)


@click.group(invoke_without_command=True)
@store_option("stores")
@json_option
@click.pass_context
def fleet(ctx: click.Context, /, store: str | None, as_json: bool) -> None:
    """What the workers of this graph do: machines, slots, tasks in work, lease clocks, money, questions for you.

    \b
    Examples:
      outlive fleet
      outlive fleet --json
      outlive fleet answer 12 "Yes, drop the old column."
      outlive fleet drain build-7
    """
    ctx.obj = store
    if ctx.invoked_subcommand is not None:
        return
    with opened(store) as control:
        found = overview(control.graph, control.board)
    print_json(found) if as_json else echo(picture(found, shutil.get_terminal_size((100, 40)).columns))


@command()
@click.argument("worker")
@click.option("--grace", type=Duration(), default="60s", show_default=True, help="For tasks that it works on.")
def drain(control: FleetControl, worker: str, grace: timedelta, as_json: bool) -> None:
    """Let a worker end: it takes no more tasks, and gives back those that are not finished in time.

    \b
    Examples:
      outlive fleet drain build-7
      outlive fleet drain build-7 --grace 10m
    """
    found = control.drain(worker, grace)
    told = {"worker": worker, "machine": found.machine, "drain_by": found.drain_by}
    answer_with(told, f"{worker} takes no more tasks and ends by {found.drain_by:%H:%M:%S} UTC", as_json=as_json)


@command()
@id_argument
@click.option("--reason", metavar="TEXT", help="Kept with the task.")
def cancel(control: FleetControl, ref: str, reason: str | None, as_json: bool) -> None:
    """Cancel a task, also one that is being worked on: its agent is stopped, and what it did is kept.

    \b
    Examples:
      outlive fleet cancel 12 --reason "no longer wanted"
    """
    task = control.cancel(ref, reason)
    answer_with(task_to_json(task), f"cancelled #{task.id} {task.subject}", as_json=as_json)


@command()
@id_argument
def retry(control: FleetControl, ref: str, as_json: bool) -> None:
    """Let workers try a task again that gave up, was cancelled or is done. It goes on in the same session.

    \b
    Examples:
      outlive fleet retry 12
    """
    task = control.retry(ref)
    answer_with(task_to_json(task), f"#{task.id} {task.subject} can be taken again", as_json=as_json)


@command()
@id_argument
@click.argument("text")
def answer(control: FleetControl, ref: str, text: str, as_json: bool) -> None:
    """Answer the question for which a task waits. Its agent goes on with the answer.

    \b
    Examples:
      outlive fleet answer 12 "Use the new name, and keep the old one as an alias."
    """
    task = control.answer(ref, text)
    answer_with(task_to_json(task), f"#{task.id} {task.subject} goes on with your answer", as_json=as_json)


@command()
@click.option("--day", type=click.FloatRange(min=0), metavar="USD", help="Of each day (UTC).")
@click.option("--total", type=click.FloatRange(min=0), metavar="USD", help="Of all days.")
@click.option("--each-task", type=click.FloatRange(min=0), metavar="USD", help="Of each task.")
@click.option("--task", nargs=2, type=(int, click.FloatRange(min=0)), metavar="ID USD", help="Of one task.")
@click.option("--label", nargs=2, type=(str, click.FloatRange(min=0)), metavar="NAME USD", help="Of a label.")
@click.option("--clear", metavar="NAME", help="Remove one: day, total, task, task:ID or label:NAME.")
def budget(
    control: FleetControl,
    day: float | None,
    total: float | None,
    each_task: float | None,
    task: tuple[int, float] | None,
    label: tuple[str, float] | None,
    clear: str | None,
    as_json: bool,
) -> None:
    """Set what the fleet may spend, or show it. A budget holds at each claim and before each request.

    \b
    Examples:
      outlive fleet budget --day 50
      outlive fleet budget --task 12 5 --label docs 10
      outlive fleet budget --clear day
    """
    wanted = {"day": day, "total": total, "task": each_task}
    wanted |= {f"task:{task[0]}": task[1]} if task else {}
    wanted |= {f"label:{label[0]}": label[1]} if label else {}
    for name, dollars in wanted.items():
        if dollars is not None:
            control.budget(name, dollars)
    if clear:
        control.budget(clear, None)
    spending = overview(control.graph, control.board).spending
    lines = [f"{name:<16} ${dollars:.2f}" for name, dollars in spending.budgets.items()] or ["no budgets"]
    lines.append(f"spent: ${spending.today:.2f} today, ${spending.total:.2f} in all")
    answer_with(spending, "\n".join(lines), as_json=as_json)


@command()
def worktrees(control: FleetControl, as_json: bool) -> None:
    """The worktrees of tasks: where they are, and what of them is stored elsewhere.

    Of other machines it is known where they were last. Of this one those are listed, too, that an attempt has left
    behind which was replaced by another; workers remove them once everything in them is stored.

    \b
    Examples:
      outlive fleet worktrees
    """
    runs = {int(id): run for id, run in control.board.all(TaskRun).items() if run.worktree}
    rows = [
        {
            "task": number,
            "path": run.worktree,
            "machine": run.machine.partition("/")[0],
            "phase": run.phase,
            "here": Path(run.worktree).is_dir(),
            "stored": run.wip,
            "session": run.session,
        }
        for number, run in sorted(runs.items())
        if run.phase not in OVER or Path(run.worktree).is_dir()
    ]
    known = {row["path"] for row in rows}
    rows += [
        {"task": tree.task, "path": str(tree.path), "machine": "", "phase": "left behind", "here": True}
        | {"stored": "", "session": tree.session}
        for tree in task_worktrees(worktrees_folder(Workspace.find()))
        if str(tree.path) not in known
    ]
    lines = [
        f"#{row['task']}  {row['phase'] or 'between attempts'}  {row['machine']}"
        f"  {'here' if row['here'] else 'not on this machine'}  stored {str(row['stored'])[:10] or 'nothing'}"
        f"\n    {row['path']}"
        for row in rows
    ]
    answer_with(rows, "\n".join(lines) or "no worktrees", as_json=as_json)


@command()
@id_argument
@click.option("--every", type=Duration(), help="Make the task again at this interval.")
@click.option("--stop", is_flag=True, help="Make it no more.")
def schedule(control: FleetControl, ref: str, every: timedelta | None, stop: bool, as_json: bool) -> None:
    """Let a task come again: workers make the next one when it is due, unless the last one is still open.

    \b
    Examples:
      outlive fleet schedule 12 --every 1d
      outlive fleet schedule 12 --stop
    """
    if (every is None) is not stop:
        raise click.UsageError("give --every or --stop")
    task = control.graph.get(ref)
    if every is not None:
        plan = repeat(control.board, task, every)
        told = {"task": task.id, "due": plan.due}
        answer_with(told, f"#{task.id} {task.subject} comes again at {plan.due:%Y-%m-%d %H:%M} UTC", as_json=as_json)
    elif end_schedule(control.board, task.id):
        answer_with({"task": task.id, "due": None}, f"#{task.id} {task.subject} comes no more", as_json=as_json)
    else:
        raise ConflictError(f"task {task.id} has no schedule")


@command()
@id_argument
@click.option("-f", "--follow", is_flag=True, help="Go on until the task is finished, or Ctrl-C.")
def log(control: FleetControl, ref: str, follow: bool, as_json: bool) -> None:
    """What is said and done in the session of a task, from whichever machine works on it.

    \b
    Examples:
      outlive fleet log 12
      outlive fleet log 12 --follow
    """
    if not as_json:
        show_events(control, ref, follow=follow)
        return
    for event in events_of(control, ref, follow=follow):
        print_json(msgspec.Raw(encode(event)))


for each in (log, schedule, drain, cancel, retry, answer, budget, worktrees):
    fleet.add_command(each)
