"""However an index came to hold its entries, it answers the same."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from outlive.memory.retrieval import Entry, Retriever, SearchHit

WORDS = ["apple", "pear", "May 2023", "tests", "testing", "customer_id", "東京都", "Zürich", "fix", "the", "\x00"]
texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
entries = st.builds(
    Entry,
    key=st.sampled_from("abcdefgh"),
    name=st.sampled_from(["n1", "n2", "n3", "other", "apple tests"]),
    description=texts,
    body=texts | st.text(max_size=8),
    date=st.sampled_from(["", "2023-05-08", "8 May 2023", "soon"]),
    keys=st.tuples() | st.tuples(texts),
    group=st.sampled_from(["", "s1", "s2"]),
    position=st.integers(0, 4),
)
many = st.lists(entries, max_size=8)
queries = st.lists(texts, min_size=1, max_size=4)


calm = settings(max_examples=60)


def answers(retriever: Retriever, asked: list[str]) -> list[list[SearchHit]]:
    return [answer for query in asked for answer in (retriever.search(query, 4), retriever.select(query, 3))]


def fresh(held: list[Entry]) -> Retriever:
    retriever = Retriever(dense=False)
    retriever.update(held)
    return retriever


@calm
@given(many, many, queries, st.data())
def test_an_update_equals_additions_and_removals_in_any_order(
    before: list[Entry], held: list[Entry], asked: list[str], data: st.DataObject
) -> None:
    final = list({entry.key: entry for entry in held}.values())
    retriever = fresh(before)
    steps: list[Entry | str] = [*final, *({entry.key for entry in before} - {entry.key for entry in final})]
    for step in data.draw(st.permutations(sorted(steps, key=str))):
        if isinstance(step, Entry):
            retriever.add(step)
        else:
            retriever.remove(step)
    assert answers(retriever, asked) == answers(fresh(final), asked)
    changed = fresh(before)
    changed.update(held)
    assert answers(changed, asked) == answers(fresh(final), asked)


@calm
@given(many, queries)
def test_the_same_question_gets_the_same_answer(held: list[Entry], asked: list[str]) -> None:
    retriever = fresh(held)
    assert answers(retriever, asked) == answers(retriever, asked)


@calm
@given(many, entries, queries)
def test_what_was_added_and_removed_leaves_no_trace(held: list[Entry], more: Entry, asked: list[str]) -> None:
    held = [entry for entry in held if entry.key != more.key]
    retriever = fresh(held)
    before = answers(retriever, asked)
    retriever.add(more)
    retriever.remove(more.key)
    assert answers(retriever, asked) == before


@calm
@given(many, many, many, queries)
def test_an_index_from_a_cache_answers_as_the_one_that_was_kept(
    first: list[Entry], second: list[Entry], third: list[Entry], asked: list[str]
) -> None:
    with TemporaryDirectory() as name:
        cache = Path(name)
        Retriever(dense=False, cache=cache).update(first)
        again = Retriever(dense=False, cache=cache)
        again.update(second)
        assert answers(again, asked) == answers(fresh(second), asked)
        reopened = Retriever(dense=False, cache=cache)
        assert answers(reopened, asked) == answers(fresh(second), asked)
        reopened.update(third)
        assert answers(reopened, asked) == answers(fresh(third), asked)
