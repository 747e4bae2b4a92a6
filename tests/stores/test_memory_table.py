"""The memories of a store as a process holds them."""

from datetime import UTC, datetime

from outlive.stores.memories.records import Memory
from outlive.stores.memories.table import MemoryTable

MOMENT = datetime(2026, 5, 1, tzinfo=UTC)


def test_a_table_tells_what_changed_since_and_only_that() -> None:
    table = MemoryTable()
    one, two = (Memory(slug=slug, name=slug, created=MOMENT, updated=MOMENT) for slug in ("one", "two"))
    table.put("two", two)
    table.put("one", one)
    assert [memory.slug for memory in table.all()] == ["one", "two"]
    seen = table.moment
    table.put("two", two)
    assert table.changed(seen) == {}
    table.put("one", None)
    table.put("three", one)
    assert dict(table.changed(seen)) == {"one": None, "three": one}
    assert dict(table.changed()) == {"two": two, "three": one}
