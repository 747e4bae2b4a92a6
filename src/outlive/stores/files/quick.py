"""Ready tasks as JSON with as little loaded as possible. See `outlive.cli.quick`."""

from pathlib import Path

import msgspec

from outlive.stores.files.tasks import FileTaskStore
from outlive.stores.locations import path_of
from outlive.stores.protocol import ANY
from outlive.stores.records import task_to_json


def ready_json(url: str, base: Path, limit: int | None) -> bytes | None:
    """None where a lease has run out or a file is damaged: that takes more than a look."""
    store = FileTaskStore(path_of(url, base))
    tasks, expired = store.read(lambda tx: (tx.ready(ANY, limit), tx.expired()))
    if expired or store.left_out():
        return None
    return msgspec.json.encode([task_to_json(task) for task in tasks])
