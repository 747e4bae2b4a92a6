"""Any sequence of operations keeps the graph whole, and every engine agrees with the model."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from outlive.errors import OutliveError
from outlive.stores.tasks.protocol import TaskQuery
from outlive.stores.tasks.records import Task
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph
from outlive.testing import Clock
from tests.engines import Engine, PostgresServer
from tests.model import Model
from tests.truth import assert_sound, look

TTL = timedelta(minutes=10)


@dataclass(frozen=True)
class Op:
    """One operation. A task is named by where it stands among those there are, or, at NOBODY, is unknown."""

    name: str
    handle: int
    """Which of two stores, opened on the same place, does it."""
    wait: int
    """Minutes that pass before."""
    task: int = 0
    others: tuple[int, ...] = ()
    more: tuple[int, ...] = ()
    number: int = 0
    flag: bool = False


NOBODY, BEST, HELD = 12, -1, -2
ids = st.integers(0, NOBODY)
some_ids = st.lists(st.integers(0, NOBODY - 1) | ids, max_size=2, unique=True).map(tuple)
tokens = st.sampled_from([0, 0, 1, 1, 2])
"""0: none is given. 1: the right one, if there is one. 2: a stale one."""


def op(name: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Op]:
    return st.builds(Op, st.just(name), handle=st.integers(0, 1), wait=st.sampled_from([0, 0, 0, 1, 11]), **fields)


operations = st.one_of(
    op("create", others=some_ids, more=some_ids, number=st.integers(0, 4)),
    op("create", others=some_ids, number=st.just(2)),
    op("batch", others=some_ids, more=some_ids, number=st.integers(1, 3), flag=st.booleans()),
    op("update", task=ids, others=some_ids, more=some_ids, number=st.integers(0, 4)),
    op("unlink", task=ids, others=some_ids, more=some_ids),
    op("claim", task=ids),
    op("claim", task=st.just(BEST)),
    op("heartbeat", task=ids | st.just(HELD), number=tokens),
    op("release", task=ids | st.just(HELD), number=tokens),
    op("complete", task=ids, number=tokens, flag=st.booleans()),
    op("complete", task=ids),
    op("cancel", task=ids),
    op("reopen", task=ids),
    op("delete", task=ids, flag=st.booleans()),
    op("archive", number=st.sampled_from([0, 0, 5])),
    op("ready"),
)


PRELUDE = (
    Op("batch", 0, 0, number=3),
    Op("create", 1, 0, others=(1,), number=1),
    Op("create", 0, 0, others=(3, 4), number=2),
    Op("claim", 0, 0, task=BEST),
)
"""A chain of four and two behind it, so that there is something to work on from the start."""
TOUR = [
    Op("heartbeat", 0, 0, task=HELD, number=1),
    Op("complete", 0, 0, task=3),
    Op("complete", 0, 0, task=0, number=2),
    Op("update", 0, 0, task=0, others=(3,)),
    Op("update", 0, 0, task=4, number=3),
    Op("unlink", 0, 0, task=5, others=(4,)),
    Op("release", 0, 0, task=HELD, number=1),
    Op("delete", 0, 0, task=0),
    Op("complete", 0, 0, task=0),
    Op("reopen", 0, 0, task=0),
    Op("cancel", 0, 0, task=4),
    Op("delete", 0, 0, task=5),
    Op("ready", 0, 0),
    Op("archive", 0, 0),
]
"""Everything that can be done once, and every refusal that matters, whatever chance may bring besides."""


@dataclass
class Play:
    """Plays operations to the store and to the model."""

    graphs: list[TaskGraph]
    clock: Clock
    model: Model = field(default_factory=Model)
    played: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    """How often each operation was done or refused."""

    def step(self, op: Op) -> None:
        self.clock.advance(minutes=op.wait, microseconds=1)
        self.played += 1
        op = self.resolved(op)
        outcome = self.real(op)
        refused = isinstance(outcome, OutliveError)
        self.seen[f"{op.name} {type(outcome).__name__}" if refused else op.name] += 1
        expected = self.expected(op, outcome)
        assert type(outcome) is type(expected) if isinstance(expected, Exception) else outcome == expected, op
        for graph in self.graphs:
            tasks, _, ready = look(graph.store)
            assert self.model.differs(tasks) == [], op
            assert ready == self.model.ready()
        assert not self.model.has_cycle()

    def resolved(self, op: Op) -> Op:
        """The same with real ids and tokens."""
        known = sorted(self.model.items)

        def real(position: int) -> int:
            return known[position % len(known)] if known and position < NOBODY else 999

        held = next((number for number in known if self.model.items[number].lease), 999)
        task = {BEST: 0, HELD: held}.get(op.task) if op.task < 0 else real(op.task)
        assert task is not None
        others, more = (tuple(dict.fromkeys(map(real, places))) for places in (op.others, op.more))
        number = op.number
        if op.name in ("heartbeat", "release", "complete") and number:
            item = self.model.items.get(task)
            number = (item.lease[1] if item and item.lease else 500) + (number == 2)
        return replace(op, task=task, others=others, more=more, number=number)

    def real(self, op: Op) -> object:
        try:
            return getattr(self, f"real_{op.name}")(self.graphs[op.handle], op)
        except OutliveError as error:
            return error

    def expected(self, op: Op, outcome: object) -> object:
        try:
            return getattr(self, f"model_{op.name}")(op, outcome)
        except OutliveError as error:
            return error

    # Each operation twice: on the graph, and on the model (which is told the ids that were given out).

    def subject(self, index: int = 0) -> str:
        return f"step {self.played} item {index}"

    def real_create(self, graph: TaskGraph, op: Op) -> object:
        return graph.create(self.subject(), blocked_by=op.others, blocks=op.more, priority=op.number).id

    def model_create(self, op: Op, outcome: object) -> object:
        drafts = [(self.subject(), op.number, op.others, op.more, ())]
        self.model.check_create(drafts)
        assert isinstance(outcome, int), f"refused without need: {outcome!r}"
        self.model.create([outcome], drafts, self.clock.now)
        return outcome

    def batch(self, op: Op) -> list[tuple[str, int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
        """A chain, the first of which depends on `others` and the last of which blocks `more`; or a circle."""
        last = op.number
        return [
            (
                self.subject(index),
                index,
                op.others if index == 0 else (),
                op.more if index == last else (),
                (index - 1,) if index else (last,) if op.flag and last > 1 else (),
            )
            for index in range(last + 1)
        ]

    def real_batch(self, graph: TaskGraph, op: Op) -> object:
        drafts = [
            TaskDraft(
                key=f"k{index}",
                subject=subject,
                priority=priority,
                blocked_by=(*before, *(f"k{other}" for other in inside)),
                blocks=after,
            )
            for index, (subject, priority, before, after, inside) in enumerate(self.batch(op))
        ]
        return [task.id for task in graph.create_many(drafts)]

    def model_batch(self, op: Op, outcome: object) -> object:
        drafts = self.batch(op)
        if isinstance(outcome, OutliveError):
            # Which of two reasons is named first is the graph's own business; that there is one is not.
            try:
                self.model.check_create(drafts)
            except OutliveError:
                return outcome
            raise AssertionError(f"refused without need: {outcome!r}")
        assert isinstance(outcome, list)
        self.model.create(outcome, drafts, self.clock.now)
        return outcome

    def real_update(self, graph: TaskGraph, op: Op) -> object:
        graph.update(
            op.task, subject=self.subject(), priority=op.number, add_blocked_by=op.others, add_blocks=op.more
        )
        return None

    def model_update(self, op: Op, outcome: object) -> object:
        self.model.update(op.task, subject=self.subject(), priority=op.number, add=op.others, add_blocks=op.more)
        return None

    def real_unlink(self, graph: TaskGraph, op: Op) -> object:
        graph.update(op.task, remove_blocked_by=op.others, remove_blocks=op.more)
        return None

    def model_unlink(self, op: Op, outcome: object) -> object:
        self.model.update(op.task, remove=op.others, remove_blocks=op.more)
        return None

    def real_claim(self, graph: TaskGraph, op: Op) -> object:
        return graph.claim(op.task or None, owner=f"worker {op.handle}", ttl=TTL).id

    def model_claim(self, op: Op, outcome: object) -> object:
        return self.model.claim(op.task or None, f"worker {op.handle}", self.clock.now, TTL)

    def real_heartbeat(self, graph: TaskGraph, op: Op) -> object:
        graph.heartbeat(op.task, token=op.number or None, ttl=TTL)
        return None

    def model_heartbeat(self, op: Op, outcome: object) -> object:
        self.model.heartbeat(op.task, self.clock.now, TTL, op.number or None)
        return None

    def real_release(self, graph: TaskGraph, op: Op) -> object:
        graph.release(op.task, token=op.number or None)
        return None

    def model_release(self, op: Op, outcome: object) -> object:
        self.model.release(op.task, op.number or None)
        return None

    def real_complete(self, graph: TaskGraph, op: Op) -> object:
        done = graph.complete(op.task, token=op.number or None, force=op.flag)
        return {task.id for task in done.unblocked}

    def model_complete(self, op: Op, outcome: object) -> object:
        return self.model.complete(op.task, self.clock.now, token=op.number or None, force=op.flag)

    def real_cancel(self, graph: TaskGraph, op: Op) -> object:
        return {task.id for task in graph.cancel(op.task).unblocked}

    def model_cancel(self, op: Op, outcome: object) -> object:
        return self.model.cancel(op.task, self.clock.now)

    def real_reopen(self, graph: TaskGraph, op: Op) -> object:
        graph.reopen(op.task)
        return None

    def model_reopen(self, op: Op, outcome: object) -> object:
        self.model.reopen(op.task)
        return None

    def real_delete(self, graph: TaskGraph, op: Op) -> object:
        graph.delete(op.task, force=op.flag)
        return None

    def model_delete(self, op: Op, outcome: object) -> object:
        self.model.delete(op.task, force=op.flag)
        return None

    def real_archive(self, graph: TaskGraph, op: Op) -> object:
        return [task.id for task in graph.archive(older_than=timedelta(minutes=op.number))]

    def model_archive(self, op: Op, outcome: object) -> object:
        return self.model.archive(self.clock.now, timedelta(minutes=op.number))

    def real_ready(self, graph: TaskGraph, op: Op) -> object:
        return [task.id for task in graph.ready()]

    def model_ready(self, op: Op, outcome: object) -> object:
        self.model.expire(self.clock.now)
        return self.model.ready()

    def finish(self) -> None:
        """At the end: the audit trail, and whether a reopened store agrees."""
        for graph in self.graphs:
            assert_sound(graph.store)
        changes = self.graphs[0].history()
        trail: dict[int, list[str]] = {}
        for change in changes:
            trail.setdefault(change.task, []).append(change.op)
        assert trail == self.model.trail


EXAMPLES = {"files": 40, "sqlite": 50, "postgres": 20}


@pytest.mark.parametrize("name", ["files", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_every_engine_agrees_with_the_model(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    place = places(name, request, tmp_path)

    @settings(
        max_examples=EXAMPLES[name],
        database=None,
    )
    @example(TOUR)
    @given(st.lists(operations, min_size=20, max_size=45))
    def play(steps: list[Op]) -> None:
        clock = Clock()
        with place() as engine:
            game = Play([engine.graph(clock), engine.graph(clock)], clock)
            for step in (*PRELUDE, *steps):
                game.step(step)
            game.finish()
            seen.update(game.seen)

    seen: Counter[str] = Counter()
    play()
    # A test in which everything is refused, or nothing, proves little: the tour sees to it.
    done = {name for name in seen if "Error" not in name}
    assert done >= {
        "create",
        "batch",
        "update",
        "unlink",
        "claim",
        "release",
        "complete",
        "cancel",
        "reopen",
        "delete",
    }
    assert done >= {"archive", "ready", "heartbeat"}
    assert seen["update CycleError"]
    assert seen["complete BlockedError"]
    assert seen["complete LeaseError"]
    assert seen["delete HasDependents"]


def places(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> "Callable[[], Any]":
    """Somewhere empty for each example. A schema is made once and emptied, which is faster."""
    if name == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        schema = server.schema()
        url = schema.__enter__()
        request.addfinalizer(lambda: schema.__exit__(None, None, None))
        prefix = url.rpartition("%3D")[2]
        tables = ", ".join(f"{prefix}.outlive_task{rest}" for rest in ("s", "_edges", "_labels", "_changes"))

        @contextmanager
        def emptied() -> Iterator[Engine]:
            engine = Engine(name, url)
            engine.graph().count()
            server.run(f"TRUNCATE {tables}")
            server.run(f"ALTER SEQUENCE {prefix}.outlive_task_ids RESTART")
            yield engine
            engine.close()

        return emptied

    @contextmanager
    def fresh() -> Iterator[Engine]:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        engine = Engine(name, f"files:{folder}/.tasks" if name == "files" else f"sqlite:///{folder}/tasks.db")
        yield engine
        engine.close()
        shutil.rmtree(folder)

    return fresh


def test_the_model_is_not_the_graph() -> None:
    """The model finds what is wrong: a comparison that never fails would prove nothing."""
    model, now = Model(), Clock().now
    model.create([1, 2], [("a", 2, (), (), ()), ("b", 2, (), (), (0,))], now)
    a = Task(id=1, subject="a", created_at=now, updated_at=now, blocks=(2,))
    b = Task(id=2, subject="b", created_at=now, updated_at=now, depends_on=(1,), blocked_by=(1,))
    assert model.differs({1: a, 2: b}) == []
    assert model.differs({1: a}) == ["2: lost"]
    assert model.ready() == [1]
    assert TaskQuery() == TaskQuery()
    model.complete(1, now, token=None, force=False)
    assert model.differs({1: a, 2: b}) == [
        "1.status: 'pending', should be 'completed'",
        "1.revision: 1, should be 2",
        "2.blocked_by: (1,), should be ()",
    ]
