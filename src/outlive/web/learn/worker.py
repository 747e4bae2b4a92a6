"""A worker process of the first lesson: claims a task, keeps its lease alive, and completes it when told to.

It is started in the scratch folder. When the server goes away its standard input ends, and so does the worker.
"""

import json
import select
import sys
from datetime import timedelta

from outlive.errors import OutliveError
from outlive.stores import open_stores
from outlive.tasks.graph import TaskGraph

LEASE = timedelta(seconds=8)
HEARTBEAT_SECONDS = 2.0  # four in a lease, so that a slow one does not lose it
FINISH = b"finish\n"


def main(name: str) -> int:
    graph = TaskGraph(open_stores("files:.tasks", durability="process").tasks, actor=name)
    try:
        task = graph.claim(owner=name, ttl=LEASE)
    except OutliveError as error:
        print(json.dumps({"refused": error.message, "hint": error.hint}), flush=True)
        return 1
    assert task.lease is not None  # noqa: S101 - it was just claimed
    token = task.lease.token
    print(json.dumps({"task": task.id, "token": token}), flush=True)
    try:
        while not select.select([sys.stdin], [], [], HEARTBEAT_SECONDS)[0]:
            graph.heartbeat(task.id, owner=name, token=token, ttl=LEASE)
        if sys.stdin.buffer.readline() == FINISH:
            graph.complete(task.id, owner=name, token=token, result=f"done by {name}")
    except OutliveError:
        return 1  # the task was completed, reopened or given to another meanwhile
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
