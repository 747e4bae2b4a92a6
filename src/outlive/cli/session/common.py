"""Options and output shared by the commands on sessions."""

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import click
import msgspec

from outlive.agent.policies import policy_named
from outlive.agent.session import WINDOW
from outlive.cli.echo import echo, echo_exact
from outlive.config import Workspace
from outlive.context.engine import Engine
from outlive.stores import open_stores
from outlive.stores.logs.protocol import Damage, LogStore, UnknownSession

F = TypeVar("F", bound=Callable[..., Any])


@contextmanager
def open_store(url: str | None = None) -> Iterator[LogStore]:
    """The log store of the workspace."""
    workspace = Workspace.find(store=url)
    store = open_stores(**workspace.store).logs
    try:
        yield store
    finally:
        store.close()


def store_option(function: F) -> F:
    return click.option("--store", metavar="URL", help="Where the sessions are, if not where the workspace says.")(
        function
    )


def json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(function)


def command(name: str | None = None) -> Callable[[Callable[..., None]], click.Command]:
    """A command on the log store: it gets `store` and `as_json`, and --store and --json."""

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        @click.pass_context
        def run(ctx: click.Context, /, store: str | None, **options: Any) -> None:
            with open_store(store or ctx.obj) as opened:
                if "session" in options:
                    options["session"] = resolved(opened, options["session"])
                function(opened, **options)

        return click.command(name or function.__name__)(store_option(json_option(run)))

    return decorate


def session_argument(function: F) -> F:
    return click.argument("session", metavar="SESSION", shell_complete=_complete)(function)


def resolved(store: LogStore, text: str) -> str:
    """The session of that name, or the only one whose name, or the part of it that faces show, begins so."""
    try:
        return store.info(text).id
    except UnknownSession:
        known = [info.id for info in store.sessions()]
        found = [id for id in known if id.startswith(text)]
        found = found or [id for id in known if id.rpartition("-")[2].startswith(text)]
        if len(found) == 1:
            return found[0]
        if found:
            raise click.UsageError(f"{text!r} could be {', '.join(found[:5])}") from None
        raise


def engine_of(events: Iterable[Any]) -> Engine:
    """The engine that a log leads to, under the settings of the workspace."""
    context = Workspace.find().context
    engine = Engine(int(str(context.get("window", WINDOW))), chosen_policy("", context))
    engine.extend(events)
    return engine


def chosen_policy(text: str, context: Any) -> Any:
    """The policy that was asked for, else that of the workspace, else the default."""
    return policy_named(text or str(context.get("policy", "")), context.get("policies"))


def say_damage(damage: Iterable[Damage]) -> None:
    """On stderr, so that what is printed stays clean."""
    for item in damage:
        echo(f"{click.style('left out:', fg='yellow')} {item}", err=True)


def print_json(value: Any, *, err: bool = False) -> None:
    """Indented for a person at a terminal, one line for a program."""
    raw = msgspec.json.encode(value)
    stream = sys.stderr if err else sys.stdout
    echo_exact((msgspec.json.format(raw, indent=2) if stream.isatty() else raw) + b"\n", err=err)


def moment(time: float) -> str:
    """In the time zone of the reader."""
    return f"{datetime.fromtimestamp(time).astimezone():%Y-%m-%d %H:%M}" if time else "-"


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    with open_store() as store:
        return [
            CompletionItem(info.id, help=info.title) for info in store.sessions() if info.id.startswith(incomplete)
        ]
