"""outlive as a contender: `python -m bench.fleet.ours COMMAND URL NUMBER…`."""

import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg

from bench.fleet.worker import Meter, report, run, wait_for_end, wait_for_start
from outlive import Task, TaskGraph, open_stores
from outlive.errors import NothingReady
from outlive.stores.tasks.protocol import TaskQuery

_COLUMNS = """SELECT string_agg(column_name, ', ') FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = %s AND column_name NOT IN ('id', 'task', 'seq')"""
PENDING = TaskQuery(statuses=frozenset({"pending"}))


def opened(url: str) -> TaskGraph:
    graph = TaskGraph(open_stores(url).tasks, actor="bench")
    graph.count()
    return graph


def setup(url: str) -> None:
    graph = opened(url)
    graph.delete(graph.create("makes the tables").id)


def fill(url: str, size: int) -> None:
    """Copy a task and its entry in the audit trail within the database: 100,000 one by one take minutes."""
    graph = opened(url)
    missing = size - graph.count(PENDING)
    if missing <= 0:
        return
    pattern = graph.create("Job").id
    tasks, changes = "outlive_tasks", "outlive_task_changes"
    with psycopg.connect(url, autocommit=True) as connection:
        first = [(connection.execute(_COLUMNS, [table]).fetchone() or ("",))[0] for table in (tasks, changes)]
        connection.execute(
            f"""WITH ids AS MATERIALIZED (
                SELECT nextval('outlive_task_ids') AS new FROM generate_series(2, %(missing)s)
            ), made AS (
                INSERT INTO {tasks} (id, {first[0]}) SELECT new, {first[0]} FROM ids, {tasks} WHERE id = %(pattern)s
            )
            INSERT INTO {changes} (id, task, {first[1]})
            SELECT gen_random_uuid()::text, new, {first[1]} FROM ids, {changes} WHERE task = %(pattern)s""".encode(),
            {"missing": missing, "pattern": pattern},
        )


def drain(url: str, threads: int, seconds: float) -> None:
    """Claim and complete until nothing is ready or the time is over."""
    graph = opened(url)
    meters = [Meter() for _ in range(threads)]

    def work(index: int) -> None:
        meter = meters[index]
        while (began := time.time()) < until:
            try:
                task = graph.claim(owner=f"{os.getpid()}.{index}")
            except NothingReady:
                return
            meter.claimed(began)
            assert task.lease is not None
            began = time.time()
            graph.complete(task.id, token=task.lease.token)
            meter.finished(began)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: graph.count(), range(threads)))  # every thread has its connection
        wait_for_start()
        until = time.time() + seconds
        list(pool.map(work, range(threads)))
    total = Meter()
    for meter in meters:
        total.claims += meter.claims
        total.finishes += meter.finishes
        total.last = max(total.last, meter.last)
    total.report()


def wait(url: str, threads: int) -> None:
    """Wait for tasks that carry the moment they were made, and report how old they are once claimed."""
    graph = opened(url)
    ages: list[float] = []

    def work(index: int) -> None:
        while True:
            task = graph.wait_claim(owner=f"{os.getpid()}.{index}")
            ages.append(time.time() - task.metadata["sent"])
            assert task.lease is not None
            graph.complete(task.id, token=task.lease.token)

    for index in range(threads):
        threading.Thread(target=work, args=(index,), daemon=True).start()
    time.sleep(1)  # all of them wait
    wait_for_start()
    wait_for_end(ages)
    os._exit(0)


def send(url: str, count: int, pause: float) -> None:
    graph = opened(url)
    for _ in range(count):
        time.sleep(pause * random.uniform(0.5, 1.5))
        graph.create("Now", metadata={"sent": time.time()})


def beat(url: str, workers: int, threads: int) -> None:
    """Extend the leases of as many workers, each once."""
    graph = opened(url)
    held = [graph.claim(owner=f"worker {index}") for index in range(workers)]
    times: list[float] = []

    def one(task: Task) -> None:
        assert task.lease is not None
        began = time.time()
        graph.heartbeat(task.id, token=task.lease.token)
        times.append(time.time() - began)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, held))  # connections, statistics, caches
        times.clear()
        wait_for_start()
        began = time.time()
        list(pool.map(one, held))
    report(seconds=time.time() - began, times=times, processor=time.process_time() - Meter.started)


if __name__ == "__main__":
    run({"setup": setup, "fill": fill, "drain": drain, "wait": wait, "send": send, "beat": beat})
