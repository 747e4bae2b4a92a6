"""Sessions that are taken over: real processes that are stopped, killed and woken again, on all three engines."""

import itertools
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from outlive.agent import Session
from outlive.errors import OutliveError
from outlive.stores import machine, open_stores
from outlive.stores.logs import file_lease, leases
from outlive.stores.logs.protocol import LogStore, SessionBusy
from outlive.testing.log_store import create, note, started
from tests.engines import ROOT, Engine, worker_environment


@pytest.fixture
def logs(engine: Engine) -> Iterator[LogStore]:
    store = open_stores(engine.url, durability=engine.durability).logs
    yield store
    store.close()


class Worker:
    """A process of `tests.lease_worker`, and what it said."""

    def __init__(self, url: str, how: str = "open") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.lease_worker", url, "s", how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env=worker_environment(),
        )
        self.epoch = int(self.line().removeprefix("open "))
        self.said: list[str] = []
        self.asked = how == "asked"
        self.go_on()
        self.said.append(self.line())

    def go_on(self) -> None:
        assert self.process.stdin is not None
        if self.asked:
            self.process.stdin.write("\n")
            self.process.stdin.flush()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def send(self, signal: signal.Signals) -> None:
        self.process.send_signal(signal)

    def rest(self) -> None:
        """Read what it says until it ends."""
        assert self.process.stdout is not None
        text = self.process.stdout.read()
        self.process.communicate(timeout=60)  # closes the pipes
        whole = text if text.endswith("\n") else text.rpartition("\n")[0]
        self.said += whole.splitlines()

    def acknowledged(self) -> list[int]:
        return [int(line) for line in self.said if line.isdigit()]


def test_a_stopped_writer_that_wakes_up_changes_nothing(engine: Engine, logs: LogStore) -> None:
    create(logs, "s", started("s"))
    for how in ("asked", "open") if engine.name == "files" else ("asked",):
        worker = Worker(engine.url, how)
        worker.send(signal.SIGSTOP)
        worker.go_on()
        with logs.writer("s", take_over=True) as writer:
            before = logs.read("s")
            assert writer.epoch == worker.epoch + 1
            worker.send(signal.SIGCONT)
            worker.rest()
            assert worker.said[-1].startswith("refused session 's' was taken over")
            assert logs.read("s") == before
            writer.append([note(before.events[-1].id + 1, "mine")])
        log = logs.read("s")
        assert log.damage == ()
        held = {event.id for event in log.events if f"epoch {worker.epoch} " in getattr(event, "text", "")}
        assert held >= set(worker.acknowledged())


def test_nothing_acknowledged_is_lost_when_a_busy_writer_is_taken_over(engine: Engine, logs: LogStore) -> None:
    """Each takes the session from the one before, which is in the midst of appending; the last one is killed."""
    create(logs, "s", started("s"))
    random.seed(engine.name)
    workers = [Worker(engine.url)]
    for _ in range(4):
        time.sleep(random.uniform(0, 0.05))
        workers.append(Worker(engine.url, "take_over"))
    workers[-1].send(signal.SIGKILL)
    for worker in workers:
        worker.rest()
    assert [worker.said[-1][:7] for worker in workers[:-1]] == ["refused"] * 4
    epochs = [worker.epoch for worker in workers]
    assert epochs == sorted(set(epochs))
    written = {event.id: getattr(event, "text", "") for event in logs.read("s").events}
    assert list(written) == list(range(1, len(written) + 1))
    for worker in workers:
        assert all(written[number].startswith(f"epoch {worker.epoch} ") for number in worker.acknowledged())
    lease = logs.lease("s")
    assert lease is not None
    assert (lease.epoch, lease.alive) == (epochs[-1], False)
    with logs.writer("s") as writer:
        assert writer.epoch == epochs[-1] + 1


def test_a_killed_takeover_loses_nothing(engine: Engine, logs: LogStore) -> None:
    create(logs, "s", started("s"))
    random.seed(engine.name)
    for _ in range(4):
        old = Worker(engine.url, "asked")
        old.send(signal.SIGSTOP)
        taker = subprocess.Popen(
            [sys.executable, "-m", "tests.lease_worker", engine.url, "s", "take_over"],
            stdout=subprocess.DEVNULL,
            cwd=ROOT,
            env=worker_environment(),
        )
        time.sleep(random.uniform(0.1, 0.6))
        taker.kill()
        taker.wait()
        old.send(signal.SIGKILL)
        old.rest()
        with logs.writer("s"):
            log = logs.read("s")
        assert {event.id for event in log.events} >= set(old.acknowledged())


def test_a_session_can_be_resumed_from_under_another_process(engine: Engine, logs: LogStore) -> None:
    other = open_stores(engine.url, durability=engine.durability).logs
    first = Session.start(logs, id="s", system="be brief")
    with pytest.raises(SessionBusy):
        Session.resume(other, "s")
    with Session.resume(other, "s", take_over=True) as second:
        second.renew_lease()
        with second.batched():
            second.renew_lease()
        for act in (first.renew_lease, lambda: first.user_said("too late")):
            with pytest.raises(SessionBusy, match="taken over"):
                act()
        second.user_said("go on")
    first.close()
    other.close()


# -- files


class Died(BaseException):
    """Stands for the end of the process."""


@contextmanager
def dying(monkeypatch: pytest.MonkeyPatch, steps: int) -> Iterator[None]:
    """Die before the system call on files with this number, and at no later one."""
    real = {name: getattr(os, name) for name in ("link", "pread", "write", "fsync", "rename")}
    left = itertools.count(steps, -1)

    def step(what: str, *args: Any, **options: Any) -> Any:
        if next(left) == 0:
            raise Died
        return real[what](*args, **options)

    with monkeypatch.context() as patch:
        for what in real:
            patch.setattr(os, what, partial(step, what))
        yield


def test_every_step_of_a_takeover_may_be_the_last(files: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the old writer was not fenced out yet, it goes on; what it acknowledged stays."""
    for steps in itertools.count():
        finished = False
        store, name = open_stores(files.url, durability="process").logs, f"s{steps}"
        old = store.create(name)
        old.append([started(name), note(2)])
        with suppress(Died), dying(monkeypatch, steps):
            store.writer(name, take_over=True).close()
            finished = True
        written: list[int] = []
        with suppress(SessionBusy):
            for number in (3, 4):
                old.append([note(number)])
                written.append(number)
        old.close()
        with store.writer(name):
            log = store.read(name)
        assert [event.id for event in log.events] == [1, 2, *written]
        assert log.damage == ()
        if finished:
            assert written == []
            assert steps > 5
            break


def test_a_log_without_a_lease_is_opened(files: Engine, tmp_path: Path) -> None:
    logs = open_stores(files.url).logs
    create(logs, "s", started("s"))
    lease = file_lease.lease_path(tmp_path / ".transcripts" / "s.jsonl")
    for damage in (lambda: lease.unlink(), lambda: lease.write_bytes(b"\x00junk"), lambda: lease.write_bytes(b"[]")):
        damage()
        assert logs.lease("s") is None
        with logs.writer("s") as writer:
            assert writer.epoch == 1
    assert [info.id for info in logs.sessions()] == ["s"]
    assert list(logs.state()) == ["s"]


def test_a_lease_that_is_a_link_is_not_followed(files: Engine, tmp_path: Path) -> None:
    logs = open_stores(files.url).logs
    create(logs, "s", started("s"))
    outside = tmp_path / "outside"
    outside.write_text("precious")
    path = tmp_path / ".transcripts" / "s.jsonl"
    for link in (file_lease.lease_path(path), Path(f"{file_lease.lease_path(path)}.part"), file_lease.old_path(path)):
        link.unlink(missing_ok=True)
        link.symlink_to(outside)
        with suppress(OutliveError):  # some are refused, some are replaced
            logs.writer("s").close()
        assert outside.read_text() == "precious"
        link.unlink(missing_ok=True)


# -- machines


def test_a_machine_is_more_than_its_host_name(monkeypatch: pytest.MonkeyPatch) -> None:
    here = leases.new_writer()
    now = 1_800_000_000.0
    assert leases.is_alive(here, now - 10_000, now)
    gone = f"{machine.machine_name()} 4194399 token"
    assert not leases.is_alive(gone, now, now)
    host, *_ = machine.machine_name().split("/")
    for elsewhere in (f"{host}/other-boot/pid:[1] 4194399 token", f"{host}/x 4194399 token"):
        assert leases.is_alive(elsewhere, now - 10, now)
        assert not leases.is_alive(elsewhere, now - 10_000, now)
    monkeypatch.setattr(machine, "_boot_and_names", lambda: ("boot-2", "pid:[2]"))
    assert leases.is_alive(gone, now, now), "after another boot its number says nothing"


def test_a_name_given_to_the_machine_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_800_000_000.0
    before = f"{machine.machine_name()} 4194399 token"
    monkeypatch.setenv("OUTLIVE_MACHINE", "pod 7")
    assert leases.new_writer().startswith(f"pod/7 {os.getpid()} ")
    assert not leases.is_alive("pod/7 4194399 token", now, now)
    assert leases.is_alive(before, now, now)
    assert leases.is_alive(f"{socket.gethostname()} 4194399 token", now, now)
