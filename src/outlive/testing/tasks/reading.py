"""Task store contract: tasks are read as written, and found by queries."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from outlive.stores.tasks.protocol import SortKey, TaskQuery, TaskStore
from outlive.stores.tasks.records import Lease, Status, Task
from outlive.testing.tasks.support import (
    NOON,
    add,
    change,
    count,
    find,
    get,
    history,
    ids,
    new_id,
    put,
    ready,
    remove,
)


class ReadingConformance:
    """Part of `TaskStoreConformance`."""

    # -- an empty store ----------------------------------------------------------------------------

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

    # -- what is put in comes out ------------------------------------------------------------------

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

    # -- finding -----------------------------------------------------------------------------------

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
