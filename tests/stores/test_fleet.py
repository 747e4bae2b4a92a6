"""The documents of a fleet on all three engines: the contract, many processes, kill -9, watchers, and the file."""

import logging
import random
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from outlive.errors import OutliveError
from outlive.stores import open_stores
from outlive.stores.fleet.protocol import FleetStore
from outlive.testing import Clock, FleetStoreConformance
from outlive.testing.fleet_store import one_more, put
from tests.engines import ROOT, Engine, PostgresServer, worker_environment
from tests.processes import at_once
from tests.stores.test_faults import Proxy

PROCESSES = 6
WORKER = "tests.fleet_worker"


class TestFleetStore(FleetStoreConformance):
    @pytest.fixture
    def open_fleet(self, engine: Engine) -> Callable[[], FleetStore]:
        return lambda: open_stores(engine.url, durability=engine.durability).fleet


@pytest.fixture
def fleet(engine: Engine) -> Iterator[FleetStore]:
    store = open_stores(engine.url, durability=engine.durability).fleet
    yield store
    store.close()


def test_the_suite_asks_for_a_way_to_open_a_store(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "from outlive.testing import FleetStoreConformance\nclass TestMine(FleetStoreConformance):\n    pass\n"
    )
    result = pytester.runpytest_subprocess("-p", "no:xdist", "-k", "new_store")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*override the fixture `open_fleet`*"])


def test_processes_that_count_together_lose_nothing(engine: Engine, fleet: FleetStore) -> None:
    at_once(engine.url, [("count", "50")] * PROCESSES, module=WORKER)
    assert fleet.get("count", "all") == b"%d" % (50 * PROCESSES)


def test_of_processes_that_create_at_once_one_is_the_first(engine: Engine, fleet: FleetStore) -> None:
    names = [f"n{number}" for number in range(30)]
    made = at_once(engine.url, [("create", ",".join(names))] * PROCESSES, module=WORKER)
    assert sorted(name for each in made for name in each) == sorted(names)
    assert fleet.all("name") == dict.fromkeys(sorted(names), b"taken")


def test_a_document_that_comes_and_goes_is_there_every_other_time(engine: Engine, fleet: FleetStore) -> None:
    made = at_once(engine.url, [("come_and_go", "20")] * PROCESSES, module=WORKER)
    assert sum(made) == 20 * PROCESSES / 2
    assert fleet.all("flag") == {}


def test_nothing_acknowledged_is_lost_by_a_kill(engine: Engine, fleet: FleetStore) -> None:
    random.seed(engine.name)
    last = 0
    for _ in range(4):
        last = max(last, killed(engine.url, "all", random.uniform(0.0, 0.2)))
        found = int(fleet.get("count", "all") or b"0")
        assert last <= found <= last + 1  # it may have been killed between the commit and its word
        last = found
    assert fleet.change("count", "all", one_more) == b"%d" % (last + 1)


def killed(url: str, name: str, after: float) -> int:
    """Let a worker count until it is killed; the last number that it acknowledged."""
    worker = subprocess.Popen(
        [sys.executable, "-m", WORKER, "acknowledge", url, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=worker_environment(),
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()
    assert worker.stdout.readline() == "ready\n"
    first = worker.stdout.readline()
    assert first, worker.communicate()[1]
    time.sleep(after)
    worker.kill()
    rest = worker.stdout.read()  # communicate() would lose what readline has buffered
    worker.communicate(timeout=300)
    return int((first + rest).rpartition("\n")[0].split("\n")[-1])


def test_an_announced_change_wakes_those_who_watch_the_tasks(engine: Engine, fleet: FleetStore) -> None:
    tasks = engine.open()
    put(fleet, "worker", "a", b"1")
    with tasks.watch() as watch:
        fleet.change("worker", "a", one_more, announce=True)
        assert watch.wait(30)


def test_a_change_that_raises_wakes_nobody(engine: Engine, fleet: FleetStore) -> None:
    tasks = engine.open()
    put(fleet, "worker", "a", b"not a number")
    with tasks.watch() as watch:
        with pytest.raises(ValueError, match="invalid literal"):
            fleet.change("worker", "a", one_more, announce=True)
        assert not watch.wait(0.2)


def test_the_time_of_a_change_can_be_set_for_tests(engine: Engine, clock: Clock) -> None:
    with open_stores(engine.url, durability=engine.durability, clock=clock) as stores:
        assert stores.fleet.now() == clock()


# -- beside tasks in files


def test_reading_makes_no_folder(files: Engine) -> None:
    with open_stores(files.url) as stores:
        assert stores.fleet.all("worker") == {}
        assert stores.fleet.get("worker", "a") is None
    assert not files.path.exists()


def test_the_file_is_private_and_ignored_by_git(files: Engine) -> None:
    with open_stores(files.url) as stores:
        put(stores.fleet, "worker", "a", b"1")
        assert ".local/\n" in (files.path / ".gitignore").read_text()
        for path in (files.path / ".local").glob("fleet.db*"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stores.tasks.check() == []


@pytest.mark.parametrize("name", ["", ".local", ".local/fleet.db"])
def test_links_are_refused(files: Engine, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = files.path / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere)
    with pytest.raises(OutliveError, match="symbolic link"), open_stores(files.url) as stores:
        put(stores.fleet, "worker", "a", b"1")
    assert list(elsewhere.iterdir()) == []


# -- PostgreSQL


@pytest.mark.postgres
@pytest.mark.parametrize("how", ["before", "after", "late"])
def test_a_commit_in_doubt_counts_once(
    how: str, postgres: PostgresServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where another process changes the document at once, so that its form says nothing."""
    with postgres.schema() as url, Proxy(postgres, tmp_path) as proxy:
        through, direct = open_stores(proxy.url(url)).fleet, open_stores(url).fleet
        put(through, "count", "all", b"0")
        proxy.armed = how
        with caplog.at_level(logging.WARNING, "outlive.stores"):
            through.change("count", "all", one_more)
        assert proxy.armed is None, "the line was not cut; nothing was tried"
        assert direct.get("count", "all") == b"1"
        through.close()
        direct.close()


def test_two_threads_that_create_wait_for_each_other(fleet: FleetStore) -> None:
    """The second begins while the first is in the midst of its change."""
    inside = threading.Event()
    seen: list[bytes | None] = []

    def slowly(old: bytes | None, _now: datetime) -> bytes:
        seen.append(old)
        inside.set()
        time.sleep(0.2)
        return b"first"

    def second(old: bytes | None, _now: datetime) -> bytes:
        seen.append(old)
        return b"second"

    first = threading.Thread(target=lambda: fleet.change("name", "n", slowly))
    first.start()
    assert inside.wait(30)
    assert fleet.change("name", "n", second) == b"second"
    first.join()
    assert seen == [None, b"first"]
    assert fleet.get("name", "n") == b"second"
