"""DBOS Transact as a contender: `python -m bench.fleet.dbos_jobs COMMAND URL NUMBER…`.

A job is a workflow on a queue. A worker has no heartbeat, so there is no `beat`.
"""

import functools
import os
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
from dbos import DBOS, DBOSClient, DBOSConfig

from bench.fleet.worker import POLL_SECONDS, Meter, run, wait_for_end, wait_for_start

QUEUE, PARKED, JOB, VERSION = "jobs", "parked", "job", "1"


def setup(url: str) -> None:
    """Make the tables, and one workflow on a queue that nobody works on: the pattern for `fill`."""
    _launch(url, 1, POLL_SECONDS, _nothing)
    _enqueue(DBOSClient(system_database_url=url), PARKED, 0.0)
    os._exit(0)


def fill(url: str, size: int) -> None:
    """Copy the pattern within the database: one by one takes minutes."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'dbos' "
            "AND table_name = 'workflow_status' AND is_generated = 'NEVER' ORDER BY ordinal_position"
        ).fetchall()
        columns = [name for (name,) in found]
        own = {"workflow_uuid": "gen_random_uuid()::text", "queue_name": f"'{QUEUE}'"}
        ready = "SELECT count(*) FROM dbos.workflow_status WHERE queue_name = %s AND status = 'ENQUEUED'"
        row = connection.execute(ready, [QUEUE]).fetchone()
        assert row is not None
        connection.execute(
            f"""WITH made AS (
                INSERT INTO dbos.workflow_status ({", ".join(columns)})
                SELECT {", ".join(own.get(name, name) for name in columns)}
                FROM dbos.workflow_status, generate_series(1, %(missing)s) WHERE queue_name = %(parked)s
                RETURNING workflow_uuid
            )
            INSERT INTO dbos.workflow_input (workflow_uuid, inputs, retention_timestamp)
            SELECT made.workflow_uuid, i.inputs, i.retention_timestamp FROM made, dbos.workflow_input i
            WHERE i.workflow_uuid = (SELECT workflow_uuid FROM dbos.workflow_status WHERE queue_name = %(parked)s)
            """.encode(),
            {"missing": size - row[0], "parked": PARKED},
        )


def drain(url: str, concurrency: int, seconds: float) -> None:
    meter, gate = Meter(), threading.Event()
    until = float("inf")
    system = _launch(url, concurrency, POLL_SECONDS, _nothing, gate)
    claim, finish = system.start_queued_workflows, system.update_workflow_outcome

    @functools.wraps(claim)
    def timed_claim(*args: Any, **kwargs: Any) -> Any:
        if not gate.is_set() or time.time() > until:
            return [], None
        began = time.time()
        found = claim(*args, **kwargs)
        if found[0]:
            meter.claimed(began)
        return found

    @functools.wraps(finish)
    def timed_finish(*args: Any, **kwargs: Any) -> Any:
        began = time.time()
        found = finish(*args, **kwargs)
        meter.finished(began)
        return found

    system.start_queued_workflows, system.update_workflow_outcome = timed_claim, timed_finish
    time.sleep(1)
    wait_for_start()
    until = time.time() + seconds
    gate.set()
    while time.time() < until and time.time() < max(meter.last, until - seconds) + 2:
        time.sleep(0.05)
    time.sleep(0.5)  # what was claimed is finished
    meter.report()
    os._exit(0)


def wait(url: str, concurrency: int, poll: float) -> None:
    ages: list[float] = []
    gate = threading.Event()
    gate.set()
    _launch(url, concurrency, poll, lambda sent: ages.append(time.time() - sent), gate)
    time.sleep(2)
    wait_for_start()
    wait_for_end(ages)
    os._exit(0)


def send(url: str, count: int, pause: float) -> None:
    client = DBOSClient(system_database_url=url)
    for _ in range(count):
        time.sleep(pause * random.uniform(0.5, 1.5))
        _enqueue(client, QUEUE, time.time())
    os._exit(0)


def _nothing(sent: float) -> None:
    return


def _enqueue(client: DBOSClient, queue: str, sent: float) -> None:
    client.enqueue({"queue_name": queue, "workflow_name": JOB, "app_version": VERSION}, sent)


def _launch(
    url: str, concurrency: int, poll: float, work: Callable[[float], None], gate: threading.Event | None = None
) -> Any:
    """Start it. `executor_id` keeps a process from taking up what another one left behind."""
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": url,
        "sys_db_pool_size": concurrency + 2,
        "application_version": VERSION,
        "executor_id": str(os.getpid()),
        "log_level": "ERROR",
    }
    DBOS(config=config)

    @DBOS.workflow(name=JOB)
    def job(sent: float) -> None:
        work(sent)

    DBOS.launch()
    if gate is not None:
        DBOS.register_queue(QUEUE, worker_concurrency=concurrency, polling_interval_sec=poll)
    from dbos._dbos import _get_dbos_instance

    return _get_dbos_instance()._sys_db


if __name__ == "__main__":
    run({"setup": setup, "fill": fill, "drain": drain, "wait": wait, "send": send})
