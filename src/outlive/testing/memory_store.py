"""The contract of `outlive.stores.memories.protocol` as tests. An engine that passes can store memories.

    class TestMyMemories(MemoryStoreConformance):
        @pytest.fixture
        def open_memories(self, tmp_path):
            return lambda: MyMemoryStore(tmp_path)

`open_memories` is called several times in one test and must open the same store each time, empty at first, as several
processes would. This suite does not test crashes, which depend on the engine.
"""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any, TypeAlias

import pytest
from msgspec.structs import replace

from outlive.stores.memories.protocol import MemoryReader, MemoryStore, MemoryWriter
from outlive.stores.memories.records import MAX_MEMORY_BYTES, Memory, MemoryStep, OversizedMemory, Provenance

OpenMemories: TypeAlias = Callable[[], MemoryStore]

EARLY = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
AWKWARD = (
    *("plain words", "key: value", "---", "a\n---\nb", "\nname: injected\ntype: feedback"),
    *("'single' \"double\" `back`", "# not a comment", "- not a list", "{not: a map}", "[not, a, list]"),
    *("yes", "null", "1.0", "2026-01-02", "trailing space ", " leading", "tab\tand \\backslash"),
    *("crlf\r\nand\rlone", "\u2028 \u0085 \ufeff \x00 \x1b[31m \x7f", "ünï 名前 \U0001f600"),
    *("&anchor *alias !tag %directive @at", "<<<<<<< HEAD", "x" * 5_000),
)


def memory(slug: str, **fields: Any) -> Memory:
    given = {"name": slug, "description": f"about {slug}", "body": f"what {slug} says", "created": EARLY}
    return Memory(slug=slug, **{**given, "updated": EARLY, **fields})


def put(store: MemoryStore, *memories: Memory, op: str = "add") -> MemoryStep:
    def work(tx: MemoryWriter) -> MemoryStep:
        for record in memories:
            tx.put(record)
        return tx.record(op)

    return store.write(work)


def get(store: MemoryStore, slug: str) -> Memory:
    found = store.read(lambda tx: tx.get(slug))
    assert found is not None
    return found


def slugs(store: MemoryStore, *, archived: bool = False) -> list[str]:
    return [record.slug for record in store.read(lambda tx: tx.all(archived=archived))]


def changed_since(moment: int = -1) -> Callable[[MemoryReader], tuple[int, dict[str, Memory | None]]]:
    def look(tx: MemoryReader) -> tuple[int, dict[str, Memory | None]]:
        now, found = tx.changed(moment)
        return now, dict(found)

    return look


class MemoryStoreConformance:
    """Override the fixture `open_memories`."""

    @pytest.fixture
    def open_memories(self) -> OpenMemories:
        raise NotImplementedError("override the fixture `open_memories`")

    @pytest.fixture
    def store(self, open_memories: OpenMemories) -> Iterator[MemoryStore]:
        opened = open_memories()
        yield opened
        opened.close()

    @pytest.fixture
    def other(self, open_memories: OpenMemories) -> Iterator[MemoryStore]:
        opened = open_memories()
        yield opened
        opened.close()

    # -- records

    def test_a_new_store_is_empty(self, store: MemoryStore) -> None:
        assert slugs(store, archived=True) == []
        assert store.read(lambda tx: tx.get("nobody")) is None
        assert store.read(lambda tx: tx.steps()) == []
        assert store.check() == []

    def test_every_field_is_read_by_others_as_it_was(self, store: MemoryStore, other: MemoryStore) -> None:
        full = memory(
            "full",
            name="Full: of --- everything",
            type="feedback",
            keys=("editor", "tabs: or spaces"),
            date="7 May 2023",
            provenance=Provenance(who="tool", session="s-1", event=12, confirmed=True),
            updated=EARLY + timedelta(days=1),
            supersedes=("old",),
            derived_from=("a", "b"),
            revision=7,
            extra={"node": {"a": ["b"]}, "odd key: here": "kept"},
        )
        put(store, full)
        assert other.read(lambda tx: tx.get("full")) == full

    @pytest.mark.parametrize("text", AWKWARD, ids=[f"text{number}" for number in range(len(AWKWARD))])
    def test_any_text_survives_in_any_field(self, store: MemoryStore, other: MemoryStore, text: str) -> None:
        provenance = Provenance(session=text)
        one = memory(
            "one", name=text, description=text, body=text, keys=(text, "k"), date=text, provenance=provenance
        )
        put(store, one, memory("neighbour"))
        assert other.read(lambda tx: tx.get("one")) == one
        assert slugs(other) == ["neighbour", "one"]
        assert other.left_out() == []

    def test_half_a_surrogate_pair_is_mended(self, store: MemoryStore, other: MemoryStore) -> None:
        put(store, memory("one", name="a\ud83d", body="\ude00 and \ud83d\ude00"))
        found = get(other, "one")
        assert (found.name, found.body) == ("a\ufffd", "\ufffd and \U0001f600")

    def test_times_come_back_in_utc(self, store: MemoryStore) -> None:
        there = datetime(2026, 5, 1, 2, 0, tzinfo=timezone(timedelta(hours=2)))
        put(store, memory("one", created=there, updated=there))
        found = get(store, "one")
        assert found.created == there
        assert found.created.tzinfo == UTC

    def test_forgotten_ones_are_shown_only_when_asked_for(self, store: MemoryStore, other: MemoryStore) -> None:
        put(store, memory("kept"), memory("gone"))
        put(store, memory("gone", archived=EARLY), op="forget")
        assert slugs(other) == ["kept"]
        assert slugs(other, archived=True) == ["gone", "kept"]
        assert get(other, "gone").archived == EARLY
        put(store, memory("gone"), op="undo")
        assert slugs(other) == ["gone", "kept"]

    def test_what_is_too_large_is_refused_and_nothing_is_written(self, store: MemoryStore) -> None:
        with pytest.raises(OversizedMemory, match="limit"):
            put(store, memory("small"), memory("large", body="x" * MAX_MEMORY_BYTES))
        assert slugs(store) == []

    # -- slugs

    def test_a_slug_clash_never_overwrites(self, store: MemoryStore, other: MemoryStore) -> None:
        def add(tx: MemoryWriter, name: str) -> str:
            slug = tx.new_slug(name)
            tx.put(memory(slug, name=name, body=name))
            tx.record("add")
            return slug

        names = ["Use tabs", "use-tabs", "USE TABS!", "Use Tabs"]
        made = []
        for number, name in enumerate(names):
            made.append((store if number % 2 else other).write(partial(add, name=name)))
        assert len(set(made)) == len(names)
        bodies = {record.slug: record.body for record in store.read(lambda tx: tx.all())}
        assert [bodies[slug] for slug in made] == names

    def test_a_forgotten_memory_keeps_its_slug(self, store: MemoryStore) -> None:
        put(store, memory("use-tabs", archived=EARLY))
        assert store.write(lambda tx: tx.new_slug("Use tabs")) != "use-tabs"

    @pytest.mark.parametrize("name", ["../../etc/passwd", "", "名前", "MEMORY", "a" * 500, ".hidden", "con", "\x00"])
    def test_any_name_has_a_slug_of_its_own(self, store: MemoryStore, other: MemoryStore, name: str) -> None:
        slug = store.write(lambda tx: tx.new_slug(name))
        put(store, memory(slug, name=name or "empty"))
        assert get(other, slug).name == (name or "empty")

    # -- transactions and the log

    def test_a_step_holds_what_was_before_and_after(self, store: MemoryStore, other: MemoryStore) -> None:
        first, second = memory("one"), memory("one", body="changed", revision=2)
        put(store, first)

        def edit(tx: MemoryWriter) -> None:
            tx.put(second)
            tx.put(memory("two"))
            tx.record("edit", actor="ann", note="why", n=3)

        def drop(tx: MemoryWriter) -> None:
            tx.remove("two")
            tx.record("remove", undoes=2)

        store.write(edit)
        store.write(drop)
        steps = other.read(lambda tx: tx.steps())
        assert [step.op for step in steps] == ["add", "edit", "remove"]
        assert [step.id for step in steps] == sorted({step.id for step in steps})
        assert (steps[1].actor, steps[1].note, steps[1].data) == ("ann", "why", {"n": 3})
        changes = {change.slug: (change.before, change.after) for change in steps[1].changes}
        assert changes == {"one": (first, second), "two": (None, memory("two"))}
        assert steps[2].changes[0].before == memory("two")
        assert steps[2].changes[0].after is None
        assert steps[2].undoes == 2
        assert slugs(other) == ["one"]

    def test_a_transaction_reads_what_it_has_written(self, store: MemoryStore) -> None:
        put(store, memory("one"), memory("two"))

        def work(tx: MemoryWriter) -> None:
            tx.put(memory("one", body="new"))
            tx.remove("two")
            tx.put(memory("three", archived=EARLY))
            found = tx.get("one")
            assert found is not None
            assert found.body == "new"
            assert tx.get("two") is None
            assert [record.slug for record in tx.all()] == ["one"]
            assert [record.slug for record in tx.all(archived=True)] == ["one", "three"]

        store.write(work)
        assert slugs(store, archived=True) == ["one", "three"]

    def test_what_raises_changes_nothing(self, store: MemoryStore, other: MemoryStore) -> None:
        put(store, memory("one"))

        def work(tx: MemoryWriter) -> None:
            tx.put(memory("one", body="changed"))
            tx.put(memory("two"))
            tx.record("add")
            raise RuntimeError("no")

        with pytest.raises(RuntimeError, match="no"):
            store.write(work)
        for opened in (store, other):
            assert opened.read(lambda tx: tx.all()) == [memory("one")]
            assert len(opened.read(lambda tx: tx.steps())) == 1

    def test_what_is_not_recorded_leaves_no_trace_in_the_log(self, store: MemoryStore, other: MemoryStore) -> None:
        put(store, memory("one"))
        store.write(lambda tx: tx.put(memory("one", date="May")))
        assert get(other, "one").date == "May"
        assert len(other.read(lambda tx: tx.steps())) == 1

    # -- what changed

    @pytest.mark.parametrize("glance", [False, True])
    def test_what_others_changed_since_is_told(self, store: MemoryStore, other: MemoryStore, glance: bool) -> None:
        put(store, memory("one"), memory("two"), memory("three"), memory("four"))
        seen, everything = other.read(changed_since(), glance=glance)
        assert everything == {slug: memory(slug) for slug in ("one", "two", "three", "four")}
        assert other.read(changed_since(seen), glance=glance) == (seen, {})

        def work(tx: MemoryWriter) -> None:
            tx.put(memory("one", body="changed"))
            tx.put(memory("two", archived=EARLY))
            tx.remove("three")
            tx.record("change")

        store.write(work)
        put(store, memory("five"))
        expected = {
            "one": memory("one", body="changed"),
            "two": memory("two", archived=EARLY),
            "three": None,
            "five": memory("five"),
        }
        now, found = other.read(changed_since(seen), glance=glance)
        assert found == expected
        assert other.read(changed_since(now), glance=glance) == (now, {})
        assert other.read(changed_since(seen), glance=glance)[1] == expected

    def test_what_one_changed_itself_is_told_too(self, store: MemoryStore) -> None:
        put(store, memory("one"))
        seen, _ = store.read(changed_since())
        put(store, memory("one", body="changed"), memory("two"))
        store.write(lambda tx: tx.put(memory("two", date="May")))
        _, found = store.read(changed_since(seen), glance=True)
        assert found == {"one": memory("one", body="changed"), "two": memory("two", date="May")}

    def test_a_transaction_is_told_what_was_before_it(self, store: MemoryStore, other: MemoryStore) -> None:
        put(store, memory("one"))
        seen, _ = store.read(changed_since())
        put(other, memory("two"))

        def work(tx: MemoryWriter) -> dict[str, Memory | None]:
            tx.put(memory("three"))
            return changed_since(seen)(tx)[1]

        assert store.write(work) == {"two": memory("two")}

    def test_a_change_that_failed_is_not_told(self, store: MemoryStore) -> None:
        put(store, memory("one"))
        seen, _ = store.read(changed_since())

        def work(tx: MemoryWriter) -> None:
            tx.put(memory("two"))
            raise RuntimeError("no")

        with pytest.raises(RuntimeError):
            store.write(work)
        assert store.read(changed_since(seen)) == (seen, {})

    def test_writers_take_turns_and_lose_nothing(self, open_memories: OpenMemories) -> None:
        put(opened := open_memories(), memory("count", body="0"))

        def count() -> None:
            mine = open_memories()
            for _ in range(5):
                mine.write(increment)
            mine.close()

        def increment(tx: MemoryWriter) -> None:
            old = tx.get("count")
            assert old is not None
            tx.put(replace(old, body=str(int(old.body) + 1), revision=old.revision + 1))
            slug = tx.new_slug("same name")
            tx.put(memory(slug))
            tx.record("count")

        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = get(opened, "count")
        assert (found.body, found.revision) == ("20", 21)
        assert len(slugs(opened)) == 21
        steps = opened.read(lambda tx: tx.steps())
        assert [step.id for step in steps] == list(range(1, 22))
        opened.close()

    def test_a_lock_of_a_purpose_has_one_holder(self, store: MemoryStore, other: MemoryStore) -> None:
        with store.exclusive("consolidate") as mine:
            assert mine
            with other.exclusive("consolidate") as theirs:
                assert not theirs
            with other.exclusive("something else") as another:
                assert another
            put(other, memory("one"))  # writers do not wait for it
        with other.exclusive("consolidate") as theirs:
            assert theirs

    def test_a_record_can_be_set_apart(self, store: MemoryStore, other: MemoryStore) -> None:
        put(store, memory("one"), memory("two"))
        assert "one" in store.set_apart("one")
        assert slugs(other, archived=True) == ["two"]
        assert store.write(lambda tx: tx.new_slug("two")) != "two"

    def test_a_memory_written_here_is_not_foreign_and_needs_no_adoption(
        self, store: MemoryStore, other: MemoryStore
    ) -> None:
        put(store, memory("one"))
        put(other, memory("two", provenance=Provenance(untrusted=True)))
        for opened in (store, other):
            found = opened.read(lambda tx: tx.all())
            assert [record.provenance.untrusted for record in found] == [False, False]

    def test_what_was_disowned_is_adopted_again(self, store: MemoryStore, other: MemoryStore) -> None:
        put(store, memory("one"))
        if not store.disown():
            return  # an engine that nothing can come with has nothing to take back

        def untrusted(opened: MemoryStore) -> list[bool]:
            return [record.provenance.untrusted for record in opened.read(lambda tx: tx.all())]

        assert untrusted(store) == untrusted(other) == [True]
        put(other, memory("two"))
        assert untrusted(store) == untrusted(other) == [True, False]
        store.adopt()
        assert untrusted(store) == untrusted(other) == [False, False]
