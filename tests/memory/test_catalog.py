"""What is kept up to date by what changed is what would be made from everything."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.memory.catalog import Catalog
from outlive.memory.errors import MemoryExists
from outlive.memory.index import index_text
from outlive.memory.similar import same, spelling, words
from outlive.memory.supersession import Hiding, hidden_by
from outlive.stores.memories.records import Memory, Provenance, unmarked
from outlive.stores.memories.table import MemoryTable, ReadView

SLUGS = st.sampled_from("abcdef")
MOMENT = datetime(2026, 5, 1, tzinfo=UTC)
MEMORIES = st.builds(
    Memory,
    slug=SLUGS,
    name=st.sampled_from(["one", "ONE", "two"]),
    description=st.just("what it says"),
    body=st.sampled_from(["The port is 80.", "the PORT is 80", "Ports are many"]),
    type=st.sampled_from(["feedback", "project"]),
    created=st.just(MOMENT),
    updated=st.sampled_from([MOMENT, MOMENT.replace(day=2)]),
    supersedes=st.lists(SLUGS, max_size=3).map(tuple),
    derived_from=st.lists(SLUGS, max_size=2).map(tuple),
    archived=st.sampled_from([None, None, MOMENT]),
    provenance=st.sampled_from([Provenance(), Provenance(), Provenance(foreign=True)]),
)
CHANGES = st.lists(st.tuples(SLUGS, st.none() | MEMORIES), max_size=25)


def put(table: MemoryTable, slug: str, memory: Memory | None) -> None:
    table.put(memory.slug if memory else slug, memory)


@given(CHANGES)
def test_what_hides_what_is_the_same_however_it_came_about(changes: list[tuple[str, Memory | None]]) -> None:
    table, hiding = MemoryTable(), Hiding()
    for slug, memory in changes:
        put(table, slug, memory)
        before = dict(hiding.by)
        live = memory is not None and memory.archived is None
        changed = hiding.put(
            memory.slug if memory else slug,
            memory.supersedes if memory and live else None,
            foreign=memory is not None and memory.provenance.foreign,
        )
        assert hiding.by == hidden_by(table.all())
        differs = {one for one in {*before, *hiding.by} if before.get(one) != hiding.by.get(one)}
        assert differs - {memory.slug if memory else slug} == changed


@given(CHANGES, st.integers(1, 5))
def test_a_catalog_that_followed_is_one_that_began_just_now(
    changes: list[tuple[str, Memory | None]], every: int
) -> None:
    table, followed = MemoryTable(), Catalog()
    for number, (slug, memory) in enumerate(changes):
        put(table, slug, memory)
        if number % every == 0:
            followed.follow(ReadView(table, list)).index()
            followed.find("one")
    followed.follow(ReadView(table, list))
    anew = Catalog().follow(ReadView(table, list))
    assert followed.everything.all() == anew.everything.all() == table.all()
    assert followed.in_use.all() == anew.in_use.all()
    assert followed.hidden == anew.hidden
    assert followed.index() == anew.index() == index_text([unmarked(memory) for memory in anew.in_use.all()])
    for ref in ("a", "b.md", "one", "One", "two", "three"):
        assert followed.find(ref) == anew.find(ref)
    for slug in "abcdef":
        assert followed.cascade(slug) == anew.cascade(slug)


def test_a_shelf_tells_what_changed_since_and_only_that() -> None:
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


SMALL = st.sampled_from(["the", "a", "an", "please", "also", "really", "very", "that", "just", "we"])
WORDS = st.text(min_size=1, max_size=8) | st.sampled_from(
    ["port", "K2", "ﬁg", "C++", "½", "K", "²", "Straße", "0x1F"]
)


@given(st.lists(WORDS, min_size=1, max_size=8), st.data())
def test_texts_with_the_same_words_are_spelled_the_same(parts: list[str], data: st.DataObject) -> None:
    one = " ".join(parts)
    more = data.draw(st.lists(st.tuples(st.integers(0, len(parts)), SMALL), max_size=5))
    mixed = [f"{parts[0][:1].upper()}{parts[0][1:]}", *parts[1:]]
    for place, word in more:
        mixed.insert(place, word)
    other = " ".join(mixed)
    if words(one) == words(other) or same(one, other):
        assert spelling(one) == spelling(other)


@pytest.mark.parametrize(
    "text", ["The port of the host is 80 now", "the port of the host  is 80 now!", "* Port of the host is 80 now."]
)
def test_what_says_the_same_is_found_among_many(text: str) -> None:
    table = MemoryTable()
    for number in range(200):
        body = f"The port of the host is {number} now"
        table.put(
            f"n{number}", Memory(slug=f"n{number}", name=f"n{number}", body=body, created=MOMENT, updated=MOMENT)
        )
    catalog = Catalog().follow(ReadView(table, list))
    with pytest.raises(MemoryExists, match="as 'n80'"):
        catalog.refuse_known(Memory(slug="-", name="new", body=text, created=MOMENT, updated=MOMENT))
    table.put("n80", None)
    catalog.follow(ReadView(table, list)).refuse_known(
        Memory(slug="-", name="new", body=text, created=MOMENT, updated=MOMENT)
    )
