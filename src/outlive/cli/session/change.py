"""resume, fork, undo."""

import click

from outlive.agent.log.forking import fork as fork_session
from outlive.agent.session import Session
from outlive.cli.echo import answer, store_option
from outlive.cli.output import done
from outlive.cli.session.common import command, session_argument
from outlive.stores.logs.protocol import LogStore


@click.command()
@session_argument
@store_option("sessions")
@click.pass_context
def resume(ctx: click.Context, session: str, store: str | None) -> None:
    """Go on with a session in the terminal, where its log ends. The same as outlive --resume SESSION.

    \b
    Examples:
      outlive session list
      outlive session resume SESSION
    """
    from outlive.cli.agent.start import start

    ctx.exit(start(resume=session, store=store or ctx.obj))


@command()
@session_argument
@click.option("--at", type=click.IntRange(min=1), metavar="EVENT", help="Go on from this event instead of the last.")
@click.option("--name", default="", help="What to call the new session.")
def fork(store: LogStore, session: str, at: int | None, name: str, as_json: bool) -> None:
    """Begin a session that shares another's past. Nothing is copied, and neither disturbs the other.

    \b
    Examples:
      outlive session fork SESSION
      outlive session fork SESSION --at 120 --name another-way
    """
    new = fork_session(store, session, at=at or 0, name=name)
    done(f"session {new} was made")
    answer(store.info(new), new, as_json=as_json)


@command()
@session_argument
@click.option("--to", type=click.IntRange(min=1), metavar="EVENT", help="Take back all after this event.")
def undo(store: LogStore, session: str, to: int | None, as_json: bool) -> None:
    """Take back the last pass, so that what left the view is in it again; or (--to) all after an event.

    Undoing appends to the log like everything else, so nothing is lost by it.

    \b
    Examples:
      outlive session undo SESSION
      outlive session undo SESSION --to 120
    """
    with Session.resume(store, session) as opened:
        event = opened.undo_to(to) if to else opened.undo_pass()
    what = f"everything after event {event.target}" if to else f"the pass of event {event.target}"
    done(f"took back {what}")
    answer(event, f"took back {what}", as_json=as_json)
