"""Options and output shared by the commands on sessions."""

from collections.abc import Iterator
from contextlib import contextmanager

from outlive.config import Workspace
from outlive.stores import open_log_store
from outlive.stores.log_protocol import LogStore


@contextmanager
def open_store(url: str | None = None) -> Iterator[LogStore]:
    """The log store of the workspace."""
    workspace = Workspace.find(store=url)
    store = open_log_store(workspace.store_url, base=workspace.root, durability=workspace.durability)
    try:
        yield store
    finally:
        store.close()
