"""A real PgBouncer in transaction mode before a real server: each transaction may have another server process."""

import logging
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from outlive.errors import NothingReady
from outlive.stores import open_stores
from outlive.tasks.graph import TaskGraph
from tests.engines import PostgresServer

CONFIG = """\
[databases]
{database} = host={server} dbname={database} user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 2
ignore_startup_parameters = extra_float_digits
"""


@pytest.fixture
def pooled(postgres: PostgresServer, tmp_path: Path) -> Iterator[str]:
    """The URL of a database behind the pooler."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("NO PGBOUNCER: it is not installed")
    database, folder = f"d_{uuid4().hex[:12]}", Path("/tmp") / f"outlive-pool-{uuid4().hex[:8]}"
    folder.mkdir()
    postgres.run(f"CREATE DATABASE {database}")
    config = folder / "pgbouncer.ini"
    config.write_text(CONFIG.format(database=database, server=postgres.socket_folder, folder=folder))
    owner = postgres.socket_folder.owner()  # the pooler refuses to run as root
    as_user = ["-u", owner] if os.getuid() == 0 else []
    shutil.chown(folder, owner)
    process = subprocess.Popen([program, *as_user, str(config)], stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not (folder / ".s.PGSQL.6432").exists():
            assert process.poll() is None, "the pooler does not start"
            assert time.monotonic() < deadline, "the pooler makes no socket"
            time.sleep(0.05)
        yield f"postgresql://anybody@/{database}?host={folder}&port=6432"
    finally:
        process.terminate()
        process.communicate()
        shutil.rmtree(folder)
        postgres.run(f"DROP DATABASE {database} WITH (FORCE)")


@pytest.mark.postgres
def test_tasks_are_claimed_once_and_waiting_workers_look_again(pooled: str, caplog: pytest.LogCaptureFixture) -> None:
    claimed: list[int] = []

    def work(name: str) -> None:
        with open_stores(pooled) as stores:
            graph = TaskGraph(stores.tasks)
            try:
                while True:
                    task = graph.wait_claim(owner=name, timeout=60, while_open=True)
                    assert task.lease is not None
                    claimed.append(task.id)
                    graph.complete(task.id, token=task.lease.token)
            except NothingReady:
                pass

    with open_stores(pooled) as stores, caplog.at_level(logging.WARNING, "outlive.stores"):
        graph = TaskGraph(stores.tasks)
        first = graph.create("first")
        tasks = [graph.create(f"task {number}", blocked_by=[first.id]) for number in range(12)]
        workers = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert sorted(claimed) == [first.id, *(task.id for task in tasks)]
    told = [record for record in caplog.records if "pooler" in record.getMessage()]
    assert 1 <= len(told) <= 4  # once for each store that waited


@pytest.mark.postgres
def test_the_time_limit_of_transactions_holds_behind_a_pooler(pooled: str) -> None:
    with open_stores(pooled) as stores:
        found = stores.tasks.database.read(  # type: ignore[attr-defined]
            lambda c: c.first("SELECT current_setting('idle_in_transaction_session_timeout')")
        )
    assert found == "30s"
