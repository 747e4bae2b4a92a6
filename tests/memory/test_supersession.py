"""Which memory hides which: whatever the order, rings and trust."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from outlive.memory.supersession import cascade, hidden_by, in_use, reach
from outlive.stores.memories.records import Memory, Provenance

MOMENT = datetime(2026, 5, 1, tzinfo=UTC)
SLUGS = st.sampled_from("abcdef")
MEMORIES = st.builds(
    Memory,
    slug=SLUGS,
    name=st.just("one"),
    created=st.just(MOMENT),
    updated=st.just(MOMENT),
    supersedes=st.lists(SLUGS, max_size=3).map(tuple),
    derived_from=st.lists(SLUGS, max_size=2).map(tuple),
    archived=st.sampled_from([None, None, MOMENT]),
    provenance=st.sampled_from([Provenance(), Provenance(), Provenance(untrusted=True)]),
)
STORES = st.lists(MEMORIES, max_size=6, unique_by=lambda memory: memory.slug)


@given(STORES)
def test_a_memory_is_hidden_by_a_live_trusted_one_outside_of_any_ring(memories: list[Memory]) -> None:
    live = {memory.slug: memory for memory in memories if not memory.archived}
    edges = {slug: memory.supersedes for slug, memory in live.items()}
    hidden = hidden_by(memories)
    for old, memory in live.items():
        hides = {
            new
            for new, other in live.items()
            if old in other.supersedes
            and new not in {old, *reach(old, edges)}
            and (memory.provenance.untrusted or not other.provenance.untrusted)
        }
        assert hidden.get(old) == max(hides, default=None)
    assert in_use(memories) == [memory for slug, memory in live.items() if slug not in hidden]


@given(STORES, SLUGS)
def test_what_is_forgotten_together_has_no_live_follower_left(memories: list[Memory], slug: str) -> None:
    gone = [memory.slug for memory in cascade(slug, memories)]
    live = {memory.slug: memory for memory in memories if not memory.archived}
    assert gone == ([slug, *sorted(set(gone) - {slug})] if slug in live else gone)
    for other in gone:
        follows = {*live[other].supersedes, *(name for name, m in live.items() if other in m.derived_from)}
        assert follows & live.keys() <= {*gone}


def test_a_long_chain_of_corrections_is_followed_in_one_go() -> None:
    many = [
        Memory(slug=f"{n:05}", name="x", created=MOMENT, updated=MOMENT, supersedes=(f"{n - 1:05}",))
        for n in range(20_000)
    ]
    assert [memory.slug for memory in in_use(many)] == ["19999"]
