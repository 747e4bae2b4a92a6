"""Task store contract: ids, transactions, the audit trail, concurrent users, watching and self-checks."""

import threading
from collections.abc import Callable, Collection
from datetime import timedelta

import pytest
from msgspec.structs import replace

from outlive.errors import DamagedRecord, OutliveError
from outlive.stores.tasks.protocol import Fit, TaskQuery, TaskStore, TaskWriter
from outlive.stores.tasks.records import MAX_ID
from outlive.testing.tasks.support import (
    EVERYTHING,
    NOON,
    Clock,
    OpenStore,
    RefusedByTest,
    a_task,
    add,
    assert_derived,
    change,
    change_of,
    count,
    everything,
    find,
    get,
    history,
    ids,
    in_threads,
    new_id,
    put,
    ready,
    remove,
)


class Writing:
    """Part of `TaskStoreConformance`."""

    # -- ids ---------------------------------------------------------------------------------------

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

    def test_an_id_that_no_reader_accepts_is_never_given_out(self, store: TaskStore, other: TaskStore) -> None:
        add(store, "one")
        for mark in (MAX_ID, MAX_ID + 1, 2**63 - 1):
            with pytest.raises(OutliveError):
                store.write(reserving(mark))
        (new,) = add(other, "two")
        assert get(store, new)[new].subject == "two"

    def test_a_mark_far_beyond_all_ids_is_damage_that_repair_heals(self, store: TaskStore, other: TaskStore) -> None:
        (one,) = add(store, "one")
        store.write(lambda tx: tx.reserve(MAX_ID // 2))
        with pytest.raises(DamagedRecord, match="a repair sets it right"):
            add(other, "never acknowledged")
        assert ids(find(store)) == [one]
        assert [problem.repairable for problem in other.check()] == [True]
        assert len(store.repair()) == 1
        assert other.check() == []
        assert add(other, "two") == [one + 1]

    def test_new_ids_do_not_continue_from_a_single_task_far_above_the_others(
        self, store: TaskStore, other: TaskStore
    ) -> None:
        (one,) = add(store, "one")
        put(store, a_task(MAX_ID))
        (two,) = add(other, "two")
        assert two < MAX_ID // 2
        assert ids(find(store, EVERYTHING)) == [one, two, MAX_ID]
        assert store.check() == []

    def test_a_task_may_be_put_under_an_id_of_ones_own(self, store: TaskStore, other: TaskStore) -> None:
        def work(tx: TaskWriter) -> None:
            tx.reserve(70)
            tx.put(a_task(70), change_of(a_task(70), "import"))

        store.write(work)
        assert ids(find(other)) == [70]
        assert add(other, "next") == [71]

    # -- all or nothing ----------------------------------------------------------------------------

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
            raise RefusedByTest

        with pytest.raises(RefusedByTest):
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

    # -- the audit trail ---------------------------------------------------------------------------

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

    # -- several users -----------------------------------------------------------------------------

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

    # -- watching ----------------------------------------------------------------------------------

    def test_a_watch_wakes_when_another_makes_a_task(self, store: TaskStore, other: TaskStore) -> None:
        add(store, "old")
        with store.watch() as watch:
            add(other, "new")
            assert watch.wait(60)

    def test_a_watch_wakes_a_waiter_that_sleeps_already(self, store: TaskStore, other: TaskStore) -> None:
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

    # -- looking after itself ----------------------------------------------------------------------

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


def reserving(mark: int) -> Callable[[TaskWriter], None]:
    return lambda tx: tx.reserve(mark)
