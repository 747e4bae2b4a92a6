"""`outlive task ready --json`, the command that agents run most, answered before the command line is loaded.

This halves its time. Anything that is not plain (other options, an error, a lease that ran out, a damaged file) is
left to the command itself, which gives the same answer.
"""

import gc
import os
import sys
from collections.abc import Sequence

from outlive.cli.output import OutputFailed, failed
from outlive.config import Workspace
from outlive.errors import OutliveError


def answer(arguments: Sequence[str]) -> None:
    """Print the answer and end the process, or do nothing."""
    if len(arguments) == 2 and arguments[0] == "hook":
        gc.disable()  # as below
        from outlive.clients import CLIENTS_WITH_HOOKS
        from outlive.clients.hook import main

        if arguments[1] in CLIENTS_WITH_HOOKS:
            main(arguments[1])
    asked = _understood(arguments)
    if asked is None or sys.stdout.isatty():
        return
    gc.disable()  # the process ends with the answer; collecting on the way costs a tenth of its time
    try:
        text = _ready(Workspace.find(store=asked[0]), asked[1])
    except OutliveError:
        text = None
    gc.enable()
    if text is not None:
        try:
            sys.stdout.buffer.write(text + b"\n")
            sys.stdout.flush()
        except OutputFailed as error:
            os._exit(failed(error))
        os._exit(0)  # freeing what the system frees anyway would cost another tenth


def _understood(arguments: Sequence[str]) -> tuple[str | None, int | None] | None:
    """The store and the limit, if this is the question and nothing else."""
    if list(arguments[:2]) != ["task", "ready"] or "--json" not in arguments:
        return None
    store, limit = None, None
    rest = [word for word in arguments[2:] if word != "--json"]
    while rest:
        option, _, value = rest.pop(0).partition("=")
        if option not in ("--store", "--limit", "-n") or not (value or rest):
            return None
        value = value or rest.pop(0)
        if option == "--store":
            store = value
        elif value.isdecimal() and int(value) > 0:
            limit = int(value)
        else:
            return None
    return store, limit


def _ready(workspace: Workspace, limit: int | None) -> bytes | None:
    """The JSON of the ready tasks; None where a lease has to be given back first or a record is damaged."""
    url = workspace.store_url
    if url.startswith("sqlite:"):
        from outlive.stores.tasks.sql_quick import ready_json

        return ready_json(url, workspace.base, limit)
    if not url.startswith("files:"):
        return None
    import msgspec

    from outlive.stores import open_stores
    from outlive.stores.tasks.records import task_to_json

    store = open_stores(**workspace.store).tasks
    tasks, expired = store.read(lambda tx: (tx.ready(limit=limit), tx.expired()))
    if expired or store.left_out():
        return None
    return msgspec.json.encode([task_to_json(task) for task in tasks])
