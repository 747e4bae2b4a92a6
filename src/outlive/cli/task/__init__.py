"""`outlive task`: the face of the task graph.

common.py   options and output shared by the commands
build.py    create, update, cancel, reopen, delete, archive
work.py     ready, claim, heartbeat, release, complete
look.py     get, list, history
picture.py  graph
move.py     import, export, doctor
"""

import click

from outlive.cli.lazy import LazyGroup


@click.group(
    cls=LazyGroup,
    commands_in={
        "create": ("outlive.cli.task.build:create", "Add a task, or a whole plan at once (--batch)."),
        "get": ("outlive.cli.task.look:get", "Show tasks in full."),
        "list": ("outlive.cli.task.look:list_", "List tasks, open ones by default."),
        "update": ("outlive.cli.task.build:update", "Change fields, status or dependencies."),
        "ready": ("outlive.cli.task.work:ready", "List what can be started now."),
        "claim": ("outlive.cli.task.work:claim", "Take a task, or the best ready one, under a lease."),
        "heartbeat": ("outlive.cli.task.work:heartbeat", "Extend the lease of a claimed task."),
        "release": ("outlive.cli.task.work:release", "Give a claimed task back unfinished."),
        "complete": ("outlive.cli.task.work:complete", "Finish a task; what it blocked becomes ready."),
        "reopen": ("outlive.cli.task.build:reopen", "Make a finished task pending again."),
        "cancel": ("outlive.cli.task.build:cancel", "Decide that a task will not be done."),
        "delete": ("outlive.cli.task.build:delete", "Remove a task."),
        "history": ("outlive.cli.task.look:history", "Who changed what, when and from where."),
        "graph": ("outlive.cli.task.picture:graph", "Draw the graph, a part of it, or its critical path."),
        "import": ("outlive.cli.task.move:import_", "Import tasks from an export, a file or a folder."),
        "export": ("outlive.cli.task.move:export", "Write the whole graph as JSON lines."),
        "archive": ("outlive.cli.task.build:archive", "Move finished tasks out of the way."),
        "doctor": ("outlive.cli.task.move:doctor", "Check the store, and mend it (--repair)."),
    },
)
@click.option("--store", metavar="URL", help="Where the tasks are; also an option of every command.")
@click.pass_context
def task(ctx: click.Context, store: str | None) -> None:
    """A graph of tasks that many processes, agents and machines share.

    Tasks live in .tasks/ at the root of the workspace, one JSON file each, or in SQLite or PostgreSQL
    (--store, OUTLIVE_STORE, or [store] url in outlive.toml).

    \b
    Examples:
      outlive task create "Write the parser"
      outlive task create "Test the parser" --blocked-by 1
      outlive task claim --owner me
      outlive task complete 1
      outlive task graph

    \b
    Exit codes: 0 done, 1 refused (the reason on stderr), 2 wrong usage, 74 the output could not be written.
    """
    ctx.obj = store
