"""`outlive session`: look at sessions, fork them, take passes back.

common.py   options and output shared by the commands
look.py     list, show, receipts, export
change.py   resume, fork, undo
rewind.py   rewind
trace.py    trace
"""

import click

from outlive.cli.lazy import LazyGroup


@click.group(
    cls=LazyGroup,
    commands_in={
        "list": ("outlive.cli.session.look:list_", "List sessions, the newest first."),
        "show": ("outlive.cli.session.look:show", "Show the state of a session, or what was said and done in it."),
        "receipts": ("outlive.cli.session.look:receipts", "What each pass did: before, after, what left."),
        "resume": ("outlive.cli.session.change:resume", "Go on with a session in the terminal."),
        "fork": ("outlive.cli.session.change:fork", "Begin a session that shares another's past."),
        "undo": ("outlive.cli.session.change:undo", "Take back the last pass, or all after an event."),
        "rewind": ("outlive.cli.session.rewind:rewind", "Go back to before a message, in conversation and files."),
        "export": ("outlive.cli.session.look:export", "Write a whole session as JSON lines."),
        "trace": ("outlive.cli.session.trace:trace", "Send a session to an OpenTelemetry collector."),
    },
)
@click.option("--store", metavar="URL", help="Where the sessions are; also an option of every command.")
@click.pass_context
def session(ctx: click.Context, store: str | None) -> None:
    """Look at sessions, fork them, take passes back.

    Sessions live in .transcripts/ at the root of the workspace, one event a line and only ever appended to, or in
    SQLite or PostgreSQL (--store, OUTLIVE_STORE, or [store] url in outlive.toml).

    \b
    Examples:
      outlive session list
      outlive session show 20300101-120000-3fa9c1d2e4b5
      outlive session receipts 20300101-120000-3fa9c1d2e4b5 --json
      outlive session undo 20300101-120000-3fa9c1d2e4b5
      outlive session rewind 20300101-120000-3fa9c1d2e4b5 --to 120

    \b
    Exit codes: 0 done, 1 refused (the reason on stderr), 2 wrong usage.
    """
    ctx.obj = store
