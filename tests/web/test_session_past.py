"""What a page shows of the past of a session is what the model was really shown, and what the log really says."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from outlive.agent import Session
from outlive.agent.recall import pages_of
from outlive.context.engine import Engine
from outlive.context.passes.departures import unit_departures
from outlive.context.rendering import OPENING
from outlive.events import AssistantSaid, Compacted, Event, PlanChanged, SessionStarted, StateShown, UsageReported
from outlive.messages import Message, Text, ToolCall, ToolResult
from outlive.stores.logs.reading import full_log
from outlive.web.sessions.past.replay import ReplayedPast, rows_before
from outlive.web.sessions.past.rows import ViewRow
from outlive.web.sessions.window import BANDS, WindowOverTime
from tests.context.test_provider_summary import Driven
from tests.web.made import answer, of, started, store_in, talked
from tests.web.server import WebServer

ROUNDING = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    talked(folder)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[WebServer]:
    server = WebServer(folder)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def events(folder: Path) -> list[Event]:
    return list(store_in(folder).read("talk").events)


def passes_in(events: Iterable[Event]) -> list[Compacted]:
    return [event for event in events if isinstance(event, Compacted)]


def texts_of(messages: Iterable[Message]) -> list[str]:
    """All texts that were sent, in order."""
    blocks = (block for message in messages for block in message.blocks)
    found = [block.text for block in blocks if isinstance(block, Text | ToolResult)]
    return [text for text in found if text != OPENING]


def shown_in(rows: Iterable[ViewRow]) -> list[str]:
    return [row.text for row in rows if row.kind not in ("system", "calls")]


def test_the_view_at_each_request_is_what_was_sent(tmp_path: Path) -> None:
    """Also after a pass was taken back, and where everything after an event was."""
    sent: dict[int, list[str]] = {}

    def play(numbers: range) -> None:
        for number in numbers:
            messages = answer(session, number)
            said = next(e.id for e in reversed(session.events) if isinstance(e, AssistantSaid))
            sent[said] = texts_of(messages)

    with started(tmp_path) as session:
        play(range(14))
        session.undo_pass()
        play(range(14, 20))
        last = session.last_event
        play(range(20, 26))
        session.undo_to(last)
        play(range(26, 34))
    log = store_in(tmp_path).read("talk").events
    past = ReplayedPast()
    past.follow(log)
    taken_back = {id for id in sent if last < id and id < max(sent) and id not in _in_force(log)}
    assert len(passes_in(log)) > 3
    assert taken_back
    for said, texts in sent.items():
        rows = rows_before(log, said) if said in taken_back else past.rows_before(said)
        assert shown_in(rows) == texts, f"before event {said}"


def test_the_view_holds_the_summary_of_a_provider_where_it_was_sent() -> None:
    driven = Driven()
    requests = list(driven.play(80))
    said = [event.id for event in driven.log if isinstance(event, AssistantSaid)]
    past = ReplayedPast()
    past.follow(driven.log)
    assert any(event.digest_after for event in driven.made)
    for event, request in zip(said, requests, strict=True):
        thinking = [row for row in past.rows_before(event) if row.label not in ("thinking", "the provider's summary")]
        assert shown_in(thinking) == texts_of(request.messages), f"before event {event}"


def _in_force(log: Iterable[Event]) -> set[int]:
    engine = Engine(200_000)
    engine.extend(log)
    return {event.id for event in engine.events}


def test_the_bands_of_each_request_are_what_the_engine_counts(tmp_path: Path) -> None:
    counted: list[dict[str, int]] = []
    with started(tmp_path) as session:
        for number in range(30):
            if number == 20:
                session.undo_pass()
            if number % 10 == 0:
                session.user_said(f"Please go through part {number}.")
            session.log(PlanChanged, progress=f"part {number} is next")
            session.next_request()
            counted.append(session.engine.kinds())
            call = ToolCall(f"call_{number}", "read_file", {"path": f"src/module_{number}.py"})
            session.assistant_said((Text("I look."), call))
            session.tool_finished(call.id, "def handler(request): return 1\n" * 120)
    log = store_in(tmp_path).read("talk").events
    window = WindowOverTime()
    for event in log:
        window.take(event)
    assert passes_in(log)
    for column, kinds in zip(window.columns, counted, strict=True):
        for band, tokens in zip(BANDS, column.bands, strict=True):
            expected = kinds.get(band, 0) + (kinds.get("tools", 0) if band == "system" else 0)
            assert tokens == pytest.approx(expected, abs=ROUNDING), (column.event, band)


def test_a_column_has_the_providers_count_and_the_cache(server: WebServer, events: list[Event]) -> None:
    found = server.json(of(server, "talk", "/window"))
    columns = [dict(zip(found["fields"], row, strict=True)) for row in found["columns"]]
    assert len(columns) == 24
    assert [event for column in columns for event in column["passes"]] == [event.id for event in passes_in(events)]
    for column in columns:
        assert column["counted"]
        assert sum(column["bands"]) == column["tokens"] == column["read"] + column["written"] + column["fresh"]


@pytest.mark.parametrize(
    ("gap", "model", "read", "reason"),
    [
        (10.0, "m", 9_900, ""),
        (10.0, "m", 100, "changed"),
        (1_000.0, "m", 0, "expired"),
        (10.0, "other", 0, "model"),
    ],
)
def test_a_request_that_rewrote_what_had_been_sent_says_why(gap: float, model: str, read: int, reason: str) -> None:
    window = WindowOverTime()
    said = [
        AssistantSaid(id=2, time=1.0, blocks=(), model="m"),
        AssistantSaid(id=4, time=1.0 + gap, blocks=(), model=model),
    ]
    used = [
        UsageReported(id=3, time=1.0, of=2, input=0, cache_write=10_000),
        UsageReported(id=5, time=1.0 + gap, of=4, input=0, cache_write=10_200 - read, cache_read=read),
    ]
    for event in (SessionStarted(id=1, time=0.0, session="s"), said[0], used[0], said[1], used[1]):
        window.take(event)
    first, second = window.columns
    assert (first.reason, first.rewrote) == ("", 0)
    assert (second.reason, second.rewrote) == (reason, 10_000 - read if reason else 0)


def test_a_provider_without_a_cache_has_no_misses() -> None:
    window = WindowOverTime()
    for id in (1, 3, 5):
        window.take(AssistantSaid(id=id, time=float(id), blocks=()))
        window.take(UsageReported(id=id + 1, time=float(id), of=id, input=10_000))
    assert [column.reason for column in window.columns] == ["", "", ""]


def test_the_rows_of_a_receipt_add_up_and_hold_the_users_words(server: WebServer, events: list[Event]) -> None:
    for event in passes_in(events):
        receipt = server.json(of(server, "talk", f"/passes/{event.id}"))["receipt"]
        assert sum(receipt["kinds_before"].values()) == receipt["before"]
        assert sum(receipt["kinds_after"].values()) == receipt["after"]
        assert receipt["kinds_after"]["user"] > 0


def test_the_users_words_and_the_state_block_do_not_leave_in_a_pass(server: WebServer, events: list[Event]) -> None:
    for event in passes_in(events):
        pairs = server.json(of(server, "talk", f"/passes/{event.id}/rows?limit=400"))["pairs"]
        words = [pair["change"] for pair in pairs if pair.get("before", pair.get("after"))["kind"] == "user"]
        assert words
        assert "left" not in words
        states = [pair["change"] for pair in pairs if pair.get("after", {}).get("kind") == "state"]
        assert states in (["changed"], ["new"]), event.id
        done = [pair["change"] for pair in pairs if pair.get("before", {}).get("label") == "what was done"]
        assert set(done) <= {"same", "changed"}


def test_a_pass_has_its_receipt_and_what_left(server: WebServer, events: list[Event]) -> None:
    engine = Engine(24_000)
    for event in events:
        if isinstance(event, Compacted):
            found = server.json(of(server, "talk", f"/passes/{event.id}"))
            assert found["receipt"]["before"] == event.receipt.before
            assert found["receipt"]["handles"] == [f"@h{page}" for page in event.receipt.handles]
            left = unit_departures(event, engine.projection, engine.history.units)
            assert [(u["unit"], u["how"], u["before"]) for u in found["left"]] == [
                (unit.unit, unit.how, unit.before) for unit in left
            ]
            assert found["newest"] == (event is passes_in(events)[-1])
        engine.append(event)


def test_before_and_after_hold_every_block_of_both_views(server: WebServer, events: list[Event]) -> None:
    event = passes_in(events)[-1]
    found = server.json(of(server, "talk", f"/passes/{event.id}/rows?limit=400"))
    before = [pair["number"] for pair in found["pairs"] if pair["change"] != "new"]
    engine = Engine(24_000)
    engine.extend(one for one in events if one.id < event.id)
    assert len(before) == sum(len(message.blocks) for message in engine.shown()) + 1  # and the system prompt
    whole = {
        side: [
            server.json(of(server, "talk", f"/passes/{event.id}/text?row={pair['number']}&side={shown}"))["text"]
            for pair in found["pairs"]
            for shown in ["before" if pair["change"] == "same" else side]
            if shown in pair and pair[shown]["kind"] not in ("system", "calls")
            if "rendered again" not in pair[shown]["label"]  # for the request after the pass
        ]
        for side in ("before", "after")
    }
    assert whole["before"] == texts_of(engine.shown())
    engine.append(event)
    # the page also shows the state block that comes with the next request
    told = next((one.text for one in events if one.id > event.id and isinstance(one, StateShown)), "")
    assert [text for text in whole["after"] if text != told] == texts_of(engine.shown())


def test_a_kept_line_is_explained_by_names_that_it_is_the_last_mention_of(
    server: WebServer, events: list[Event]
) -> None:
    event = passes_in(events)[0]
    found = server.json(of(server, "talk", f"/passes/{event.id}/kept"))
    shown = "\n".join([event.digest, *(edit.text for edit in event.edits)])
    explained = [line for line in found["lines"] if any(name["last"] for name in line["names"])]
    assert explained
    for line in explained:
        assert line["text"] in " ".join(shown.split())
        assert line["score"] > 0
        for name in line["names"]:
            assert name["name"] in line["text"] or not name["last"]


def test_a_handle_gives_back_the_exact_bytes(server: WebServer, events: list[Event]) -> None:
    pages = pages_of(events)
    handles = {page for event in passes_in(events) for page in event.receipt.handles}
    assert handles
    for number in handles:
        answer = server.get(of(server, "talk", f"/handles/@h{number}/bytes"))
        assert answer.content == pages.get(number).text.encode()
        assert answer.headers["content-type"].startswith("text/plain")
        assert server.json(of(server, "talk", f"/handles/h{number}"))["bytes"] == len(answer.content)


def test_rows_of_a_view_come_in_pages_and_whole_on_request(server: WebServer, events: list[Event]) -> None:
    path = of(server, "talk", "/view?request=24&limit=5")
    found = server.json(path)
    rows: list[dict[str, Any]] = found["rows"]
    while found["next"]:
        found = server.json(f"{path}&skip={found['next']}")
        rows += found["rows"]
    assert [row["number"] for row in rows] == list(range(found["total"]))
    cut = next(row for row in rows if row["text"].get("cut"))
    whole = server.json(of(server, "talk", f"/view/text?event={found['event']}&row={cut['number']}"))["text"]
    assert len(whole) == cut["text"]["size"]
    assert sum(found["kinds"].values()) == found["estimated"] == sum(row["tokens"] for row in rows)


def test_the_engine_of_a_log_follows_it(folder: Path, server: WebServer) -> None:
    talked(folder, 3, "growing")
    assert server.json(of(server, "growing", "/view"))["requests"] == 3
    with Session.resume(store_in(folder), "growing", window=24_000) as session:
        answer(session, 3)
    found = server.json(of(server, "growing", "/view"))
    assert found["requests"] == 4
    assert found["event"] == next(
        e.id for e in reversed(full_log(store_in(folder), "growing").events) if isinstance(e, AssistantSaid)
    )
