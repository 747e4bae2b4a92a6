"""What is found by words, dates and places, without any model."""

import pytest

from outlive.memory.retrieval import SearchHit
from tests.memory.retrieval.entries import MEMORIES, entry, found, holding


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("how do I deploy this to production?", "deploys"),
        ("which runners for tests", "test-runner"),
        ("customer id", "schema"),
        ("account_number", "schema"),
        ("customer_id", "schema"),
        ("krakow", "coffee"),
        ("ZÜRICH", "coffee"),
        ("渋谷の事務所", "tokyo"),
        ("tabs", "tabs"),
    ],
)
def test_the_entry_that_is_meant_comes_first(query: str, first: str) -> None:
    assert found(holding(*MEMORIES), query)[0] == first


@pytest.mark.parametrize(
    "query",
    [
        *("what happened in May 2023?", "on 8 May", "May 8th, 2023", "2023-05-08", "2023/5/8", "since May"),
        *("the 8th of May 2023", "8 may, 2023"),
    ],
)
def test_a_date_in_a_query_finds_what_is_dated_so_however_either_is_written(query: str) -> None:
    written = ["2023-05-08", "1:56 pm on 8 May, 2023", "May 8, 2023", "2023-05-08T13:56:00Z"]
    for date in written:
        others = [entry(f"other {month}", "A note.", date=f"2022-{month:02}-11") for month in (4, 6, 7, 12)]
        assert found(holding(*others, entry("that day", "A note.", date=date)), query)[0] == "that day"


def test_may_is_a_month_only_where_it_is_meant_as_one() -> None:
    retriever = holding(entry("a", "You may go."), entry("b", "Nothing else."))
    assert found(retriever, "may I?") == []


def test_a_name_counts_more_than_a_body() -> None:
    retriever = holding(entry("x", "about cats and much else here"), entry("cats", "about things and much else here"))
    assert found(retriever, "cats") == ["cats", "x"]


def test_extra_keys_are_found_like_text() -> None:
    retriever = holding(
        entry("a", "She went there."), entry("b", "He stayed.", keys=("Where does Ann work?", "Basel"))
    )
    assert found(retriever, "working in Basel") == ["b"]


def test_stop_words_alone_find_nothing() -> None:
    assert found(holding(*MEMORIES), "what is it and where are you?") == []


def test_a_turn_is_lifted_by_its_neighbours() -> None:
    turns = [
        entry("q", "Which instrument did you buy in Geneva?", group="s1", position=4),
        entry("a", "A cello!", group="s1", position=5),
        entry("far", "A cello!", group="s2", position=5),
    ]
    assert found(holding(*turns), "instrument Geneva") == ["q", "a"]


def test_numbered_names_are_neighbours_too() -> None:
    turns = [entry("D1:3", "Which instrument did you buy?"), entry("D1:4", "A cello!"), entry("D2:4", "A cello!")]
    assert found(holding(*turns), "instrument") == ["D1:3", "D1:4"]


def test_of_two_equals_the_one_from_the_better_session_comes_first() -> None:
    turns = [
        entry("a", "We talked of music.", group="s1", position=1),
        entry("z", "We talked of music.", group="s2", position=1),
        entry("zz", "Music, a festival, and a choir.", group="s2", position=9),
    ]
    assert found(holding(*turns), "music festival choir") == ["zz", "z", "a"]


def test_an_entry_without_a_group_is_not_held_back_by_those_that_have_one() -> None:
    entries = [entry("b", "apples and pears", date="2024-01-01"), entry("a", "apples and pears")]
    assert found(holding(*entries), "apples") == ["a", "b"]


def test_ties_are_ordered_by_key_and_scores_fall() -> None:
    retriever = holding(*(entry(key, "the same text") for key in ("pear", "fig", "plum", "apple")))
    hits = retriever.search("same text")
    assert [hit.key for hit in hits] == ["apple", "fig", "pear", "plum"]
    assert len({hit.score for hit in hits}) == 1


def test_no_more_than_asked_for() -> None:
    retriever = holding(*(entry(f"key{n:03}x", "the same text") for n in range(200)))
    assert found(retriever, "text", 3) == ["key000x", "key001x", "key002x"]
    assert len(found(retriever, "text", 150)) == 150
    assert found(retriever, "text", 0) == []


def test_an_empty_index_and_an_empty_query_find_nothing() -> None:
    assert holding().search("anything") == []
    assert holding(*MEMORIES).search("") == []
    assert holding(*MEMORIES).search(" \n\t ") == []


def test_common_words_do_not_hide_the_rare_one_among_many_entries() -> None:
    crowd = [entry(f"crowd{n}x", "the user prefers plain answers") for n in range(12_000)]
    retriever = holding(*crowd, entry("rare", "the user prefers zeppelins"))
    assert found(retriever, "does the user prefer plain zeppelins or answers", 1) == ["rare"]
    assert len(found(retriever, "user prefers", 5)) == 5


def test_strange_entries_neither_break_the_index_nor_hide_others() -> None:
    strange = [
        entry("", ""),
        entry("nul\x00\x1b[31m", "\x00\x01\x02\x7f\u202e"),
        entry("huge", "lorem ipsum " * 100_000 + "zebra"),
        entry("one word", "x" * 1_000_000),
        entry("lone \ud800", "half a pair \udfff"),
        entry("marks", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!͖̬̰̙̗̿̋ͥͥ̂ͣ̐́́͜͞"),
        entry("numbers", "9" * 5000, date="99999-99-99", position=-(2**40)),
    ]
    retriever = holding(*strange, *MEMORIES)
    assert found(retriever, "how to deploy to production", 1) == ["deploys"]
    assert found(retriever, "lorem", 1) == ["huge"]
    assert found(retriever, "pair", 1) == ["lone \ud800"]
    for one in strange:
        retriever.search(one.body, 3)
        retriever.select(one.name, 3)
        retriever.remove(one.key)
    assert len(retriever) == len(MEMORIES)


def test_the_last_of_two_entries_with_one_key_counts() -> None:
    retriever = holding(entry("a", "first"), entry("a", "second"))
    assert retriever.search("first") == []
    assert found(retriever, "second") == ["a"]
    retriever.add(entry("a", "third"))
    assert retriever.search("second") == []
    assert found(retriever, "third") == ["a"]


def test_removing_what_is_not_there_changes_nothing() -> None:
    retriever = holding(*MEMORIES)
    before = retriever.search("user")
    retriever.remove("nobody")
    assert retriever.search("user") == before
    assert all(isinstance(hit, SearchHit) for hit in before)
