"""What `outlive.stores.protocol` promises, as tests. An engine that passes can carry the task graph.

    class TestMyStore(TaskStoreConformance):
        @pytest.fixture
        def open_store(self, tmp_path):
            return lambda clock: MyStore(tmp_path / "tasks", clock=clock)

`open_store` is called several times in one test and must open the same place each time, empty at first, as
several processes would. `clock` is what the store must take for the time. Processes, crashes and lost
connections are beyond this suite: they need knowledge of the engine.
"""

import threading
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias
from uuid import uuid4

import msgspec
import pytest
from msgspec.structs import replace

from outlive.stores.protocol import Fit, SortKey, TaskQuery, TaskReader, TaskStore, TaskWriter
from outlive.stores.records import FINISHED, Change, Lease, Status, Task

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
EVERYTHING = TaskQuery(archived=True, sort="id")

OpenStore: TypeAlias = Callable[["Clock"], TaskStore]


class Clock:
    """A clock that stands still until it is told to move."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **span: float) -> None:
        self.now += timedelta(**span)


class Refused(Exception):
    """Raised by a test inside of a change."""


def change_of(task: Task, op: str = "create", *, at: datetime = NOON, **fields: Any) -> Change:
    return Change(
        id=uuid4().hex,
        at=at,
        actor=fields.pop("actor", "tester"),
        origin=fields.pop("origin", "here"),
        op=op,
        task=task.id,
        revision=task.revision,
        **fields,
    )


def held_until(moment: datetime, owner: str = "ann", token: int = 2) -> Lease:
    return Lease(owner=owner, token=token, claimed_at=NOON, expires_at=moment)


class TaskStoreConformance:
    """Subclass it and give it an `open_store` fixture; see the module."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("override the fixture `open_store`: it returns a function that opens your store")

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def store(self, open_store: OpenStore, clock: Clock) -> Iterator[TaskStore]:
        store = open_store(clock)
        yield store
        store.close()

    @pytest.fixture
    def other(self, open_store: OpenStore, clock: Clock) -> Iterator[TaskStore]:
        """The same place, opened a second time."""
        store = open_store(clock)
        yield store
        store.close()

    # -- an empty store --------------------------------------------------------------------------------

    def test_a_new_store_is_empty_and_healthy(self, store: TaskStore) -> None:
        assert find(store) == []
        assert count(store) == 0
        assert ready(store) == []
        assert history(store) == []
        assert store.read(lambda tx: tx.high_water()) == 0
        assert store.read(lambda tx: tx.next_expiry()) is None
        assert store.check() == []

    def test_a_task_that_does_not_exist_is_left_out(self, store: TaskStore) -> None:
        (one,) = add(store, "one")
        assert get(store, one, one + 41).keys() == {one}

    def test_asking_for_nothing_gives_nothing(self, store: TaskStore) -> None:
        add(store, "one")
        assert store.read(lambda tx: tx.get([])) == {}
        assert store.read(lambda tx: tx.depends_on([])) == {}
        assert store.read(lambda tx: tx.dependents([])) == {}
        assert store.write(lambda tx: tx.lock([])) == {}
        assert list(store.write(lambda tx: tx.new_ids(0))) == []

    # -- what is put in comes out ----------------------------------------------------------------------

    def test_every_field_comes_back_as_it_was_put(self, store: TaskStore, other: TaskStore) -> None:
        (blocker,) = add(store, "blocker")
        task = Task(
            id=new_id(store),
            subject="everything",
            description="line one\nline two\t\r\n",
            status="in_progress",
            owner="ann",
            depends_on=(blocker,),
            priority=0,
            labels=("db", "infra"),
            created_at=NOON - timedelta(days=400, microseconds=1),
            updated_at=NOON + timedelta(microseconds=123456),
            completed_at=NOON + timedelta(seconds=1),
            lease=Lease(owner="ann", token=7, claimed_at=NOON, expires_at=NOON + timedelta(microseconds=1)),
            revision=9,
            result="done, mostly",
            metadata={"nested": {"list": [1, 2.5, None, True, "x"]}, "big": 2**63 - 1},
            extra={"x-other-tool": {"keep": ["me"]}, "another": "key"},
        )
        put(store, task)
        expected = replace(task, blocked_by=(blocker,))
        assert get(store, task.id) == {task.id: expected}
        assert get(other, task.id) == {task.id: expected}
        assert find(other, TaskQuery(statuses=frozenset({"in_progress"}))) == [expected]

    @pytest.mark.parametrize(
        "text",
        [
            "Grüße, 世界 🌍",
            "e\u0301 is not é",
            "a\u202eb",
            "'; DROP TABLE tasks; --",
            '"quoted" \\ %s :name ?',
            "\U0010ffff",
        ],
    )
    def test_any_text_survives(self, store: TaskStore, other: TaskStore, text: str) -> None:
        fields = {"description": text, "owner": text, "labels": (text,), "result": text}
        (number,) = add(store, text, metadata={text: text}, extra={text: text}, **fields)
        task = get(other, number)[number]
        assert (task.subject, task.description, task.owner, task.labels, task.result) == (
            text,
            text,
            text,
            (text,),
            text,
        )
        assert task.metadata == task.extra == {text: text}
        assert ids(find(other, TaskQuery(labels=(text,), owner=text, text=text))) == [number]

    def test_a_long_description_survives(self, store: TaskStore, other: TaskStore) -> None:
        (number,) = add(store, "long", description="ä" * 100_000)
        assert get(other, number)[number].description == "ä" * 100_000

    def test_putting_again_replaces(self, store: TaskStore, other: TaskStore) -> None:
        (number,) = add(store, "before", labels=("a", "b"), metadata={"x": 1})
        task = get(store, number)[number]
        put(store, replace(task, subject="after", labels=("b", "c"), metadata={}, revision=2), op="update")
        assert get(other, number)[number] == replace(
            task, subject="after", labels=("b", "c"), metadata={}, revision=2
        )
        assert find(other, TaskQuery(labels=("a",))) == []
        assert ids(find(other, TaskQuery(labels=("c",)))) == [number]

    def test_unknown_keys_survive_a_change(self, store: TaskStore, other: TaskStore) -> None:
        (number,) = add(store, "mine", extra={"theirs": [1, {"deep": True}]})
        change(other, number, subject="renamed")
        assert get(store, number)[number].extra == {"theirs": [1, {"deep": True}]}

    def test_derived_fields_of_the_argument_are_ignored(self, store: TaskStore) -> None:
        (one, two) = add(store, "one", "two")
        task = get(store, one)[one]
        put(store, replace(task, blocked_by=(two,), blocks=(two,), revision=2), op="update")
        assert get(store, one)[one].blocked_by == ()
        assert get(store, one)[one].blocks == ()
        assert get(store, two)[two].blocks == ()

    def test_a_removed_task_is_gone_for_good(self, store: TaskStore, other: TaskStore) -> None:
        (one, two) = add(store, "one", "two", labels=("x",))
        remove(store, one)
        assert ids(find(other)) == [two]
        assert get(other, one) == {}
        assert ids(find(other, TaskQuery(labels=("x",)))) == [two]
        assert count(other) == 1

    # -- finding ---------------------------------------------------------------------------------------

    def test_filters(self, store: TaskStore) -> None:
        (a, b, c, d) = add(store, "alpha", "beta", "gamma", "delta")
        change(store, a, status="completed", completed_at=NOON)
        change(store, b, owner="ann", labels=("db", "infra"))
        change(store, c, depends_on=(b,), labels=("db",))
        change(store, d, status="cancelled", depends_on=(b,), description="About ALPHA")

        def found(**query: Any) -> list[int]:
            asked = TaskQuery(sort="id", **query)
            assert count(store, asked) == len(find(store, asked))
            return ids(find(store, asked))

        assert found() == [a, b, c, d]
        assert found(statuses=frozenset({"pending"})) == [b, c]
        assert found(statuses=frozenset({"completed", "cancelled"})) == [a, d]
        assert found(statuses=frozenset()) == []
        assert found(owner="ann") == [b]
        assert found(owner="an") == []
        assert found(labels=("db",)) == [b, c]
        assert found(labels=("db", "infra")) == [b]
        assert found(labels=("nope",)) == []
        assert found(blocked=True) == [c]
        assert found(blocked=False) == [a, b, d]
        assert found(text="alpha") == [a, d]
        assert found(text="ALPHA", statuses=frozenset({"completed"})) == [a]
        assert found(labels=("db",), blocked=True, owner="ann") == []

    def test_text_is_found_whatever_its_case(self, store: TaskStore) -> None:
        (a, b, c) = add(store, "GRÖSSE der Straße", "ПРИВЕТ", "100% _done_")
        assert ids(find(store, TaskQuery(text="größe"))) == [a]
        assert ids(find(store, TaskQuery(text="STRASSE"))) == [a]
        assert ids(find(store, TaskQuery(text="привет"))) == [b]
        assert ids(find(store, TaskQuery(text="%"))) == [c]
        assert ids(find(store, TaskQuery(text="_"))) == [c]
        assert find(store, TaskQuery(text="*")) == []

    @pytest.mark.parametrize("descending", [False, True])
    @pytest.mark.parametrize(
        ("sort", "expected"),
        [
            ("id", [0, 1, 2, 3]),
            ("priority", [2, 1, 3, 0]),
            ("created", [1, 0, 2, 3]),
            ("updated", [3, 2, 1, 0]),
            ("status", [2, 3, 1, 0]),
        ],
    )
    def test_orders(self, store: TaskStore, sort: SortKey, expected: list[int], descending: bool) -> None:
        numbers = add(store, "a", "b", "c", "d")
        fields: list[tuple[int, int, int, Status]] = [
            (4, 10, 40, "completed"),
            (1, 0, 30, "in_progress"),
            (0, 20, 20, "pending"),
            (1, 30, 10, "pending"),
        ]
        for number, (priority, created, updated, status) in zip(numbers, fields, strict=True):
            change(
                store,
                number,
                priority=priority,
                created_at=NOON + timedelta(seconds=created),
                updated_at=NOON + timedelta(seconds=updated),
                status=status,
            )
        order = [numbers[index] for index in expected]
        order = order[::-1] if descending else order
        query = TaskQuery(sort=sort, descending=descending)
        assert ids(find(store, query)) == order
        assert ids(find(store, replace(query, limit=2))) == order[:2]
        assert ids(find(store, replace(query, limit=0))) == []
        assert ids(find(store, replace(query, limit=99))) == order

    def test_ids_are_ordered_as_numbers(self, store: TaskStore) -> None:
        numbers = add(store, *(f"task {index}" for index in range(12)))
        assert ids(find(store, TaskQuery(sort="id"))) == sorted(numbers)
        assert ids(find(store)) == sorted(numbers)
        assert ids(ready(store)) == sorted(numbers)

    def test_a_limit_counts_after_the_filters(self, store: TaskStore) -> None:
        (_, b, _, d) = add(store, "no", "yes", "no", "yes")
        assert ids(find(store, TaskQuery(text="yes", limit=2))) == [b, d]
        assert ids(find(store, TaskQuery(text="yes", limit=1))) == [b]

    # -- edges and readiness ---------------------------------------------------------------------------

    def test_an_edge_shows_on_both_sides(self, store: TaskStore, other: TaskStore) -> None:
        (one, two, three) = add(store, "one", "two", "three")
        change(store, three, depends_on=(one, two))
        assert get(other, three)[three].blocked_by == (one, two)
        assert get(other, one)[one].blocks == get(other, two)[two].blocks == (three,)
        change(other, three, depends_on=(two,))
        assert get(store, one)[one].blocks == ()
        assert get(store, three)[three].blocked_by == (two,)
        assert_derived(store)

    def test_depends_on_and_dependents_tell_the_edges(self, store: TaskStore) -> None:
        (one, two, three) = add(store, "one", "two", "three")
        change(store, two, depends_on=(one,))
        change(store, three, depends_on=(one, two))
        assert store.read(lambda tx: nonempty(tx.depends_on([one, two, three]))) == {two: (one,), three: (one, two)}
        assert store.read(lambda tx: nonempty(tx.dependents([one, two, three]))) == {one: (two, three), two: (three,)}

    @pytest.mark.parametrize("status", sorted(FINISHED))
    def test_a_finished_dependency_no_longer_blocks(self, store: TaskStore, other: TaskStore, status: Status) -> None:
        (one, two) = add(store, "one", "two")
        change(store, two, depends_on=(one,))
        assert ids(ready(other)) == [one]
        change(store, one, status=status)
        task = get(other, two)[two]
        assert (task.blocked_by, task.depends_on, task.ready) == ((), (one,), True)
        assert ids(ready(other)) == [two]

    def test_reopening_a_dependency_blocks_again(self, store: TaskStore, other: TaskStore) -> None:
        (one, two) = add(store, "one", "two")
        change(store, two, depends_on=(one,))
        change(store, one, status="completed")
        change(other, one, status="pending")
        assert get(store, two)[two].blocked_by == (one,)
        assert ids(ready(store)) == [one]
        assert_derived(store)

    def test_depending_on_what_is_finished_already_does_not_block(self, store: TaskStore) -> None:
        (one, two) = add(store, "one", "two")
        change(store, one, status="completed")
        change(store, two, depends_on=(one,))
        assert ids(ready(store)) == [two]

    def test_a_started_dependency_still_blocks(self, store: TaskStore) -> None:
        (one, two) = add(store, "one", "two")
        change(store, two, depends_on=(one,))
        change(store, one, status="in_progress")
        assert ready(store) == []
        assert get(store, two)[two].blocked_by == (one,)

    def test_all_dependencies_must_be_finished(self, store: TaskStore) -> None:
        numbers = add(store, "a", "b", "c", "last")
        change(store, numbers[-1], depends_on=tuple(numbers[:-1]))
        for number in numbers[:-1]:
            assert numbers[-1] not in ids(ready(store))
            change(store, number, status="completed")
        assert ids(ready(store)) == numbers[-1:]

    def test_ready_gives_the_most_urgent_first_then_the_oldest(self, store: TaskStore) -> None:
        (a, b, c, d) = add(store, "a", "b", "c", "d")
        change(store, d, priority=0)
        change(store, b, created_at=NOON - timedelta(days=1))
        change(store, a, priority=4, created_at=NOON - timedelta(days=9))
        assert ids(ready(store)) == [d, b, c, a]
        assert ids(ready(store, limit=2)) == [d, b]
        assert ready(store, limit=0) == []

    def test_ready_fits_labels_and_capabilities(self, store: TaskStore) -> None:
        (plain, db, both) = add(store, "plain", "db", "both")
        change(store, db, labels=("db",))
        change(store, both, labels=("db", "gpu"))
        assert ids(ready(store, Fit(labels=("db",)))) == [db, both]
        assert ids(ready(store, Fit(labels=("db", "gpu")))) == [both]
        assert ids(ready(store, Fit(capabilities=()))) == [plain]
        assert ids(ready(store, Fit(capabilities=("db",)))) == [plain, db]
        assert ids(ready(store, Fit(labels=("db",), capabilities=("db",)))) == [db]
        assert ids(ready(store, Fit(labels=("gpu",)), limit=1)) == [both]

    def test_a_task_with_a_lost_dependency_stays_blocked(self, store: TaskStore) -> None:
        (one, two) = add(store, "one", "two")
        change(store, two, depends_on=(one,))
        remove(store, one)
        assert ready(store) == []
        assert get(store, two)[two].blocked_by == (one,)

    def test_edges_may_be_put_before_the_tasks_they_lead_to(self, store: TaskStore) -> None:
        numbers = list(store.write(lambda tx: tx.new_ids(3)))
        one, two, three = numbers

        def work(tx: TaskWriter) -> None:
            for task in (
                a_task(three, depends_on=(one, two)),
                a_task(two, status="completed"),
                a_task(one),
            ):
                tx.put(task, change_of(task))

        store.write(work)
        assert get(store, three)[three].blocked_by == (one,)
        assert_derived(store)
        change(store, one, status="completed")
        assert ids(ready(store)) == [three]

    def test_a_change_sees_what_it_has_done_so_far(self, store: TaskStore) -> None:
        (one, two) = add(store, "one", "two")
        change(store, two, depends_on=(one,))

        def work(tx: TaskWriter) -> list[int]:
            task = tx.lock([one, two])[one]
            done = replace(task, status="completed", revision=task.revision + 1)
            tx.put(done, change_of(done, "complete"))
            assert tx.get([two])[two].ready
            assert tx.get([one])[one].status == "completed"
            return ids(tx.ready())

        assert store.write(work) == [two]

    def test_what_ready_says_agrees_with_the_truth_in_a_larger_graph(self, store: TaskStore) -> None:
        numbers = add(store, *(f"task {index}" for index in range(24)))
        for index, number in enumerate(numbers[1:], start=1):
            change(
                store, number, depends_on=tuple(numbers[other] for other in range(index) if index % (other + 2) == 0)
            )
        for index, number in enumerate(numbers):
            status: Status = ("completed", "pending", "cancelled", "in_progress", "pending")[index % 5]
            change(store, number, status=status)
        assert_derived(store)

    # -- locking and picking ---------------------------------------------------------------------------

    def test_lock_gives_the_tasks_that_exist(self, store: TaskStore) -> None:
        (one, two) = add(store, "one", "two")
        locked = store.write(lambda tx: tx.lock([two, one, two + 41]))
        assert locked == get(store, one, two)
        assert store.write(lambda tx: tx.lock([one], edges=True)) == get(store, one)

    def test_pick_gives_the_first_ready_task_that_fits(self, store: TaskStore) -> None:
        (one, two, three) = add(store, "one", "two", "three")
        change(store, two, priority=0, depends_on=(one,))
        change(store, three, labels=("gpu",))
        assert store.write(lambda tx: tx.pick()) == get(store, one)[one]
        assert store.write(lambda tx: tx.pick(Fit(labels=("gpu",)))) == get(store, three)[three]
        assert store.write(lambda tx: tx.pick(Fit(labels=("nope",)))) is None

    def test_pick_gives_none_when_nothing_is_ready(self, store: TaskStore) -> None:
        assert store.write(lambda tx: tx.pick()) is None

    def test_two_who_pick_at_once_never_get_the_same(self, store: TaskStore) -> None:
        numbers = add(store, *(f"task {index}" for index in range(24)))
        taken: list[int] = []

        def claim(tx: TaskWriter) -> int | None:
            task = tx.pick()
            if task is None:
                return None
            started = replace(task, status="in_progress", revision=task.revision + 1)
            tx.put(started, change_of(started, "claim"))
            return task.id

        def worker() -> None:
            while (number := store.write(claim)) is not None:
                taken.append(number)

        in_threads(4, worker)
        assert sorted(taken) == numbers

    # -- ids -------------------------------------------------------------------------------------------

    def test_ids_are_new_and_rising(self, store: TaskStore, other: TaskStore) -> None:
        first = list(store.write(lambda tx: tx.new_ids(3)))
        then = list(other.write(lambda tx: tx.new_ids(2)))
        assert first + then == sorted({*first, *then})
        assert min(first) >= 1
        assert store.read(lambda tx: tx.high_water()) == max(then)

    def test_the_id_of_a_removed_task_is_not_given_out_again(self, store: TaskStore, other: TaskStore) -> None:
        (_, two) = add(store, "one", "two")
        remove(store, two)
        assert add(other, "three")[0] > two

    def test_reserved_ids_are_never_given_out(self, store: TaskStore, other: TaskStore) -> None:
        store.write(lambda tx: tx.reserve(500))
        assert other.read(lambda tx: tx.high_water()) == 500
        assert add(other, "next") == [501]
        store.write(lambda tx: tx.reserve(3))
        assert add(other, "next") == [502]

    def test_a_task_may_be_put_under_an_id_of_ones_own(self, store: TaskStore, other: TaskStore) -> None:
        def work(tx: TaskWriter) -> None:
            tx.reserve(70)
            tx.put(a_task(70), change_of(a_task(70), "import"))

        store.write(work)
        assert ids(find(other)) == [70]
        assert add(other, "next") == [71]

    # -- all or nothing --------------------------------------------------------------------------------

    def test_a_change_that_raises_did_not_happen(self, store: TaskStore, other: TaskStore) -> None:
        (one, two, three) = add(store, "one", "two", "three", labels=("x",))
        change(store, two, depends_on=(one,))
        before = everything(store)

        def work(tx: TaskWriter) -> None:
            tasks = tx.lock([one, two, three], edges=True)
            tx.put(replace(tasks[one], status="completed", labels=()), change_of(tasks[one], "complete"))
            tx.put(replace(tasks[two], depends_on=(three,)), change_of(tasks[two], "update"))
            tx.remove(three, change_of(tasks[three], "delete"))
            new = a_task(tx.new_ids(1)[0])
            tx.put(new, change_of(new))
            tx.record([change_of(new, "foreign")])
            raise Refused

        with pytest.raises(Refused):
            store.write(work)
        assert everything(store) == everything(other) == before
        assert_derived(store)
        assert add(store, "still works")

    def test_a_change_of_many_tasks_is_seen_whole(self, store: TaskStore, other: TaskStore) -> None:
        assert find(other) == []

        def work(tx: TaskWriter) -> None:
            numbers = tx.new_ids(5)
            for number in numbers:
                task = a_task(number, depends_on=tuple(numbers[: number - numbers[0]]))
                tx.put(task, change_of(task))
            assert find(other) == []

        store.write(work)
        assert count(other) == 5
        assert_derived(other)

    def test_a_change_may_mix_putting_removing_and_archiving(self, store: TaskStore, other: TaskStore) -> None:
        (a, b, c) = add(store, "a", "b", "c")
        change(store, b, status="completed")

        def work(tx: TaskWriter) -> int:
            tasks = tx.lock([a, b, c])
            tx.remove(a, change_of(tasks[a], "delete"))
            archived = replace(tasks[b], archived_at=NOON, revision=9)
            tx.put(archived, change_of(archived, "archive"))
            new = a_task(tx.new_ids(1)[0], depends_on=(b, c))
            tx.put(new, change_of(new))
            return new.id

        new = store.write(work)
        assert ids(find(other, EVERYTHING)) == [b, c, new]
        assert ids(find(other, TaskQuery(sort="id"))) == [c, new]
        assert get(other, new)[new].blocked_by == (c,)
        assert_derived(other)

    def test_putting_twice_in_one_change_keeps_the_last(self, store: TaskStore, other: TaskStore) -> None:
        (one, two) = add(store, "one", "two")

        def work(tx: TaskWriter) -> None:
            task = tx.lock([one, two])[two]
            for revision, edges in ((2, (one,)), (3, ()), (4, (one,))):
                new = replace(task, depends_on=edges, revision=revision)
                tx.put(new, change_of(new, "update"))

        store.write(work)
        assert get(other, two)[two].blocked_by == (one,)
        assert [line.revision for line in history(other, two)] == [1, 2, 3, 4]
        assert_derived(other)

    def test_a_task_may_come_and_go_in_one_change(self, store: TaskStore, other: TaskStore) -> None:
        def work(tx: TaskWriter) -> None:
            task = a_task(tx.new_ids(1)[0])
            tx.put(task, change_of(task))
            tx.remove(task.id, change_of(task, "delete"))

        store.write(work)
        assert find(other, EVERYTHING) == []
        assert [line.op for line in history(other)] == ["create", "delete"]

    def test_a_change_that_changes_nothing_is_no_change(self, store: TaskStore) -> None:
        (one,) = add(store, "one")
        before = everything(store)
        assert store.write(lambda tx: tx.get([one])[one].subject) == "one"
        assert everything(store) == before

    # -- the audit trail -------------------------------------------------------------------------------

    def test_every_change_is_in_the_history_as_it_was_given(self, store: TaskStore, other: TaskStore) -> None:
        number = new_id(store)
        lines = []
        task = a_task(number)
        for op, note in (("create", None), ("update", "wegen 世界"), ("complete", "")):
            changed = {"subject": ("a", {"b": [1, None]}), "owner": (None, "ann")}
            line = change_of(task, op, at=NOON + timedelta(microseconds=7), changed=changed, note=note, actor="bo")
            store.write(lambda tx, task=task, line=line: tx.put(task, line))  # type: ignore[misc]
            lines.append(line)
            task = replace(task, revision=task.revision + 1)
        assert history(other, number) == lines
        assert history(other) == lines

    def test_the_history_of_one_task_leaves_out_the_others(self, store: TaskStore) -> None:
        numbers = add(store, *(f"task {index}" for index in range(12)))
        change(store, numbers[0], subject="again")
        assert [line.op for line in history(store, numbers[0])] == ["create", "change"]
        assert [line.task for line in history(store, numbers[1])] == [numbers[1]]
        assert [line.task for line in history(store)] == [*numbers, numbers[0]]

    def test_the_history_of_a_removed_task_stays(self, store: TaskStore, other: TaskStore) -> None:
        (one,) = add(store, "one")
        remove(store, one)
        add(store, "two")
        assert [line.op for line in history(other, one)] == ["create", "delete"]

    def test_a_trail_from_elsewhere_can_be_taken_over(self, store: TaskStore, other: TaskStore) -> None:
        gone, kept = a_task(41), a_task(42)
        lines = [change_of(gone), change_of(gone, "delete"), change_of(kept)]

        def work(tx: TaskWriter) -> None:
            tx.reserve(42)
            tx.record(lines)
            tx.put(kept, change_of(kept, "import"))

        store.write(work)
        assert [(line.task, line.op) for line in history(other)][:3] == [
            (41, "create"),
            (41, "delete"),
            (42, "create"),
        ]
        assert history(other)[:3] == lines
        add(other, "next")
        assert history(store)[:3] == lines

    def test_a_trail_alone_can_be_taken_over(self, store: TaskStore, other: TaskStore) -> None:
        lines = [change_of(a_task(41)), change_of(a_task(41), "delete")]
        store.write(lambda tx: tx.record(lines))
        assert history(other) == lines
        add(other, "next")
        assert history(store)[:2] == lines

    # -- the archive -----------------------------------------------------------------------------------

    def test_archived_tasks_are_out_of_the_way_but_readable(self, store: TaskStore, other: TaskStore) -> None:
        (one, two, three) = add(store, "one", "two", "three")
        change(store, two, depends_on=(one,))
        change(store, three, depends_on=(two,))
        change(store, one, status="completed")
        change(store, two, status="completed")
        change(store, two, archived_at=NOON)
        assert ids(find(other, TaskQuery(sort="id"))) == [one, three]
        assert count(other, TaskQuery(statuses=frozenset({"completed"}))) == 1
        assert ids(find(other, EVERYTHING)) == [one, two, three]
        assert count(other, EVERYTHING) == 3
        archived = get(other, two)[two]
        assert (archived.archived_at, archived.depends_on, archived.blocks) == (NOON, (one,), (three,))
        assert get(other, one)[one].blocks == ()
        assert ids(ready(other)) == [three]
        assert [line.op for line in history(other, two)] == ["create", "change", "change", "change"]

    def test_dependents_leave_out_archived_ones_unless_asked(self, store: TaskStore) -> None:
        (one, two, three) = add(store, "one", "two", "three")
        change(store, two, depends_on=(one,), status="completed", archived_at=NOON)
        change(store, three, depends_on=(one,))
        assert store.read(lambda tx: tx.dependents([one])) == {one: (three,)}
        assert store.read(lambda tx: tx.dependents([one], archived=True)) == {one: (two, three)}

    def test_a_task_comes_back_from_the_archive(self, store: TaskStore, other: TaskStore) -> None:
        (one, two) = add(store, "one", "two")
        change(store, two, depends_on=(one,))
        change(store, one, status="completed", archived_at=NOON)
        change(other, one, status="pending", archived_at=None)
        assert ids(find(store, TaskQuery(sort="id"))) == [one, two]
        assert get(store, two)[two].blocked_by == (one,)
        assert_derived(store)

    def test_the_id_of_an_archived_task_is_not_given_out_again(self, store: TaskStore, other: TaskStore) -> None:
        (one,) = add(store, "one", status="completed", archived_at=NOON)
        assert add(other, "two")[0] > one

    # -- leases ----------------------------------------------------------------------------------------

    def test_leases_run_out_by_the_clock_of_the_store(self, store: TaskStore, other: TaskStore, clock: Clock) -> None:
        (one, two, three) = add(store, "one", "two", "three")
        change(store, one, status="in_progress", lease=held_until(NOON + timedelta(seconds=60)))
        change(store, two, status="in_progress", lease=held_until(NOON + timedelta(seconds=30)))
        change(store, three, status="in_progress", owner="ann")
        assert store.read(lambda tx: tx.now) == NOON
        assert other.read(lambda tx: tx.next_expiry()) == NOON + timedelta(seconds=30)
        assert other.read(lambda tx: tx.expired()) == []
        clock.advance(seconds=30)
        assert other.read(lambda tx: tx.expired()) == [two]
        clock.advance(days=1)
        assert other.read(lambda tx: tx.now) == NOON + timedelta(days=1, seconds=30)
        assert other.read(lambda tx: tx.expired()) == [one, two]
        assert other.read(lambda tx: tx.next_expiry()) == NOON + timedelta(seconds=30)

    def test_only_a_task_in_progress_has_a_lease_that_counts(self, store: TaskStore, clock: Clock) -> None:
        for status in ("pending", "completed", "cancelled"):
            add(store, status, status=status, lease=held_until(NOON + timedelta(seconds=1)))
        assert store.read(lambda tx: tx.next_expiry()) is None
        clock.advance(days=1)
        assert store.read(lambda tx: tx.expired()) == []

    # -- several users ---------------------------------------------------------------------------------

    def test_what_one_writes_the_other_reads(self, store: TaskStore, other: TaskStore) -> None:
        for round_ in range(3):
            (number,) = add(store, f"from store {round_}")
            assert get(other, number)[number].subject == f"from store {round_}"
            change(other, number, subject=f"from other {round_}")
            assert get(store, number)[number].subject == f"from other {round_}"
            assert everything(store) == everything(other)

    def test_a_store_opened_later_finds_everything(
        self, open_store: OpenStore, store: TaskStore, clock: Clock
    ) -> None:
        (one, two) = add(store, "one", "two")
        change(store, two, depends_on=(one,))
        expected = everything(store)
        store.close()
        later = open_store(clock)
        try:
            assert everything(later) == expected
            assert later.check() == []
        finally:
            later.close()

    def test_threads_share_a_store(self, store: TaskStore) -> None:
        made: list[int] = []

        def worker() -> None:
            for _ in range(8):
                made.extend(add(store, "from a thread"))

        in_threads(6, worker)
        assert len(made) == len(set(made)) == 48
        assert ids(find(store, EVERYTHING)) == sorted(made)
        assert len(history(store)) == 48

    def test_changes_of_one_task_do_not_get_lost(self, store: TaskStore, other: TaskStore) -> None:
        (number,) = add(store, "counter", metadata={"n": 0})

        def count_up(tx: TaskWriter) -> None:
            task = tx.lock([number])[number]
            new = replace(task, metadata={"n": task.metadata["n"] + 1}, revision=task.revision + 1)
            tx.put(new, change_of(new, "update"))

        def worker(target: TaskStore) -> None:
            for _ in range(8):
                target.write(count_up)

        in_threads(4, lambda: worker(store), lambda: worker(other))
        assert get(store, number)[number].metadata == {"n": 32}
        assert [line.revision for line in history(store, number)] == list(range(1, 34))

    def test_finishing_all_dependencies_at_once_leaves_nothing_blocked(
        self, store: TaskStore, other: TaskStore
    ) -> None:
        numbers = add(store, *(f"blocker {index}" for index in range(12)), "last")
        *blockers, last = numbers
        change(store, last, depends_on=tuple(blockers))

        def worker(target: TaskStore, part: Collection[int]) -> None:
            for number in part:
                change(target, number, status="completed")

        in_threads(2, lambda: worker(store, blockers[::2]), lambda: worker(other, blockers[1::2]))
        assert ids(ready(store)) == [last]
        assert_derived(store)

    def test_reading_does_not_wait_for_a_writer(self, store: TaskStore, other: TaskStore) -> None:
        (one,) = add(store, "before")
        writing, finish = threading.Event(), threading.Event()

        def work(tx: TaskWriter) -> None:
            task = tx.lock([one])[one]
            new = replace(task, subject="after", revision=2)
            tx.put(new, change_of(new, "update"))
            writing.set()
            assert finish.wait(60)

        thread = threading.Thread(target=lambda: store.write(work))
        thread.start()
        try:
            assert writing.wait(60)
            assert get(other, one)[one].subject == "before"
            assert ids(ready(other)) == [one]
        finally:
            finish.set()
            thread.join()
        assert get(other, one)[one].subject == "after"

    # -- watching --------------------------------------------------------------------------------------

    def test_a_watch_wakes_when_another_makes_a_task(self, store: TaskStore, other: TaskStore) -> None:
        add(store, "old")
        with store.watch() as watch:
            add(other, "new")
            assert watch.wait(60)

    def test_a_watch_wakes_who_already_sleeps(self, store: TaskStore, other: TaskStore) -> None:
        (one, two) = add(store, "one", "two")
        change(store, two, depends_on=(one,))
        woken: list[list[int]] = []
        watching = threading.Event()

        def sleeper() -> None:
            with store.watch() as watch:
                watching.set()
                while not (found := ids(ready(store, Fit(labels=("go",))))):
                    assert watch.wait(60)
                woken.append(found)

        thread = threading.Thread(target=sleeper)
        thread.start()
        assert watching.wait(60)
        change(other, two, labels=("go",))
        change(other, one, status="completed")
        thread.join(60)
        assert woken == [[two]]

    def test_a_watch_comes_back_when_nothing_happens(self, store: TaskStore) -> None:
        add(store, "one")
        with store.watch() as watch:
            while watch.wait(0.01):
                pass
            assert watch.wait(0) is False

    # -- looking after itself --------------------------------------------------------------------------

    def test_a_store_in_use_has_nothing_to_repair(self, store: TaskStore, other: TaskStore) -> None:
        (one, two, three) = add(store, "one", "two", "three")
        change(store, three, depends_on=(one, two))
        change(other, one, status="completed")
        change(store, two, status="completed", archived_at=NOON)
        remove(other, three)
        before = everything(store)
        assert store.check() == []
        assert store.repair() == []
        assert everything(store) == before

    def test_a_store_says_where_it_is(self, store: TaskStore, other: TaskStore) -> None:
        assert store.url
        assert store.url == other.url


# -- small words the claims are written in ---------------------------------------------------------------


def a_task(number: int, **fields: Any) -> Task:
    fields.setdefault("subject", f"task {number}")
    return Task(id=number, created_at=NOON, updated_at=NOON, **fields)


def new_id(store: TaskStore) -> int:
    return store.write(lambda tx: tx.new_ids(1)[0])


def add(store: TaskStore, *subjects: str, **fields: Any) -> list[int]:
    """Create tasks in one change; returns their ids."""

    def work(tx: TaskWriter) -> list[int]:
        numbers = tx.new_ids(len(subjects))
        for number, subject in zip(numbers, subjects, strict=True):
            task = a_task(number, subject=subject, **fields)
            tx.put(task, change_of(task))
        return list(numbers)

    return store.write(work)


def put(store: TaskStore, task: Task, op: str = "create") -> None:
    store.write(lambda tx: tx.put(task, change_of(task, op)))


def change(store: TaskStore, number: int, **fields: Any) -> None:
    """Change fields of a task the way a well-behaved caller does: the tasks involved locked first."""

    def work(tx: TaskWriter) -> None:
        edges = fields.get("depends_on", ())
        dependents = tx.dependents([number]).get(number, ())
        task = tx.lock({number, *edges, *dependents}, edges=bool(edges))[number]
        new = replace(task, revision=task.revision + 1, **fields)
        tx.put(new, change_of(new, "change", changed={name_in_json(name): (None, None) for name in fields}))

    store.write(work)


def name_in_json(name: str) -> str:
    return next(field.encode_name for field in msgspec.structs.fields(Task) if field.name == name)


def remove(store: TaskStore, number: int) -> None:
    def work(tx: TaskWriter) -> None:
        task = tx.lock([number])[number]
        gone = replace(task, revision=task.revision + 1)
        was = {"dependsOn": list(task.depends_on)}
        tx.remove(number, change_of(gone, "delete", changed={"task": (was, None)}))

    store.write(work)


def get(store: TaskStore, *numbers: int) -> dict[int, Task]:
    return store.read(lambda tx: tx.get(numbers))


def find(store: TaskStore, query: TaskQuery = TaskQuery()) -> list[Task]:  # noqa: B008 - frozen
    return store.read(lambda tx: tx.find(query))


def count(store: TaskStore, query: TaskQuery = TaskQuery()) -> int:  # noqa: B008 - frozen
    return store.read(lambda tx: tx.count(query))


def ready(store: TaskStore, fit: Fit = Fit(), limit: int | None = None) -> list[Task]:  # noqa: B008 - frozen
    return store.read(lambda tx: tx.ready(fit, limit))


def history(store: TaskStore, number: int | None = None) -> list[Change]:
    return store.read(lambda tx: tx.history(number))


def ids(tasks: Collection[Task]) -> list[int]:
    return [task.id for task in tasks]


def nonempty(edges: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    return {number: others for number, others in edges.items() if others}


def everything(store: TaskStore) -> tuple[list[Task], list[Task], list[Change]]:
    """Tasks, ready tasks and history in one look."""
    return store.read(lambda tx: (tx.find(EVERYTHING), tx.ready(), tx.history()))


def assert_derived(store: TaskStore) -> None:
    """`blocked_by`, `blocks` and readiness are what follows from `depends_on` and `status`."""

    def look(tx: TaskReader) -> tuple[list[Task], list[Task], list[Task]]:
        return tx.find(EVERYTHING), tx.ready(), tx.find(TaskQuery(blocked=True, sort="id"))

    tasks, ready_now, blocked = store.read(look)
    finished = {task.id for task in tasks if task.finished}
    hot = [task for task in tasks if task.archived_at is None]
    for task in tasks:
        assert task.blocked_by == tuple(number for number in task.depends_on if number not in finished), task
        assert task.blocks == tuple(other.id for other in hot if task.id in other.depends_on), task
    expected = [task for task in hot if task.status == "pending" and set(task.depends_on) <= finished]
    assert ids(ready_now) == ids(sorted(expected, key=lambda task: (task.priority, task.created_at, task.id)))
    assert ids(blocked) == [task.id for task in hot if task.blocked_by and not task.finished]


def in_threads(rounds: int, *works: Callable[[], object]) -> None:
    """Run each of them in as many threads as asked for, and fail if one of them failed."""
    failures: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed to the test
            failures.append(error)

    each = max(1, rounds // len(works))
    threads = [threading.Thread(target=run, args=(work,)) for work in works for _ in range(each)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
