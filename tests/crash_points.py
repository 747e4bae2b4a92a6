"""Dies at every step of a change in turn: `python -m tests.crash_points CHANGE TEMPLATE TARGET`.

For n = 1, 2, … the template is copied to TARGET/n and a child makes the change there, dying just before its n-th
step on the disk (opening a file to write, syncing, renaming, removing, truncating, making a folder). Then a second
child makes another change, and dies as well, at a step that differs from n to n. Ends with the first child that
comes through, and prints its n.
"""

import os
import shutil
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from outlive.stores import open_stores
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph

CHANGES: dict[str, Callable[[TaskGraph], object]] = {
    # one file each
    "create": lambda graph: graph.create("new"),
    "create with dependencies": lambda graph: graph.create("new", blocked_by=[1, 2]),
    "claim": lambda graph: graph.claim(2, owner="ann", ttl=timedelta(hours=1)),
    "complete": lambda graph: graph.complete(1),
    "reopen": lambda graph: graph.reopen(5),
    "unlink": lambda graph: graph.update(4, remove_blocked_by=[1]),
    "delete": lambda graph: graph.delete(6),
    # several files each
    "create many": lambda graph: graph.create_many(
        [TaskDraft(key="a", subject="new a", blocked_by=(1,)), TaskDraft(subject="new b", blocked_by=("a",))]
    ),
    "link from both sides": lambda graph: graph.update(2, add_blocked_by=[1], add_blocks=[6]),
    "delete by force": lambda graph: graph.delete(3, force=True),
    "archive": lambda graph: graph.archive(),
    "reopen from the archive": lambda graph: graph.reopen(7),
}


def template(graph: TaskGraph) -> None:
    """1 and 2 are open, 3 depends on 1 and 2, 4 on 1 and 3 and 5, 5 and 8 are done, 6 alone, 7 archived."""
    for index in range(1, 9):
        graph.create(f"task {index}")
    graph.update(3, add_blocked_by=[1, 2])
    graph.update(4, add_blocked_by=[1, 3, 5])
    graph.update(8, add_blocked_by=[5, 7])
    graph.complete(7)
    graph.archive()
    graph.complete(5)
    graph.complete(8)


def second(graph: TaskGraph) -> None:
    graph.create_many([TaskDraft(subject="second a", blocked_by=(2,)), TaskDraft(subject="second b")])


def die_at(step: int) -> None:
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1
        if steps == step:
            os._exit(9)

    def audit(event: str, args: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
        if writes or event in ("os.rename", "os.remove", "os.truncate", "os.mkdir"):
            count()

    sync = os.fsync

    def fsync(descriptor: Any) -> None:
        count()
        sync(descriptor)

    vars(os)["fsync"] = fsync
    sys.addaudithook(audit)


def child(folder: Path, change: Callable[[TaskGraph], object], step: int) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            graph = TaskGraph(open_stores(f"files:{folder}").tasks, actor="victim")
            graph.count()
            die_at(step)
            change(graph)
            os._exit(0)
        finally:
            os._exit(3)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    name, source, target = sys.argv[1:]
    import filelock

    assert filelock
    for step in range(1, 500):
        folder = Path(target) / str(step)
        shutil.copytree(source, folder)
        code = child(folder, CHANGES[name], step)
        assert code in (0, 9), code
        shutil.copytree(folder, Path(target) / f"{step}-twice")
        child(Path(target) / f"{step}-twice", second, 1 + step * 7 % 23)
        if code == 0:
            print(step)
            return


if __name__ == "__main__":
    main()
