"""`kill -9` at any instant: everything acknowledged is there, nothing is half done."""

import copy
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from outlive.errors import OutliveError
from outlive.stores.tasks.protocol import TaskStore
from outlive.stores.tasks.records import Task
from outlive.tasks.graph import TaskGraph
from tests.crash_points import CHANGES, template
from tests.engines import ROOT, Engine, PostgresServer, worker_environment
from tests.model import Model
from tests.truth import assert_files_tell_the_truth, assert_sound, look

KILLS = 80
KILLS_PER_STORE = 20
SEED = int(os.environ.get("OUTLIVE_TEST_SEED", "20301"))
NOW = datetime(2030, 1, 1, tzinfo=UTC)


class Victim:
    """The process that forks workers to be killed."""

    def __init__(self, url: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash_worker", url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=worker_environment(),
        )

    def kill_one(self, seed: str, chance: random.Random) -> tuple[list[tuple[str, Any]], int]:
        """Start a worker, kill it at a random instant, and return what it said, and its connection if it had one."""
        self.start(seed)
        said = self.lines()
        return self.kill(said, chance, started=chance.random() < 0.9)

    def kill_started(self, chance: random.Random) -> tuple[list[tuple[str, Any]], int]:
        return self.kill(self.lines(), chance, started=True)

    def kill(
        self, said: Iterator[tuple[str, Any]], chance: random.Random, *, started: bool
    ) -> tuple[list[tuple[str, Any]], int]:
        kind, pid = next(said)
        early = []
        while kind != "pid":
            early.append((kind, pid))
            kind, pid = next(said)
        if started and not early:
            early.append(next(said))
            assert early[0][0] == "start", early
        if chance.random() < 0.5:  # however slow the machine is, some work is acknowledged
            early.append(next(said))
            while early[-1][0] != "done":
                early.append(next(said))
        # The instant of the kill is what is random here; there is nothing to wait for.
        time.sleep(chance.uniform(0, 0.03))
        os.kill(pid, signal.SIGKILL)
        lines = list(early)
        for line in said:
            if line[0] == "dead":
                assert line[1] == -signal.SIGKILL, f"the worker ended by itself: {lines[-3:]}"
                break
            lines.append(line)
        backend = next((content for kind, content in lines if kind == "start"), 0)
        return [line for line in lines if line[0] != "start"], backend

    def start(self, seed: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{seed}\n")
        self.process.stdin.flush()

    def lines(self) -> Iterator[tuple[str, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            kind, _, content = line.partition(" ")
            yield kind, json.loads(content)

    def stop(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(300)
        self.process.stdout.close()


def apply(model: Model, op: dict[str, Any], ids: list[int] | None) -> None:
    """Do to the model what the worker did to the store."""
    match op["op"]:
        case "create":
            assert ids is not None
            drafts: list[tuple[str, int, list[int], list[int], list[int]]] = [
                (subject, 2, op["before"] if index == 0 else [], [], [index - 1] if index else [])
                for index, subject in enumerate(op["subjects"])
            ]
            model.create(ids, drafts, NOW)
        case "claim":
            model.claim(op["task"], "victim", NOW, timedelta(hours=1))
        case "complete":
            model.complete(op["task"], NOW, token=None, force=op["force"])
        case "cancel":
            model.cancel(op["task"], NOW)
        case "reopen":
            model.reopen(op["task"])
        case "link":
            model.update(op["task"], subject=op["subject"], add=op["add"], remove=op["remove"])
        case "delete":
            model.delete(op["task"], force=True)
        case "archive":
            model.archive(NOW, timedelta(0))


def after(model: Model, lines: list[tuple[str, Any]], tasks: dict[int, Task]) -> Model:
    """The model after what was acknowledged, and after what was begun if the store shows that it happened."""
    begun: dict[str, Any] | None = None
    for kind, content in lines:
        if kind == "begin":
            begun = content
            continue
        assert begun is not None
        if kind == "done":
            apply(model, begun, content if begun["op"] == "create" else None)
        begun = None
    if begun is None or not model.differs(tasks):
        return model
    further = copy.deepcopy(model)
    by_subject = {task.subject: task.id for task in tasks.values()}
    ids = [by_subject.get(subject, -1) for subject in begun.get("subjects", ())]
    assert -1 not in ids, f"half of a batch is there: {begun}"
    try:
        apply(further, begun, ids)
    except OutliveError as error:
        raise AssertionError(f"{begun} would have been refused, yet: {model.differs(tasks)}") from error
    assert further.differs(tasks) == [], begun
    return further


@contextmanager
def place(engine: str, number: int, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if engine == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        with server.schema() as url:
            opened = Engine(engine, url)
            yield opened
            opened.close()
        return
    folder = tmp_path / str(number)
    folder.mkdir()
    opened = Engine(engine, f"files:{folder}/.tasks" if engine == "files" else f"sqlite:///{folder}/tasks.db")
    yield opened
    opened.close()


def wait_until_gone(server: PostgresServer, backend: int) -> None:
    """A server process learns of the death of its client a moment later."""
    with psycopg.connect(server.uri, autocommit=True) as connection:
        while connection.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", (backend,)).fetchall():
            time.sleep(0.001)


@pytest.mark.parametrize("name", ["files", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_kill_9_at_random_instants_loses_nothing_and_leaves_nothing_half_done(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    print(f"OUTLIVE_TEST_SEED={SEED}")
    chance = random.Random(f"{SEED} {name}")
    in_doubt = happened = acknowledged = 0
    for number in range(KILLS // KILLS_PER_STORE):
        with place(name, number, request, tmp_path) as engine:
            victim, model = Victim(engine.url), Model()
            survivor = engine.graph(actor="survivor")
            try:
                for round_ in range(KILLS_PER_STORE):
                    lines, backend = victim.kill_one(f"{number}.{round_}", chance)
                    if backend:
                        wait_until_gone(request.getfixturevalue("postgres"), backend)
                    model, doubt = check(engine, survivor, model, lines)
                    acknowledged += sum(kind == "done" for kind, _ in lines)
                    in_doubt += doubt is not None
                    happened += bool(doubt)
            finally:
                victim.stop()
    print(f"{acknowledged} acknowledged, {in_doubt} in doubt of which {happened} had happened")
    assert acknowledged
    assert in_doubt, "the kills never met an operation; they prove nothing"


@pytest.mark.parametrize("name", ["files", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_kill_9_of_workers_beside_others_that_go_on(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Three at once, killed one after the other: those that live recover what the dead left, under way."""
    print(f"OUTLIVE_TEST_SEED={SEED}")
    chance = random.Random(f"{SEED} {name} beside")
    with place(name, 0, request, tmp_path) as engine:
        survivor = engine.graph(actor="survivor")
        survivor.create("there is something")
        victims = [Victim(engine.url) for _ in range(3)]
        acknowledged: set[int] = set()
        try:
            for round_ in count():
                if round_ >= 12 and acknowledged:  # on a slow machine the first may come later
                    break
                for index, victim in enumerate(victims):
                    victim.start(f"{index}.{round_}")
                backends = []
                for victim in victims:
                    lines, backend = victim.kill_started(chance)
                    backends.append(backend)
                    begun = [content for kind, content in lines if kind == "begin"]
                    results = [(kind, content) for kind, content in lines if kind in ("done", "refused")]
                    for op, (kind, content) in zip(begun, results, strict=False):
                        if op["op"] == "create" and kind == "done":
                            acknowledged.update(content)
                for backend in filter(None, backends):
                    wait_until_gone(request.getfixturevalue("postgres"), backend)
                survivor.create(f"round {round_}")
                for store in (engine.open(), survivor.store):
                    assert_sound(store)
                created = {change.task for change in survivor.history() if change.op == "create"}
                assert acknowledged <= created
        finally:
            for victim in victims:
                victim.stop()


def check(
    engine: Engine, survivor: TaskGraph, model: Model, lines: list[tuple[str, Any]]
) -> tuple[Model, bool | None]:
    """Look with a store that was just opened and with one that was open all along; then let the latter go on."""
    fresh = engine.open()
    tasks, _, _ = look(fresh)
    known = len(model.ever)
    before = copy.deepcopy(model)
    model = after(model, lines, tasks)
    doubt = None
    if lines and lines[-1][0] == "begin":
        doubt = after(before, lines[:-1], tasks).differs(tasks) != []
    assert model.differs(tasks) == []
    assert not model.has_cycle()
    for store in (fresh, survivor.store):
        assert model.differs(look(store)[0]) == []
        assert_sound(store)
    trail: dict[int, list[str]] = {}
    for change in survivor.history():
        trail.setdefault(change.task, []).append(change.op)
    assert trail == model.trail
    assert len(model.ever) >= known
    made = survivor.create("the work goes on")
    model.create([made.id], [("the work goes on", 2, (), (), ())], NOW)
    survivor.delete(made.id)
    model.delete(made.id, force=False)
    assert_sound(survivor.store)
    if engine.name == "files":
        assert_files_tell_the_truth(engine.path)
        assert survivor.store.check() == harmless_traces(survivor.store)
    fresh.close()
    return model, doubt


def harmless_traces(store: TaskStore) -> list[Any]:
    """A line of the audit trail that was being written may stay behind, torn. Nothing else may."""
    return [problem for problem in store.check() if "history.jsonl:" in problem.where]


# -- the file engine, step by step -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def template_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / ".tasks"
    engine = Engine("files", f"files:{folder}")
    template(engine.graph())
    engine.close()
    return folder


State = dict[int, tuple[object, ...]]


def state(store: TaskStore) -> State:
    """What the tasks are, apart from times and from what the second writer made."""
    return {
        number: (
            task.subject,
            task.status,
            task.depends_on,
            task.blocked_by,
            tuple(other for other in task.blocks if not look(store)[0][other].subject.startswith("second")),
            task.owner,
            task.archived_at is not None,
            task.revision,
        )
        for number, task in look(store)[0].items()
        if not task.subject.startswith("second")
    }


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_store_survives_a_crash_at_every_step(change: str, template_folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.crash_points", change, str(template_folder), str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=worker_environment(), check=False)
    assert run.returncode == 0, run.stderr
    steps = int(run.stdout)
    assert steps > 6, "the steps were not seen; nothing was tried"
    before = state(Engine("files", f"files:{template_folder}").open())
    done = state(Engine("files", f"files:{tmp_path / str(steps)}").open())
    assert before != done
    happened = []
    for step in range(1, steps + 1):
        happened.append(came_through(tmp_path / str(step), before, done))
        came_through(tmp_path / f"{step}-twice", before, done, expected=happened[-1])
    # There is one moment before which nothing happened, and after which all did.
    assert happened == sorted(happened)
    assert happened[0] is False
    assert happened[-1] is True


def came_through(folder: Path, before: State, done: State, *, expected: bool | None = None) -> bool:
    """The folder is as before or as after the change, whole; says which. Then others can go on."""
    engine = Engine("files", f"files:{folder}")
    store = engine.open()
    found = state(store)
    assert found in (before, done)
    happened = found == done
    assert expected in (None, happened)
    assert_sound(store)
    seconds = [task for task in look(store)[0].values() if task.subject.startswith("second")]
    assert len(seconds) in (0, 2)
    highest = max(look(store)[0])
    graph = engine.graph()
    assert graph.create("the work goes on").id > highest
    assert_sound(graph.store)
    assert_files_tell_the_truth(folder)
    assert state(store).items() >= found.items()
    assert [problem for problem in store.check() if "history.jsonl:" not in problem.where] == []
    return happened
