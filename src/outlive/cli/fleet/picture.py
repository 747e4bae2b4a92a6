"""The overview of a fleet as text."""

import textwrap
from collections.abc import Iterator

import click

from outlive.cli.chat.words import duration
from outlive.printable import clean, one_line
from outlive.work.overview import FleetOverview, QuestionView, TaskView, WorkerView

_LEAST_SUBJECT = 16
"""Columns that a subject has, however long the rest of its line is."""
_QUESTION_LINES = 12  # of a worker's question; all of it is in the JSON form
_INDENT = " " * 6


def picture(found: FleetOverview, columns: int) -> str:
    """What `outlive fleet` prints, in so many columns."""
    return "\n".join(_lines(found, columns))


def _lines(found: FleetOverview, columns: int) -> Iterator[str]:
    yield click.style("Workers", bold=True)
    yield from map(_worker, found.workers)
    if not found.workers:
        yield click.style("  none; start one with: outlive work", dim=True)
    if found.working:
        yield click.style("In work", bold=True)
    for task in found.working:
        yield from _task(task, columns)
    if found.waiting:
        yield click.style("Waiting for you", bold=True)
    for question in found.waiting:
        yield from _question(question, columns)
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
    if found.schedules:
        yield click.style("Schedules", bold=True)
    for plan in found.schedules:
        due = f"every {duration(plan.seconds)}, next {plan.due:%Y-%m-%d %H:%M} UTC"
        yield f"{_subject(plan.id, plan.subject, columns - len(due) - 2)}: {due}"


def _worker(each: WorkerView) -> str:
    state = "draining" if each.draining else "working" if each.busy else "idle"
    if not each.alive:
        state = click.style(f"gone for {duration(-each.seconds_left)}", fg="red")
    where = each.machine.partition("/")[0]
    return f"  {each.name}  {where}  {each.busy}/{each.slots} slots  {state}"


def _task(task: TaskView, columns: int) -> Iterator[str]:
    attempt = f", attempt {task.attempts}" if task.attempts > 1 else ""
    parts = [task.worker, task.phase or "claimed", f"{duration(task.seconds)}{attempt}" if task.seconds else ""]
    late = False
    if task.seconds_left is not None:
        late = task.seconds_left < 0
        parts.append(f"lease {'ran out ' * late}{duration(abs(task.seconds_left))}{' ago' * late}")
    if task.requests:
        parts.append(f"${task.dollars:.2f}" if task.dollars else f"{task.requests} requests")
    rest = "  ".join(filter(None, parts))
    head = _subject(task.id, task.subject, columns - len(rest) - 2)
    yield f"{head}  {click.style(rest, fg='red') if late else rest}"
    if task.activity:
        yield click.style(f"{_INDENT}{one_line(task.activity, columns - len(_INDENT))}", dim=True)


def _question(question: QuestionView, columns: int) -> Iterator[str]:
    yield _subject(question.id, question.subject, columns)
    lines = [
        line
        for paragraph in clean(question.question).splitlines()
        for line in textwrap.wrap(paragraph, columns, initial_indent=_INDENT, subsequent_indent=_INDENT)
    ]
    for line in lines[:_QUESTION_LINES]:
        yield click.style(line, fg="yellow")
    if len(lines) > _QUESTION_LINES:
        yield click.style(f"{_INDENT}… (all of it: outlive fleet --json)", dim=True)
    again = "" if question.why == "asks" else f", or: outlive fleet retry {question.id}"
    yield click.style(f"{_INDENT}outlive fleet answer {question.id} TEXT{again}", dim=True)


def _subject(number: int, subject: str, columns: int) -> str:
    head = f"  #{number} "
    return head + one_line(subject, max(_LEAST_SUBJECT, columns - len(head)))
