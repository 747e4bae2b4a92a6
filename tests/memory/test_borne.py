"""What a model makes of memories is taken only if each clause of it is one of theirs, and none of theirs is lost."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.memory.errors import InvalidAnswer
from outlive.memory.rewriting import read_consolidation
from outlive.stores.memories.records import Memory

NOW = datetime(2030, 1, 1, tzinfo=UTC)
HONEST = [
    (["The staging port is 80.", "The staging server listens on port 80."], "The staging server listens on port 80."),
    (["Anna owns billing.", "Ben owns search."], "Anna owns billing and Ben owns search."),
    (["We deploy on Mondays.", "Deploys happen on Mondays at 9."], "We deploy on Mondays at 9."),
    (["The team has five people.", "The team sits in Berlin."], "The team has five people and sits in Berlin."),
    (["Use yarn, not npm."], "Use yarn instead of npm."),
    (["The freeze began yesterday."], "The freeze began on 2029-12-31."),
    (["The API is slow. The API is slow.", "The API needs a key."], "The API is slow. The API needs a key."),
    (["Run the linter before the tests."], "Before the tests, run the linter."),
    (
        ["Anna leads the parser team.", "Anna leads the parser team. She sits in Berlin."],
        "Anna leads the parser team. She sits in Berlin.",
    ),
    (["The user prefers short answers."], "I prefer short answers."),
    (["- use tabs in Makefiles\n- use spaces in Python"], "Use tabs in Makefiles. Use spaces in Python."),
    (["Use tabs in Makefiles.", "Use spaces in Python."], "Use tabs in Makefiles; use spaces in Python."),
    (["Use tabs in Makefiles.", "Use spaces in Python."], "Use tabs in Makefiles, and use spaces in Python."),
    (["Reads get 3 retries, writes get 5 retries."], "Writes get 5 retries, reads get 3 retries."),
    (["Data moves from staging to production at night."], "At night data moves from staging to production."),
    (
        ["Call `make check` before a push.", "The check takes 4 minutes."],
        "Call `make check` before a push. The check takes four minutes.",
    ),
    (["If the cache is cold, restart the worker."], "Restart the worker if the cache is cold."),
    (["Anna owns the parser, Ben the printer."], "The parser is owned by Anna, the printer by Ben."),
    (["We met with ACME two weeks ago."], "We met with ACME around 2029-12-18."),
    (
        ["The deploy may fail on Fridays.", "The deploy needs two approvals."],
        "The deploy needs two approvals; on Fridays the deploy may fail.",
    ),
    (
        ["The docs live in docs/guide.md.", "The docs are in English."],
        "The docs live in docs/guide.md and are in English.",
    ),
    (
        ["The token expires in 24 hours and is stored in Vault."],
        "The token expires in 24 hours. The token is stored in Vault.",
    ),
    (
        ["The staging port is 8443, see docs/staging.md.", "The staging host is blue."],
        "The staging host is blue. The staging port is 8443 (see docs/staging.md).",
    ),
]
WRONG = [
    (
        ["The staging port is 80.", "The production port is 443."],
        "The staging port is 443. The production port is 80.",
    ),
    (
        ["The staging port is 80.", "The production port is 443."],
        "The staging port is 443 and the production port is 80.",
    ),
    (["Anna owns billing.", "Ben owns search."], "Anna owns search. Ben owns billing."),
    (["Anna owns billing.", "Ben owns search."], "Anna owns search and Ben owns billing."),
    (
        ["Deploy staging on Mondays.", "Deploy production on Fridays."],
        "Deploy staging on Fridays and production on Mondays.",
    ),
    (["2 of 3 approvals are needed for a merge."], "2 to 3 approvals are needed for a merge."),
    (["Send the invoices for Anna to Ben."], "Send the invoices to Anna for Ben."),
    (["Treat all warnings as errors."], "Treat all warnings and errors."),
    (["Use `pytest -x` in CI.", "Use `pytest -q` at home."], "Use `pytest -q` in CI and `pytest -x` at home."),
    (["The deploy may fail on Fridays."], "The deploy fails on Fridays."),
    (["Anna left the team in 2024 and Ben joined in 2025."], "Anna joined the team in 2025 and Ben left in 2024."),
    (["The old API is slow, the new API is fast."], "The new API is slow, the old API is fast."),
    (["Retries are 3 for reads and 5 for writes."], "Retries are 5 for reads and 3 for writes."),
    (["Reads get 3 retries, writes get 5 retries."], "Reads get 5 retries, writes get 3 retries."),
    (["The migration was planned and cancelled."], "The migration was planned."),
    (["If the cache is cold, restart the worker."], "Restart the worker; the cache is cold."),
    (["We might move to Postgres next year."], "We move to Postgres next year."),
    (
        ["Retries are 3 for reads and 5 for writes. Timeouts are 10 for reads and 20 for writes."],
        "Retries are 3 for reads and 20 for writes. Timeouts are 10 for reads and 5 for writes.",
    ),
    (
        ["Staging:\n- the port is 80\nProduction:\n- the port is 443"],
        "Staging:\n- the port is 443\nProduction:\n- the port is 80",
    ),
    (
        ["Anna owns billing. She sits in Berlin.", "Eva owns search."],
        "Anna owns billing. Eva owns search. She sits in Berlin.",
    ),
    (["Anna owns billing.", "Ben sits in Berlin."], "Anna owns billing and sits in Berlin."),
    (["Anna owns billing.", "Ben sits in Berlin. Ben joined."], "Ben joined. Anna owns billing and sits in Berlin."),
    (["Do not push and merge."], "Do not push. Merge."),
    (["Never push to main.", "Use a branch."], "Never push to main and use a branch."),
    (["Deploy staging.", "Deploy production on Fridays."], "Deploy staging and production on Fridays."),
    (["Lint and test in CI."], "Lint. Test in CI."),
    (["Anna owned the parser."], "Anna owns the parser."),
    (["Run tests in Docker for Windows."], "For Windows, run tests in Docker."),
    (["Put tests for parsers in docs for users."], "Put tests for users in docs for parsers."),
    (["Use tabs.", "Use tabs in Makefiles."], "Use tabs in Makefiles."),
    (["Anna blocks Ben.", "Ben blocks Anna."], "Anna blocks Ben."),
    (["Is the API stable?"], "The API is stable."),
    (["Run `a -D`."], "Run `a -d`."),
    (["The release is at least 3 weeks away."], "The release is 3 weeks away."),
    (["Deploy staging on Fridays, production on Mondays."], "Deploy staging on Mondays, production on Fridays."),
    (["The flag was deprecated in May."], "The flag is deprecated in May."),
    (["We deploy about 5 times."], "We deploy 5 times."),
]


def memory(slug: str, body: str, description: str = "") -> Memory:
    later = NOW + timedelta(days=len(slug))
    return Memory(slug=slug, name=slug, description=description, body=body, created=NOW, updated=later)


def made_of(memories: list[Memory], body: str) -> str:
    """What becomes of memories that a model puts into these words."""
    ids = [one.slug for one in memories]
    answer: dict[str, object] = {"keep": []}
    if len(ids) > 1:
        answer["merge"] = [{"ids": ids, "name": "n", "description": "", "body": body, "type": "project"}]
    else:
        answer["rewrite"] = [{"id": ids[0], "description": "", "body": body}]
    plan = read_consolidation(json.dumps(answer), memories)
    return [*plan.adds, *plan.puts.values()][0].body


@pytest.mark.parametrize(("sources", "body"), HONEST)
def test_what_only_joins_moves_or_drops_what_is_said_twice_is_taken(sources: list[str], body: str) -> None:
    assert made_of([memory(f"m{number}", text) for number, text in enumerate(sources)], body) == body


@pytest.mark.parametrize(("sources", "body"), WRONG)
def test_what_says_something_else_or_less_is_refused(sources: list[str], body: str) -> None:
    with pytest.raises(InvalidAnswer, match="nothing was changed"):
        made_of([memory(f"m{number}", text) for number, text in enumerate(sources)], body)


def test_a_fact_that_only_a_description_has_is_not_lost() -> None:
    told = memory("m", "Anna owns billing.", "The port of billing is 8443")
    with pytest.raises(InvalidAnswer, match="8443"):
        made_of([told], "Anna owns billing.")
    assert made_of([told], "Anna owns billing. The port of billing is 8443.")


WORDS = st.lists(
    st.sampled_from(
        [
            *("Anna", "Ben", "owns", "port", "80", "443", "the", "is", "in", "on", "for", "by", "and", "but", "not"),
            *("if", "or", "it", "CI", "`make`", ",", ".", ":", ";", "\n", "may", "yesterday", "tests", "runs"),
        ]
    ),
    min_size=1,
    max_size=14,
).map(" ".join)


@given(WORDS)
def test_every_text_bears_itself_out(text: str) -> None:
    if any(map(str.isalnum, text)):
        assert made_of([memory("m", text)], text) == text


@given(st.permutations(["Anna", "Ben", "80", "443"]), st.sampled_from([". ", "; ", " and ", ", ", ", and ", ": "]))
def test_what_belongs_to_whom_is_not_changed(words: list[str], between: str) -> None:
    a, b, c, d = words
    said, turned = (f"{x} owns port {y}{between}{v} owns port {w}." for x, y, v, w in ((a, b, c, d), (a, d, c, b)))
    with pytest.raises(InvalidAnswer):
        made_of([memory("m", said)], turned)
