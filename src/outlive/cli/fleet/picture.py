"""The overview of a fleet as text."""

from collections.abc import Iterator

import click

from outlive.cli.chat.words import duration
from outlive.printable import one_line
from outlive.work.overview import FleetOverview, TaskView, WorkerView

_COLUMNS = 100


def picture(found: FleetOverview) -> str:
    """What `outlive fleet` prints."""
    return "\n".join(_lines(found))


def _lines(found: FleetOverview) -> Iterator[str]:
    yield click.style("Workers", bold=True)
    yield from map(_worker, found.workers)
    if not found.workers:
        yield click.style("  none; start one with: outlive work", dim=True)
    if found.working:
        yield click.style("In work", bold=True)
        for task in found.working:
            yield from _task(task)
    if found.waiting:
        yield click.style("Waiting for you", bold=True)
    for question in found.waiting:
        yield f"  #{question.id} {one_line(question.subject, 60)}"
        yield click.style(f"      {one_line(question.question, _COLUMNS)}", fg="yellow")
        yield click.style(f"      outlive fleet answer {question.id} TEXT", dim=True)
    yield click.style("Queue", bold=True)
    oldest = found.oldest_ready_seconds
    age = f", the oldest for {duration(oldest)}" if oldest is not None else ""
    yield f"  {found.ready} ready{age}; {found.blocked} blocked"
    if found.expired:
        named = ", ".join(f"#{number}" for number in found.expired)
        yield click.style(f"  {named}: the lease has run out, the next worker takes over", fg="yellow")
    money = found.spending
    yield click.style("Money", bold=True)
    yield f"  ${money.last_hour:.2f} in the last hour, ${money.today:.2f} today, ${money.total:.2f} in all"
    for name, dollars in money.budgets.items():
        yield f"  budget {name}: ${dollars:.2f}"
    for provider, interval in found.slowed.items():
        yield click.style(f"  {provider} asked to slow down: a request every {interval:.2g} s", fg="yellow")
    for plan in found.schedules:
        due = f"every {duration(plan.seconds)}, next {plan.due:%Y-%m-%d %H:%M} UTC"
        yield f"  #{plan.id} {one_line(plan.subject, 50)}: {due}"


def _worker(each: WorkerView) -> str:
    state = "draining" if each.draining else "working" if each.busy else "idle"
    if not each.alive:
        state = click.style(f"gone for {duration(-each.seconds_left)}", fg="red")
    where = each.machine.partition("/")[0]
    return f"  {each.name}  {where}  {each.busy}/{each.slots} slots  {state}"


def _task(task: TaskView) -> Iterator[str]:
    left = task.seconds_left or 0.0
    clock = f"lease {duration(left)}" if left >= 0 else click.style(f"lease ran out {duration(-left)} ago", fg="red")
    spent = f"${task.dollars:.2f}" if task.dollars else f"{task.requests} requests"
    attempt = f", attempt {task.attempts}" if task.attempts > 1 else ""
    head = f"  #{task.id} {one_line(task.subject, 50)}"
    yield f"{head}  {task.worker}  {task.phase or 'claimed'}  {duration(task.seconds)}{attempt}  {clock}  {spent}"
    if task.activity:
        yield click.style(f"      {one_line(task.activity, _COLUMNS)}", dim=True)
