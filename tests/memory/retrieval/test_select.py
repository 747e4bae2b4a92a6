"""The gate: what is worth showing unasked."""

import pytest

from tests.memory.retrieval.entries import MEMORIES, entry, holding, needs_dense, selected

RELEVANT = [
    ("write the tests with the usual test runner, pytest I think", "test-runner"),
    ("deploy the service to production", "deploys"),
    ("should I indent the Makefile with tabs or spaces?", "tabs"),
    ("what is wrong with customer_id in Orders?", "schema"),
]
GENERIC = [
    "continue",
    "thanks!",
    "fix the failing test",
    "run it again",
    "try the other one",
    "show me the file",
    "go on",
]


@pytest.mark.parametrize(("prompt", "first"), RELEVANT)
def test_what_is_relevant_is_selected(prompt: str, first: str) -> None:
    assert selected(holding(*MEMORIES), prompt)[0] == first


@pytest.mark.parametrize("prompt", [*GENERIC, "center the div", "what is the capital of Australia?", "", "?!"])
def test_nothing_is_selected_when_nothing_is_relevant(prompt: str) -> None:
    assert selected(holding(*MEMORIES), prompt) == []


def test_one_shared_word_among_many_is_an_accident() -> None:
    prompt = "migrate the production database cluster to a larger instance with encrypted volumes"
    assert selected(holding(*MEMORIES), prompt) == []


def test_a_prompt_of_one_telling_word_is_enough() -> None:
    assert selected(holding(*MEMORIES), "deploys") == ["deploys"]


def test_at_most_as_many_as_asked_for() -> None:
    retriever = holding(*(entry(f"note{n}x", "espresso machine settings") for n in range(20)))
    assert len(selected(retriever, "espresso machine")) == 5
    assert len(selected(retriever, "espresso machine", 2)) == 2


def test_a_neighbour_is_searched_for_but_not_selected() -> None:
    retriever = holding(
        entry("q", "Which cello did you buy in Geneva?", group="s", position=1),
        entry("a", "Nothing at all.", group="s", position=2),
    )
    assert selected(retriever, "cello in Geneva") == ["q"]


@needs_dense
@pytest.mark.parametrize(("prompt", "first"), RELEVANT)
def test_what_is_relevant_is_selected_with_dense(prompt: str, first: str) -> None:
    assert selected(holding(*MEMORIES, dense=True), prompt)[0] == first


@needs_dense
@pytest.mark.parametrize("prompt", [*GENERIC, "center the div", "what is the capital of Australia?", "", "?!"])
def test_nothing_is_selected_with_dense_when_nothing_is_relevant(prompt: str) -> None:
    assert selected(holding(*MEMORIES, dense=True), prompt) == []


@needs_dense
def test_other_words_are_enough_where_one_stands_out_from_all() -> None:
    """Of a developer's memories, half of the prompts in other words find theirs, and unrelated ones hardly any."""
    from bench.memory.developer import MEMORIES as MEMORIES_OF_A_DEVELOPER
    from bench.memory.developer import RELATED, UNRELATED

    rows = [line.split("|") for line in MEMORIES_OF_A_DEVELOPER]
    retriever = holding(*(entry(key, text, name=key.replace("-", " ")) for key, _, text in rows), dense=True)
    right = [key in selected(retriever, prompt) for prompt, key in (line.split("|") for line in RELATED)]
    wrong = [prompt for prompt in UNRELATED if selected(retriever, prompt)]
    assert sum(right) >= len(right) * 0.45
    assert len(wrong) <= len(UNRELATED) * 0.02
