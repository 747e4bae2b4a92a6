"""Task store contract: edges, readiness, picking, leases and the archive."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from outlive.stores.tasks.protocol import Fit, TaskQuery, TaskStore, TaskWriter
from outlive.stores.tasks.records import FINISHED, MAX_LEASE, STALE_LEASE, Status
from outlive.testing.tasks.support import (
    EVERYTHING,
    NOON,
    Clock,
    a_task,
    add,
    assert_derived,
    change,
    change_of,
    count,
    find,
    get,
    held_until,
    history,
    ids,
    in_threads,
    nonempty,
    ready,
    remove,
)

HOUR = timedelta(hours=1)


class Graph:
    """Part of `TaskStoreConformance`."""

    # -- edges and readiness -----------------------------------------------------------------------

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
        assert ids(ready(store, Fit(without=("gpu",)))) == [plain, db]
        assert ids(ready(store, Fit(without=("gpu", "db")))) == [plain]
        assert ids(ready(store, Fit(labels=("db",), without=("gpu",), capabilities=("db",)))) == [db]

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
            for task in (a_task(three, depends_on=(one, two)), a_task(two, status="completed"), a_task(one)):
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

    # -- locking and picking -----------------------------------------------------------------------

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

    # -- leases ------------------------------------------------------------------------------------

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

    def test_a_lease_that_only_a_wrong_clock_explains(self, store: TaskStore, other: TaskStore) -> None:
        """A lease that ends later than any lease can counts as expired; one that expired long ago is left alone."""
        ends = (MAX_LEASE + HOUR, MAX_LEASE - HOUR, HOUR - STALE_LEASE, -STALE_LEASE - HOUR)
        ahead, running, over, stale = add(store, "ahead", "running", "over", "stale")
        for number, end in zip((ahead, running, over, stale), ends, strict=True):
            change(store, number, status="in_progress", lease=held_until(NOON + end))
        assert other.read(lambda tx: tx.expired()) == [ahead, over]
        change(store, over, status="completed")
        assert other.read(lambda tx: tx.next_expiry()) == NOON + MAX_LEASE - HOUR

    # -- the archive -------------------------------------------------------------------------------

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
