"""Options and output shared by the commands on sessions."""

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import click

from outlive.agent.log.session_log import DEFAULT_WINDOW
from outlive.agent.policies import policy_named
from outlive.cli.echo import echo, store_command
from outlive.config import Workspace
from outlive.context.engine import Engine
from outlive.stores import open_stores
from outlive.stores.logs.protocol import Damage, LogStore
from outlive.stores.logs.reading import sessions_like


@contextmanager
def open_store(url: str | None = None) -> Iterator[LogStore]:
    with open_stores(**Workspace.find(store=url).store) as stores:
        yield stores.logs


def command(name: str | None = None) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function that takes `store`, `as_json` and maybe `session`; adds --store and --json."""

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def run(store: LogStore, **options: Any) -> None:
            if "session" in options:
                options["session"] = resolved(store, options["session"])
            function(store, **options)

        return store_command(name, "sessions", open_store)(run)

    return decorate


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    with open_store() as store:
        found = [info for info in store.sessions() if info.id.startswith(incomplete)]
    return [CompletionItem(info.id, help=info.title) for info in found]


session_argument = click.argument("session", metavar="SESSION", shell_complete=_complete)


def resolved(store: LogStore, text: str) -> str:
    """Return the session with this id, or the only one whose id (or short id) starts with the text."""
    found = sessions_like(store, text)
    if len(found) > 1:
        raise click.UsageError(f"{text!r} could be {', '.join(found[:5])}")
    return found[0] if found else store.info(text).id


def engine_of(events: Iterable[Any]) -> Engine:
    """Build the engine of a log, with the settings of the workspace."""
    context = Workspace.find().context_settings()
    engine = Engine(int(str(context.get("window", DEFAULT_WINDOW))), chosen_policy("", context))
    engine.extend(events)
    return engine


def chosen_policy(text: str, context: Any) -> Any:
    """Return the named policy, else the policy of the workspace, else the default."""
    return policy_named(text or str(context.get("policy", "")), context.get("policies"))


def say_damage(damage: Iterable[Damage]) -> None:
    for item in damage:
        echo(f"{click.style('left out:', fg='yellow')} {item}", err=True)


def moment(time: float) -> str:
    """Format a time in the local time zone."""
    return f"{datetime.fromtimestamp(time).astimezone():%Y-%m-%d %H:%M}" if time else "-"
