"""Changes a store without end, to be killed: `python -m tests.crash_worker URL`.

Imports once, then forks a child for each seed that it reads from its input. The child says what it is about to
do and what came of it, one line each, written at once; it never ends by itself.
"""

import json
import os
import random
import sys
import tempfile
from datetime import timedelta
from typing import Any

from outlive.errors import OutliveError
from outlive.stores import open_stores
from outlive.stores.tasks.protocol import TaskQuery
from outlive.stores.tasks.records import Task
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph

HOUR = timedelta(hours=1)


def say(kind: str, content: object) -> None:
    os.write(1, f"{kind} {json.dumps(content)}\n".encode())


def choose(tasks: list[Task], chance: random.Random, tag: str) -> dict[str, Any]:
    """An operation as data. Most are possible, some are refused."""
    ids = [task.id for task in tasks] or [1]
    some = chance.sample(ids, min(len(ids), chance.randint(0, 3)))
    one = chance.choice(ids)
    kinds = ["create", "batch", "claim", "complete", "complete", "cancel", "reopen", "link", "delete", "archive"]
    weights = [4, 5, 3, 4, 4, 1, 3, 4, 2 if len(ids) < 40 else 8, 1]
    match chance.choices(kinds, weights)[0]:
        case "create":
            return {"op": "create", "subjects": [tag], "before": some, "after": []}
        case "batch":
            subjects = [f"{tag}.{index}" for index in range(chance.randint(2, 5))]
            return {"op": "create", "subjects": subjects, "before": some, "after": []}
        case "claim":
            return {"op": "claim", "task": chance.choice([None, one])}
        case "link":
            drop = chance.sample(ids, min(len(ids), 2))
            return {"op": "link", "task": one, "add": [n for n in some if n < one], "remove": drop, "subject": tag}
        case "complete":
            return {"op": "complete", "task": one, "force": chance.random() < 0.3}
        case kind:
            return {"op": kind, "task": one}


def perform(graph: TaskGraph, op: dict[str, Any]) -> object:
    match op["op"]:
        case "create":
            drafts = [
                TaskDraft(
                    key=subject,
                    subject=subject,
                    blocked_by=tuple(op["before"]) if index == 0 else (op["subjects"][index - 1],),
                )
                for index, subject in enumerate(op["subjects"])
            ]
            return [task.id for task in graph.create_many(drafts)]
        case "claim":
            return graph.claim(op["task"], owner="victim", ttl=HOUR).id
        case "complete":
            return sorted(task.id for task in graph.complete(op["task"], force=op["force"]).unblocked)
        case "cancel":
            return sorted(task.id for task in graph.cancel(op["task"]).unblocked)
        case "reopen":
            graph.reopen(op["task"])
        case "link":
            graph.update(op["task"], subject=op["subject"], add_blocked_by=op["add"], remove_blocked_by=op["remove"])
        case "delete":
            graph.delete(op["task"], force=True)
        case "archive":
            return [task.id for task in graph.archive()]
    return None


def child(url: str, seed: str) -> None:
    chance = random.Random(seed)
    store = open_stores(url, durability="process").tasks
    graph = TaskGraph(store, actor="victim")
    graph.count()
    database = getattr(store, "database", None)
    backend = 0
    if url.startswith("postgresql"):
        assert database is not None
        backend = database.read(lambda connection: connection.rows("SELECT pg_backend_pid()"))[0][0]
    say("start", backend)
    for step in range(1_000_000):
        op = choose(graph.find(TaskQuery(archived=True, sort="id")), chance, f"{seed}.{step}")
        say("begin", op)
        try:
            result = perform(graph, op)
        except OutliveError as error:
            say("refused", repr(error))
        else:
            say("done", result)


def load_everything() -> None:
    """What is imported on first use would otherwise take most of the short life of a child."""
    import psycopg

    assert psycopg
    with tempfile.TemporaryDirectory() as folder:
        for url in (f"files:{folder}/tasks", f"sqlite:///{folder}/tasks.db"):
            store = open_stores(url).tasks
            TaskGraph(store).create("warm up")
            store.close()


def main() -> None:
    url = sys.argv[1]
    load_everything()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                child(url, line.strip())
            finally:
                os._exit(3)
        say("pid", pid)
        _, status = os.waitpid(pid, 0)
        say("dead", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
