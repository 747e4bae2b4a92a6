"""`outlive attach`: watch the session of a task, or take it over."""

import getpass
import socket
import sys
from contextlib import closing
from typing import Any

import click

from outlive.agent.factory import AgentFactory, AgentOptions
from outlive.cli.agent.start import open_chat
from outlive.cli.chat.preferences import preferences
from outlive.cli.echo import echo
from outlive.cli.fleet.fleet import opened
from outlive.cli.fleet.following import show_events
from outlive.cli.task.common import id_argument
from outlive.config import Workspace, default_owner
from outlive.options import agent_options
from outlive.tools.permissions.trust import terminal_settings
from outlive.work.attaching import attached
from outlive.work.control import FleetControl


@click.command()
@id_argument
@click.option("--take-over", is_flag=True, help="Stop the worker's agent and go on yourself, in the same session.")
@agent_options
def attach(ref: str, take_over: bool, store: str | None, **options: Any) -> None:
    """Watch the session of a task that a worker does, from any machine; or take it over and go on here yourself.

    With --take-over the task is yours until you give it back: the files come from where the worker stored them, into
    a worktree on this machine. At the end you are asked what becomes of the task.

    \b
    Examples:
      outlive attach 12
      outlive attach 12 --take-over
    """
    workspace = Workspace.find(store=store)
    with opened(store) as control:
        if take_over:
            sys.exit(_take_over(workspace, control, ref, options))
        show_events(control, ref, follow=True)


def _take_over(workspace: Workspace, control: FleetControl, ref: str, options: dict[str, Any]) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("--take-over talks with you, so it needs a terminal")
    owner = default_owner() or f"{getpass.getuser()}@{socket.gethostname()}"
    wanted = preferences(terminal_settings(workspace), plain=False, no_color=False)
    with attached(workspace, control, ref, owner=owner) as mine:
        echo(f"task {mine.task.id} is yours; its files are in {mine.workspace.root}")
        with closing(AgentFactory(mine.workspace, AgentOptions(**options))) as factory:
            code = open_chat(factory, mine.workspace, mine.session, "", wanted, take_over=True)
    if click.confirm(f"Give task {mine.task.id} back to the workers? They go on in this session.", default=True):
        control.give_back(mine.task)
    else:
        number = mine.task.id
        echo(f"it stays yours until: outlive task complete {number}, or: outlive task release {number}")
    return code
