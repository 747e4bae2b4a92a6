"""PostgreSQL whose server dies and is replaced by its standby: what was acknowledged is there, and once."""

import threading
import time
from collections.abc import Iterator

import pytest

from outlive.stores import Stores, open_stores
from outlive.tasks.graph import TaskGraph
from outlive.testing.fleet_store import one_more
from outlive.testing.log_store import note, started
from tests.engines import PostgresServer

WRITERS = 4
BEFORE, AFTER = 20, 10
"""Changes of each writer before the server dies, and after the other one has taken over."""


@pytest.fixture
def pair() -> Iterator[tuple[PostgresServer, PostgresServer]]:
    """A server, and another one that has all that the first one acknowledges."""
    try:
        first = PostgresServer()
    except Exception as error:  # noqa: BLE001 - whatever the reason, it is said
        pytest.skip(f"NO POSTGRESQL: no server can be started here ({error!r})")
    try:
        second = PostgresServer(copy_of=first)
        try:
            first.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
            first.run("SELECT pg_reload_conf()")
            while not first.run("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"):
                time.sleep(0.02)
            yield first, second
        finally:
            second.stop()
    finally:
        first.stop()


class Writer(threading.Thread):
    """Makes tasks, counts them in a document of the fleet, and says so in a log, one after the other."""

    def __init__(self, url: str, name: str) -> None:
        super().__init__(name=name)
        self.stores: Stores = open_stores(url)
        self.done = 0
        self.ends_at = BEFORE
        self.error: BaseException | None = None

    def run(self) -> None:
        graph = TaskGraph(self.stores.tasks, actor=self.name)
        try:
            with self.stores.logs.create(self.name) as log:
                log.append([started(self.name)])
                while self.done < self.ends_at:
                    graph.create(f"{self.name} {self.done}")
                    self.stores.fleet.change("count", "all", one_more)
                    log.append([note(self.done + 2)])
                    self.done += 1
        except BaseException as error:  # noqa: BLE001 - it is raised in the test
            self.error = error


@pytest.mark.postgres
def test_a_standby_that_takes_over_has_all_that_was_acknowledged(pair: tuple[PostgresServer, PostgresServer]) -> None:
    first, second = pair
    url = f"postgresql://postgres@/postgres?host={first.socket_folder},{second.socket_folder}"
    writers = [Writer(url, f"writer-{number}") for number in range(WRITERS)]
    for writer in writers:
        writer.ends_at = 10**9
        writer.start()
    while min(writer.done for writer in writers) < BEFORE:
        time.sleep(0.01)
    first.kill()
    time.sleep(1.0)  # they meet a standby that takes no changes
    second.run("SELECT pg_promote()")
    for writer in writers:
        writer.ends_at = writer.done + AFTER
    for writer in writers:
        writer.join(300)
        if writer.error is not None:
            raise writer.error
        writer.stores.close()
    with open_stores(second.uri) as stores:
        made = [task.subject for task in TaskGraph(stores.tasks).find()]
        assert sorted(made) == sorted(f"{each.name} {number}" for each in writers for number in range(each.done))
        assert stores.fleet.get("count", "all") == b"%d" % len(made)
        for each in writers:
            events = stores.logs.read(each.name).events
            assert [event.id for event in events] == list(range(1, each.done + 2))
