"""create, update, cancel, reopen, delete, archive."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import click
import msgspec

from outlive.cli.echo import answer, echo, named_input
from outlive.cli.output import done
from outlive.cli.task.common import (
    Duration,
    command,
    complete_ids,
    holder_options,
    id_argument,
    paint,
    print_task,
    scheduled,
)
from outlive.errors import InvalidTask
from outlive.printable import some
from outlive.stores.tasks.records import DEFAULT_PRIORITY, STATUSES, task_to_json
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph
from outlive.tasks.listing import line
from outlive.tasks.transfer import read_forms


@command()
@click.argument("subject", required=False)
@click.option("-d", "--description", default="", help="What is to be done, in full.")
@click.option(
    "--blocked-by",
    "blocked_by",
    multiple=True,
    metavar="ID",
    shell_complete=complete_ids,
    help="Waits for this task; repeat for more.",
)
@click.option(
    "--blocks",
    multiple=True,
    metavar="ID",
    shell_complete=complete_ids,
    help="This task waits for the new one; repeat for more.",
)
@click.option("-p", "--priority", type=int, default=DEFAULT_PRIORITY, help="0 (most urgent) to 4.", show_default=True)
@click.option("-l", "--label", "labels", multiple=True, help="A label; repeat for more.")
@click.option("--owner", metavar="NAME", help="Who is to do it. (Does not claim it.)")
@click.option("--metadata", metavar="JSON", help="An object of your own, kept with the task.")
@click.option(
    "--batch",
    type=click.Path(allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Create all tasks of a JSON file, or none.",
)
@click.option(
    "--every", type=Duration(), help="Make it again this long after it was due; see: outlive fleet schedule."
)
@click.option("-q", "--quiet", is_flag=True, help="Print only the id.")
def create(
    graph: TaskGraph,
    subject: str | None,
    batch: Path | None,
    metadata: str | None,
    every: timedelta | None,
    quiet: bool,
    as_json: bool,
    **fields: Any,
) -> None:
    """Add a task, or a whole plan at once.

    A batch is a JSON array (or JSON lines) of objects with "subject" and, if you like, "description",
    "priority", "labels", "owner", "metadata", "blockedBy" and "blocks". A "key" gives a task a temporary name
    that others of the batch use in "blockedBy" and "blocks" beside real ids. All are created, or none.

    \b
    Examples:
      outlive task create "Write the parser" -p 1 -l core
      outlive task create "Test the parser" --blocked-by 1 --blocked-by 2
      outlive task create "Update the dependencies" --every 7d
      outlive task create --batch plan.json
      echo '[{"key": "a", "subject": "One"}, {"subject": "Two", "blockedBy": ["a"]}]' |
        outlive task create --batch -
    """
    if subject is None and batch is None:
        raise click.UsageError("give a SUBJECT, or a plan with --batch FILE")
    if batch is not None:
        given = [name for name, value in fields.items() if value and value != DEFAULT_PRIORITY]
        if subject is not None or metadata or every or given:
            raise click.UsageError(
                "--batch takes everything from its file; it goes neither with a SUBJECT nor with fields"
            )
        created = graph.create_many(_drafts(*named_input(batch)))
        done(f"{len(created)} tasks were created: {some([task.id for task in created])}")
        lines = [str(task.id) if quiet else f"created {line(task, paint)}" for task in created]
        answer([task_to_json(task) for task in created], "\n".join(lines), as_json=as_json)
        return
    task = graph.create(subject or "", metadata=_object(metadata) if metadata else None, **fields)
    if every is not None:
        scheduled(task, every)
    if quiet and not as_json:
        done(f"task {task.id} was created")
        echo(str(task.id))
    else:
        print_task(task, "created", as_json=as_json)


@command()
@id_argument
@click.option("--subject")
@click.option("-d", "--description")
@click.option(
    "--status",
    metavar="STATUS",
    shell_complete=lambda _ctx, _option, start: [status for status in STATUSES if status.startswith(start)],
    help=f"One of {', '.join(STATUSES)}.",
)
@click.option("--owner", metavar="NAME", help="Who is to do it; '' for nobody.")
@click.option("-p", "--priority", type=int, help="0 (most urgent) to 4.")
@click.option("--label", "labels", multiple=True, help="Replace the labels; repeat for more, '' for none.")
@click.option("--add-label", "add_labels", multiple=True)
@click.option("--remove-label", "remove_labels", multiple=True)
@click.option("--metadata", metavar="JSON", help="Replace the metadata.")
@click.option("--result", metavar="TEXT", help="Replace the result note.")
@click.option(
    "--add-blocked-by", multiple=True, metavar="ID", shell_complete=complete_ids, help="Wait for this task too."
)
@click.option(
    "--remove-blocked-by", multiple=True, metavar="ID", shell_complete=complete_ids, help="No longer wait for it."
)
@click.option(
    "--add-blocks", multiple=True, metavar="ID", shell_complete=complete_ids, help="Let that task wait for this one."
)
@click.option(
    "--remove-blocks", multiple=True, metavar="ID", shell_complete=complete_ids, help="No longer let it wait."
)
@click.option("--force", is_flag=True, help="Change the status although the task is blocked.")
def update(
    graph: TaskGraph, ref: str, as_json: bool, metadata: str | None, labels: tuple[str, ...], **fields: Any
) -> None:
    """Change fields, status or dependencies; what is not given stays.

    \b
    Examples:
      outlive task update 3 --subject "Write the new parser" -p 0
      outlive task update 3 --add-blocked-by 1 --remove-blocked-by 2
      outlive task update 3 --status in_progress --owner me
    """
    changes = {name: value for name, value in fields.items() if value is not None and value != ()}
    if labels:
        changes["labels"] = [label for label in labels if label]
    if metadata is not None:
        changes["metadata"] = _object(metadata)
    if changes.keys() == {"force"}:
        raise click.UsageError("say what to change; see: outlive task update --help")
    print_task(graph.update(ref, **changes), "updated", as_json=as_json)


@command()
@id_argument
@click.option("--reason", metavar="TEXT", help="Why; kept as the result of the task.")
@holder_options
def cancel(
    graph: TaskGraph, ref: str, reason: str | None, owner: str | None, token: int | None, as_json: bool
) -> None:
    """Decide that a task will not be done. It no longer blocks others.

    \b
    Examples:
      outlive task cancel 3 --reason "done by 7"
    """
    outcome = graph.cancel(ref, reason=reason, owner=owner, token=token)
    print_task(outcome.task, "cancelled", as_json=as_json, unblocked=outcome.unblocked)


@command()
@id_argument
def reopen(graph: TaskGraph, ref: str, as_json: bool) -> None:
    """Make a finished task pending again. Whatever depends on it is blocked again.

    \b
    Examples:
      outlive task reopen 3
    """
    print_task(graph.reopen(ref), "reopened", as_json=as_json)


@command()
@id_argument
@click.option("--force", is_flag=True, help="Although others depend on it: they inherit its dependencies.")
def delete(graph: TaskGraph, ref: str, force: bool, as_json: bool) -> None:
    """Remove a task. Its id is never used again, and its history keeps what it was.

    \b
    Examples:
      outlive task delete 3
      outlive task delete 3 --force    hand its dependencies down to those that wait for it
    """
    outcome = graph.delete(ref, force=force)
    print_task(outcome.task, "deleted", as_json=as_json, unblocked=outcome.unblocked)


@command()
@click.option("--older-than", type=Duration(), default="0s", help="Only those finished this long ago, such as 7d.")
def archive(graph: TaskGraph, older_than: timedelta, as_json: bool) -> None:
    """Move finished tasks out of the way. They stay readable, and finished for what depends on them.

    \b
    Examples:
      outlive task archive --older-than 7d
      outlive task list --archived
    """
    moved = graph.archive(older_than=older_than)
    done(f"{len(moved)} tasks were archived")
    text = f"archived {len(moved)} {'task' if len(moved) == 1 else 'tasks'}"
    answer([task_to_json(task) for task in moved], text, as_json=as_json)


def _object(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise click.BadParameter(f"not a JSON object: {error}", param_hint="--metadata") from None


def _drafts(raw: bytes, where: str) -> list[TaskDraft]:
    drafts = []
    for place, form in read_forms(raw, where):
        try:
            drafts.append(msgspec.convert(form, TaskDraft))
        except msgspec.ValidationError as error:
            names = ", ".join(field.encode_name for field in msgspec.structs.fields(TaskDraft))
            raise InvalidTask(f"{place}: {error}; the fields are {names}. Nothing was created.") from None
    if not drafts:
        raise InvalidTask(f"{where}: there are no tasks in it")
    return drafts
