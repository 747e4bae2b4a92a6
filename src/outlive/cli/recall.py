"""`outlive recall`: the exact text behind a handle."""

import sys

import click

from outlive.cli.session.common import open_store
from outlive.session.recall import lines_of, pages_of
from outlive.stores.log_reading import full_log


@click.command()
@click.argument("handle", required=False)
@click.option("--session", metavar="ID")
def recall(handle: str, session: str) -> None:
    """Print what a handle stands for."""
    with open_store() as store:
        pages = pages_of(full_log(store, session).events)
    sys.stdout.buffer.write(lines_of(pages.get(handle).text).encode())
