"""`outlive serve`: the context engine for plugins of pi and opencode, behind a unix socket."""

import os
import sys

import click

from outlive.cli.echo import echo, json_option, print_json
from outlive.config import Workspace


@click.command()
@click.option("--ensure", "background", is_flag=True, help="Start one in the background unless one runs.")
@click.option("--stop", is_flag=True, help="End the one that runs.")
@json_option
def serve(background: bool, stop: bool, as_json: bool) -> None:
    """Make requests for pi and opencode in this folder: their plugins ask here what to send to the model.

    The plugins start it; it ends after half an hour without a request. The socket is readable by you alone.

    \b
    Examples:
      outlive serve --ensure --json     what a plugin runs: {"socket": PATH}
      outlive serve                     in the foreground, until Ctrl-C
      outlive serve --stop

    \b
    Exit codes: 0 done, 1 refused (it cannot be started, or --stop found none), 2 wrong usage.
    """
    if background and stop:
        raise click.UsageError("--ensure and --stop exclude each other")
    from outlive.clients.serve.locate import end, ensure, socket_path

    workspace = Workspace.find(for_client=True)
    workspace.remember_apart()
    if stop:
        if not end(socket_path(workspace)):
            echo("no server runs for this folder", err=True)
            sys.exit(1)
        return
    if background:
        path = ensure(workspace)
        print_json({"socket": str(path)}) if as_json else echo(str(path))
        return
    from outlive.clients.serve.server import serve as run

    if run(workspace) is None:
        echo(f"another process serves {os.fspath(workspace.root)} already", err=True)
