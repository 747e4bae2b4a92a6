"""Task store contract: concurrent users, watching, and self-checks."""

import threading
from collections.abc import Collection

from msgspec.structs import replace

from outlive.stores.tasks.protocol import Fit, TaskStore, TaskWriter
from outlive.testing.tasks.support import (
    EVERYTHING,
    NOON,
    Clock,
    OpenStore,
    add,
    assert_derived,
    change,
    change_of,
    everything,
    find,
    get,
    history,
    ids,
    in_threads,
    ready,
    remove,
)


class Sharing:
    """Part of `TaskStoreConformance`."""

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
