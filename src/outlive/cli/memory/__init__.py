"""`outlive memory`: the face of what was learned.

common.py   options and output shared by the commands
look.py     get, list, log
find.py     search
change.py   add, supersede, confirm, forget, undo, consolidate
move.py     import, export, doctor
"""

import click

from outlive.cli.lazy import LazyGroup


@click.group(
    cls=LazyGroup,
    commands_in={
        "add": ("outlive.cli.memory.change:add", "Remember something."),
        "get": ("outlive.cli.memory.look:get", "Show memories in full."),
        "list": ("outlive.cli.memory.look:list_", "List memories, those in use by default."),
        "search": ("outlive.cli.memory.find:search", "Find memories by what they are about."),
        "confirm": ("outlive.cli.memory.change:confirm", "Agree to what a tool, a page or a model said."),
        "forget": ("outlive.cli.memory.change:forget", "Move memories into the archive."),
        "supersede": ("outlive.cli.memory.change:supersede", "Replace a memory by a correction."),
        "consolidate": ("outlive.cli.memory.change:consolidate", "Merge duplicates, by rules."),
        "import": ("outlive.cli.memory.move:import_", "Import memories from JSON lines or a folder."),
        "export": ("outlive.cli.memory.move:export", "Write memories as JSON lines."),
        "log": ("outlive.cli.memory.look:log", "What was changed, step by step, as diffs."),
        "undo": ("outlive.cli.memory.change:undo", "Take back a step, the last one by default."),
        "doctor": ("outlive.cli.memory.move:doctor", "Check memories, and set apart what is bad (--repair)."),
    },
)
@click.option("--store", metavar="URL", help="Where the project's memories are; also an option of every command.")
@click.pass_context
def memory(ctx: click.Context, store: str | None) -> None:
    """What was learned, across sessions and projects.

    The project's memories live in .memory/ at the root of the workspace, one Markdown file each, or in SQLite or
    PostgreSQL (--store, OUTLIVE_STORE, or [store] url in outlive.toml); yours for all projects in ~/.outlive/memory.

    \b
    Examples:
      outlive memory add "Use tabs" "Makefiles need tabs" --type feedback
      outlive memory search "how do I indent?"
      outlive memory supersede use-tabs "Use spaces, except in Makefiles"
      outlive memory forget use-tabs
      outlive memory undo

    \b
    Exit codes: 0 done, 1 refused (the reason on stderr), 2 wrong usage.
    """
    ctx.obj = store
