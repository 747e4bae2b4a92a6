"""kill -9 at any instant leaves the memories as they were or as they were to be; writers at once lose nothing."""

import errno
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from outlive.errors import StoreUnavailable
from outlive.memory.consolidate import consolidate
from outlive.memory.doctor import problems
from outlive.memory.memories import Memories
from tests import memory_worker
from tests.engines import ROOT, Engine, worker_environment

ROUNDS = 4

State = dict[str, tuple[object, ...]]


def state(memories: Memories) -> State:
    """All that matters about what is stored."""
    everything = memories.stores["project"].read(lambda tx: tx.all(archived=True))
    return {
        m.slug: (m.name, m.description, m.body, m.keys, m.supersedes, m.derived_from, m.archived is not None)
        for m in everything
    }


@pytest.mark.parametrize("change", memory_worker.CHANGES)
def test_a_change_that_dies_at_any_step_happened_or_did_not(tmp_path: Path, change: str) -> None:
    source, target = tmp_path / "template", tmp_path / "steps"
    memory_worker.template(memory_worker.open_at(source))
    run = subprocess.run(
        [sys.executable, "-m", "tests.memory_worker", "points", change, str(source), str(target)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=worker_environment(),
    )
    assert run.returncode == 0, run.stderr
    last = int(run.stdout)
    assert last > 5, "it never died"
    before = state(memory_worker.open_at(source))
    after = state(memory_worker.open_at(target / str(last)))
    assert before != after
    steps_before = len(memory_worker.open_at(source).log())
    seen = set()
    for step in range(1, last):
        memories = memory_worker.open_at(target / str(step))
        found = state(memories)
        assert found in (before, after), f"half a change after step {step}"
        assert len(memories.log()) == steps_before + (found == after)
        seen.add(found == after)
        assert [problem for problem in problems(memories) if not problem.harmless] == []
        memories.add("next", "the next writer goes on as if nothing had been")
        assert state(memories) == found | {"next": state(memories)["next"]}
        assert len(memories.log()) == steps_before + (found == after) + 1
        index = (target / str(step) / ".memory" / "MEMORY.md").read_text()
        assert index.count("\n") == len(memories.all())
    assert seen == {False, True}


def killed(job: str, engine: Engine, home: Path, name: str, after: float) -> list[str]:
    """Let a worker work for a while after its first word, kill it, and return what it had acknowledged."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.memory_worker", job, engine.url, str(home), name],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=worker_environment(),
    ) as worker:
        assert worker.stdout is not None
        first = worker.stdout.readline()
        assert first, "it died by itself"
        time.sleep(after)
        worker.send_signal(signal.SIGKILL)
        return (first + worker.stdout.read()).split("\n")[:-1]


def test_nothing_acknowledged_is_lost_by_a_kill(engine: Engine, tmp_path: Path) -> None:
    random.seed(engine.name)
    acknowledged: set[str] = set()
    with closing(Memories.open(engine.url, home=tmp_path / "home", durability=engine.durability)) as memories:
        for number in range(ROUNDS):
            acknowledged.update(killed("add", engine, tmp_path / "home", f"n{number}", random.uniform(0, 0.3)))
            found = {memory.slug for memory in memories.all()}
            assert acknowledged <= found
            assert len(found) - len(acknowledged) <= number + 1
            assert [problem for problem in problems(memories) if not problem.harmless] == []
            steps = memories.log()
            assert [entry.step.id for entry in steps] == list(range(1, len(found) + 1))


def test_a_kill_during_consolidation_leaves_the_old_or_the_new(engine: Engine, tmp_path: Path) -> None:
    random.seed(engine.name)
    with closing(Memories.open(engine.url, home=tmp_path / "home", durability=engine.durability)) as memories:
        memory_worker.template(memories)
        old = state(memories)
        assert consolidate(memories).notes
        new = state(memories)
        memories.undo()
        assert state(memories) == old != new
        for _ in range(ROUNDS):
            killed("consolidate", engine, tmp_path / "home", "x", random.uniform(0, 0.3))
            assert state(memories) in (old, new)
            if state(memories) == new:
                memories.undo()
        assert consolidate(memories).problem == ""  # a dead process holds no lock
        assert state(memories) == new


def test_processes_that_add_at_once_lose_nothing(engine: Engine, tmp_path: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.memory_worker", "some", engine.url, str(tmp_path / "home"), f"w{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=worker_environment(),
        )
        for number in range(4)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    made: list[str] = []
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    for worker in workers:
        out, err = worker.communicate(timeout=300)
        assert worker.returncode == 0, err
        made += out.split()
    with closing(Memories.open(engine.url, home=tmp_path / "home")) as memories:
        found = memories.all()
        assert len(made) == 40
        assert sorted(made) == [memory.slug for memory in found]
        assert len(memories.log()) == 40
        assert memories.index().count("\n") == 40
        assert memories.healed == []  # the last writer left a right index
        if engine.name == "files":
            assert (engine.path.parent / ".memory" / "MEMORY.md").read_text().count("\n") == 40


def test_a_reader_sees_whole_changes_while_others_write(files: Engine, tmp_path: Path) -> None:
    memories = Memories.open(files.url, home=tmp_path / "home", durability="process")
    memory_worker.template(memories)
    old = state(memories)
    consolidate(memories)
    new = state(memories)
    memories.undo()
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.memory_worker", "consolidate", files.url, str(tmp_path / "home"), "x"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=worker_environment(),
    )
    try:
        assert worker.stdout is not None
        worker.stdout.readline()
        reads, unseen = 0, [old, new]
        while unseen or reads < 150:
            now = state(memories)
            assert now in (old, new)
            unseen = [one for one in unseen if one != now]
            reads += 1
    finally:
        worker.kill()
        worker.communicate()


@pytest.mark.parametrize("step", ["stage", "commit"])
def test_a_full_disk_changes_nothing_and_is_said(
    files: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    memories = Memories.open(files.url, home=tmp_path / "home")
    memory_worker.template(memories)
    before = state(memories)

    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(f"outlive.stores.disk.Disk.{step}", full)
        with pytest.raises(StoreUnavailable, match=r"disk is full.*Nothing was changed"):
            memories.forget("base")
    assert state(memories) == before
    memories.forget("base")
    assert state(memories) != before
