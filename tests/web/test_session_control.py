"""Undo and fork from the page, by the rules of the command line; and the words of all logs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outlive.agent import Session
from outlive.agent.context_window import WINDOW_LABEL
from outlive.events import Checkpointed, Compacted, Forked, GoalSet, Undone
from outlive.messages import Text
from outlive.stores.logs.names import subagent_id
from outlive.web.sessions import search
from tests.web.made import long_log, of, started, store_in, talked
from tests.web.server import WebServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebServer]:
    server = WebServer(tmp_path, "--control")
    yield server
    server.stop()


def test_without_control_nothing_is_changed(tmp_path: Path) -> None:
    talked(tmp_path, 12)
    server = WebServer(tmp_path)
    before = store_in(tmp_path).path("talk").read_bytes()
    for action in ("undo", "fork"):
        refused = server.post(of(server, "talk", f"/{action}"))
        assert refused.status_code == 403
        assert refused.json()["error"]["code"] == "read_only"
        assert "--control" in refused.json()["error"]["hint"]
    server.stop()
    assert store_in(tmp_path).path("talk").read_bytes() == before
    assert len(store_in(tmp_path).sessions()) == 1


def test_the_newest_pass_is_taken_back_and_only_that(server: WebServer, tmp_path: Path) -> None:
    passes = [event.id for event in talked(tmp_path, 24) if isinstance(event, Compacted)]
    stale = server.post(of(server, "talk", "/undo"), {"pass": passes[0]})
    assert stale.status_code == 400
    assert str(passes[-1]) in stale.json()["error"]["message"]
    assert server.post(of(server, "talk", "/undo"), {"pass": passes[-1]}).json() == {"undone": passes[-1]}
    last = store_in(tmp_path).read("talk").events[-1]
    assert isinstance(last, Undone)
    found = server.json(of(server, "talk", f"/passes/{passes[-1]}"))
    assert found["undone"]
    assert not found["newest"]


def test_a_session_that_another_process_holds_is_refused_with_its_message(server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 12)
    with Session.resume(store_in(tmp_path), "talk"):
        refused = server.post(of(server, "talk", "/undo"))
    assert refused.status_code == 409
    assert "open in another process" in refused.json()["error"]["message"]


def test_a_session_without_a_pass_has_nothing_to_undo(server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 1)
    refused = server.post(of(server, "talk", "/undo"))
    assert refused.status_code == 409
    assert "no pass" in refused.json()["error"]["message"]


def test_a_fork_goes_on_from_the_event(server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 4)
    made = server.post(of(server, "talk", "/fork"), {"at": 7, "name": "another way"}).json()
    assert made == {"session": "another way"}
    first = store_in(tmp_path).read("another way").events[0]
    assert isinstance(first, Forked)
    assert (first.session, first.at) == ("talk", 7)
    assert server.post(of(server, "talk", "/fork"), {"at": 7, "name": "another way"}).status_code == 409
    assert server.post(of(server, "talk", "/fork"), {"at": 99_999}).status_code == 409
    assert server.post(of(server, "talk", "/fork"), {"at": "x"}).status_code == 400


def test_words_are_found_in_all_logs_with_their_events(server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 12, "one")
    talked(tmp_path, 3, "two")
    hits = searched(server, "VALUE_11007")
    assert {hit["session"] for hit in hits} == {"one"}
    event = server.json(of(server, "one", f"/text?event={hits[0]['event']}"))
    assert "value_11007" in event["text"]
    assert {hit["session"] for hit in searched(server, "go+through+part")} == {"one", "two"}
    assert not searched(server, "nobody+said+this")
    assert not searched(server, "")


def searched(server: WebServer, words: str) -> list[Any]:
    """What is found in all logs. A search ends within its budget, and says where to go on."""
    hits, start = [], ""
    while start is not None:
        found = server.json(f"/api/w/{server.workspace}/search?q={words}&from={start}")
        hits += found["hits"]
        start = found["next"]
    assert found["total"] == 2
    return hits


def test_a_search_stops_within_its_budget_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_in(tmp_path)
    for number in range(6):
        store.replace(f"log-{number}", long_log(20))
    monkeypatch.setattr(search, "BUDGET_SECONDS", -1.0)
    found, start, pages = [], "", 0
    while True:
        page = search.search_sessions(store, "part_5", start)
        found += [hit.session for hit in page.hits]
        pages += 1
        if page.next is None:
            break
        start = page.next
    assert pages == 6
    assert sorted(set(found)) == [f"log-{number}" for number in range(6)]


def test_subagents_are_listed_below_the_session_that_started_them(server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 1, "parent")
    child = subagent_id("parent")
    talked(tmp_path, 1, child)
    with started(tmp_path, subagent_id("nobody")):
        pass
    listed = server.sessions()
    by_id = {one["info"]["id"]: [sub["info"]["id"] for sub in one["subagents"]] for one in listed["sessions"]}
    assert by_id.pop("parent") == [child]
    assert list(by_id.values()) == [[]]
    assert listed["total"] == 2


def test_a_summary_has_the_window_of_the_settings_and_invents_none(tmp_path: Path) -> None:
    talked(tmp_path, 2)
    with Session.resume(store_in(tmp_path), "talk") as session:
        session.log(Checkpointed, label=WINDOW_LABEL, data={"tokens": 32_000, "origin": "as the server says"})
    talked(tmp_path, 2, "unknown")
    for settings, windows in (("", (32_000, 0)), ("[context]\nwindow = 24000\n", (24_000, 24_000))):
        home = tmp_path / ".home"
        home.mkdir(exist_ok=True)
        (home / "outlive.toml").write_text(settings)
        server = WebServer(tmp_path, home=home)
        found = (server.json(of(server, session, "/summary"))["window"] for session in ("talk", "unknown"))
        assert tuple(found) == windows
        server.stop()


def test_the_list_finds_sessions_by_their_goal_and_search_says_when_there_is_more(
    server: WebServer, tmp_path: Path
) -> None:
    with started(tmp_path, "aimed") as session:
        session.user_said("Hello")
        session.log(GoalSet, goal="Reach the lighthouse")
        for number in range(search.HITS_OF_SESSION + 1):
            session.assistant_said((Text(f"needle {number}"),))
    path = f"/api/w/{server.workspace}"
    server.sessions()
    assert [one["info"]["id"] for one in server.sessions("?q=lighthouse")["sessions"]] == ["aimed"]
    hits = server.json(f"{path}/search?q=needle")["hits"]
    assert [hit["more"] for hit in hits] == [False] * (search.HITS_OF_SESSION - 1) + [True]
