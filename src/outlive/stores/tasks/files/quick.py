"""Ready tasks as JSON with as little loaded as possible. See `outlive.cli.quick`."""

from pathlib import Path

from outlive.stores.locations import path_of
from outlive.stores.tasks.files import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from outlive.stores.tasks.files.store import FileTaskStore


def ready_json(url: str, base: Path, limit: int | None) -> bytes | None:
    """None where a lease has run out or a file is damaged: that takes more than a look."""
    path = path_of(url, base)
    if limit is None and (remembered := answer.recall(str(path))) is not None:
        return remembered
    import msgspec

    from outlive.stores.tasks.files.store import FileTaskStore
    from outlive.stores.tasks.protocol import ANY
    from outlive.stores.tasks.records import task_to_json

    store = FileTaskStore(path)
    tasks, expired = store.read(lambda tx: (tx.ready(ANY, limit), tx.expired()))
    if expired or store.left_out():
        return None
    body = msgspec.json.encode([task_to_json(task) for task in tasks])
    if limit is None and len(store.folder.nodes) >= answer.WORTHWHILE:
        _remember(store, body)
    return body


def _remember(store: "FileTaskStore", body: bytes) -> None:
    """Under the prints that the scan read the files under, unless one is too fresh to be trusted."""
    folder = store.folder
    nodes = list(folder.nodes.values())
    elsewhere = {number for node in nodes for number in node.depends_on if number not in folder.nodes}
    others = {f"archive/task_{number}.json": folder.node(number) for number in sorted(elsewhere)}
    if folder.overlay or not all(node.inode for node in (*nodes, *filter(None, others.values()))):
        return
    looks = [f"task_{node.id}.json {node.inode} {node.size} {node.changed}" for node in nodes]
    looks += [f"{name} {n.inode} {n.size} {n.changed}" if n else f"{name} 0 0 0" for name, n in others.items()]
    leases = [node.lease_until for node in nodes if node.lease_until is not None]
    answer.remember(str(store.path), body, looks, others, min(leases, default=float("inf")))
