"""Reads the log of a task while it is written, on whichever machine."""

from collections.abc import Iterator

from outlive.cli.echo import echo
from outlive.cli.session.common import moment
from outlive.cli.session.event_lines import TELLING, event_line
from outlive.errors import UnknownTask
from outlive.events import Event
from outlive.stores.logs.protocol import UnknownSession
from outlive.tasks.refs import Ref
from outlive.work.control import FleetControl

LOOK_SECONDS = 1.0
"""Between two looks at a log that nobody announces."""


def show_events(control: FleetControl, ref: Ref, *, follow: bool) -> None:
    """Print what is said and done in the session of a task."""
    for event in events_of(control, ref, follow=follow):
        if isinstance(event, TELLING):
            echo(f"{moment(event.time)}  {event_line(event)}")


def events_of(control: FleetControl, ref: Ref, *, follow: bool) -> Iterator[Event]:
    """The events of the task's session; with `follow` also those to come, until the task is finished."""
    tail = control.logs.tail(control.session_of(ref))
    try:
        with control.graph.store.watch() as watch:
            while True:
                try:
                    over = control.graph.get(ref).finished
                except UnknownTask:
                    over = True
                yield from tail.read().events
                if over or not follow:
                    return
                watch.wait(LOOK_SECONDS)
    except UnknownSession:
        return
    finally:
        tail.close()
