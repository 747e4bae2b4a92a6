"""One session over HTTP: its conversation in pages, its texts, and its stream."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from outlive.agent.log.forking import fork
from outlive.events import (
    AssistantSaid,
    Compacted,
    Denial,
    Event,
    PermissionAnswered,
    PermissionAsked,
    SessionStarted,
    ToolFinished,
    UserSaid,
)
from outlive.messages import Image, Text, ToolCall
from tests.engines import worker_environment
from tests.web.made import answer, long_log, of, started, store_in, streamed, talked
from tests.web.server import WebServer

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WRITER = """
import sys
from pathlib import Path
from tests.web.made import started, answer
with started(Path(sys.argv[1]), "live") as session:
    for number in range(int(sys.argv[2])):
        answer(session, number, lines=5)
        print(number, flush=True)
        sys.stdin.readline()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[WebServer]:
    server = WebServer(folder)
    yield server
    server.stop()


def page(server: WebServer, session: str, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = server.json(of(server, session, f"/items{query}"))["page"]
    return found


def everything(server: WebServer, session: str) -> list[dict[str, Any]]:
    """All items, by pages from the newest on."""
    found = page(server, session, "?limit=7")
    items: list[dict[str, Any]] = found["items"]
    while found["older"]:
        found = page(server, session, f"?limit=7&before={items[0]['id']}")
        items = [*found["items"], *items]
    return items


def test_pages_hold_each_item_once_in_both_directions(server: WebServer, folder: Path) -> None:
    events = talked(folder, 12, "paged")
    items = everything(server, "paged")
    ids = [item["id"] for item in items]
    assert ids == sorted(set(ids))
    assert {event.id for event in events if isinstance(event, (UserSaid, AssistantSaid, Compacted))} <= set(ids)
    forward = page(server, "paged", f"?after={ids[0]}&limit=200")["items"]
    assert [item["id"] for item in forward] == ids[1:]
    around = page(server, "paged", f"?around={ids[20]}&limit=9")["items"]
    assert ids[20] in [item["id"] for item in around]


def test_a_result_is_part_of_its_call(server: WebServer, folder: Path) -> None:
    call = ToolCall("c1", "edit_file", {"path": "a.py", "old_text": "x = 1\n", "new_text": "x = 2\n"})
    with started(folder, "calls") as session:
        session.user_said("Change x.")
        session.assistant_said((Text("Now."), call, ToolCall("c2", "bash", {"command": "rm -r /"})))
        session.tool_finished("c1", "changed", seconds=1.5)
        session.tool_finished("c2", "not run", is_error=True, denied=Denial(by="rule", rules=("bash(rm *)",)))
        session.assistant_said((ToolCall("c3", "bash", {"command": "make"}),))
    calls = [part["call"] for item in everything(server, "calls") for part in item.get("parts", ()) if "call" in part]
    edit, refused, waiting = calls
    assert edit["diff"] == ["-x = 1", "+x = 2"]
    assert edit["result"]["text"]["text"] == "changed"
    assert refused["status"] == "denied"
    assert refused["result"]["rules"] == ["bash(rm *)"]
    assert waiting["status"] == "waiting"


def test_what_was_taken_back_is_marked(server: WebServer, folder: Path) -> None:
    with started(folder, "undone") as session:
        for number in range(12):
            answer(session, number)
        undone = session.undo_pass().target
        said = session.user_said("This goes.").id
        session.assistant_said((Text("Gone."),))
        session.undo_to(said - 1)
        kept = session.user_said("This stays.").id
    marked = {item["id"]: item.get("undone", False) for item in everything(server, "undone")}
    assert marked[undone]
    assert marked[said]
    assert marked[said + 1]
    assert not marked[kept]
    assert sum(marked.values()) == 3


def test_a_fork_holds_the_past_that_it_shares(server: WebServer, folder: Path) -> None:
    events = talked(folder, 6, "source")
    new = fork(store_in(folder), "source", at=10, name="forked")
    ids = [item["id"] for item in everything(server, new)]
    assert [id for id in ids if id <= 10] == [i["id"] for i in everything(server, "source") if i["id"] <= 10]
    assert ids[-1] == 11
    assert len(server.json(of(server, new, "/window"))["columns"]) == sum(
        isinstance(event, AssistantSaid) for event in events if event.id <= 10
    )


def test_a_damaged_line_is_named_and_the_rest_is_shown(server: WebServer, folder: Path) -> None:
    talked(folder, 4, "damaged")
    path = store_in(folder).path("damaged")
    lines = path.read_bytes().split(b"\n")
    lines[5] = b'{"id": broken'
    path.write_bytes(b"\n".join(lines))
    found = server.json(of(server, "damaged", "/items"))
    assert "line 6" in found["damage"][0]
    assert len(found["page"]["items"]) > 5


def test_hostile_text_is_bounded_and_harmless(server: WebServer, folder: Path) -> None:
    hostile = "<script>alert(1)</script>\x00\u202eabc\x1b[2J"
    huge = hostile + "x" * 10_000_000
    with started(folder, "hostile") as session:
        session.user_said(hostile)
        session.assistant_said((ToolCall("c1", f"<b>{hostile}", {"command": hostile * 100}),))
        session.tool_finished("c1", huge)
    response = server.get(of(server, "hostile", "/items"))
    assert len(response.content) < 60_000
    result = response.json()["page"]["items"][-1]["parts"][0]["call"]["result"]
    assert result["text"]["size"] == len(huge)
    for char in ("\u202e", "\\u0000", "\x1b"):
        assert char not in response.text
    first = server.json(of(server, "hostile", f"/text?event={result['event']}"))
    assert first["text"].startswith("<script>alert(1)</script>␀�abc␛[2J")
    assert first["next"] == 100_000
    last = server.json(of(server, "hostile", f"/text?event={result['event']}&from=10000000"))
    assert last["next"] is None
    assert len(last["text"]) == len(hostile)


def test_a_picture_is_served_as_what_it_is_and_nothing_else(server: WebServer, folder: Path) -> None:
    with started(folder, "pictures") as session:
        session.user_said((Image("image/png", PIXEL), Image("text/html", PIXEL), Image("image/png", "", "http://x")))
    said = next(item["id"] for item in everything(server, "pictures") if item["kind"] == "user")
    shown, other, absent = (
        server.get(of(server, "pictures", f"/picture?event={said}&block={block}")) for block in range(3)
    )
    assert shown.headers["content-type"] == "image/png"
    assert shown.content.startswith(b"\x89PNG")
    assert other.headers["content-type"] == "application/octet-stream"
    assert other.headers["content-disposition"].startswith("attachment")
    assert absent.status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/items", "/window", "/live", "/view", "/passes/3", "/handles/@h1", "/text?event=1"],
)
def test_an_unknown_session_is_an_error_that_says_so(server: WebServer, path: str) -> None:
    answer = server.get(of(server, "nothing-of-that-name", path))
    assert answer.status_code == 404
    assert "nothing-of-that-name" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "path", ["/text?event=999", "/text?event=2&block=9", "/view?request=0", "/passes/1", "/handles/@h99"]
)
def test_what_is_not_there_is_not_found(server: WebServer, folder: Path, path: str) -> None:
    if not store_in(folder).path("small").exists():
        talked(folder, 1, "small")
    assert server.get(of(server, "small", path)).status_code == 404


def test_a_log_of_ten_thousand_events_comes_in_small_answers(server: WebServer, folder: Path) -> None:
    store_in(folder).replace("long", long_log(10_000))
    items = server.get(of(server, "long", "/items"))
    assert len(items.content) < 100_000
    assert items.json()["page"]["older"] > 4_000
    columns = server.get(of(server, "long", "/window"))
    assert len(columns.content) < 400_000
    assert len(columns.json()["columns"]) == 2_500


class Writer:
    """Another process that goes on with a session when it is told to."""

    def __init__(self, folder: Path, steps: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), str(steps)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=worker_environment(),
            text=True,
        )

    def wait(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline()

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.communicate()
        assert self.process.returncode == 0


def listen(server: WebServer, session: str, headers: dict[str, str], query: str = "") -> Any:
    headers = {"Authorization": f"Bearer {server.token}"} | headers
    return httpx2.stream("GET", server.origin + of(server, session, f"/live{query}"), headers=headers, timeout=60)


def test_a_stream_goes_on_exactly_where_the_last_one_ended(tmp_path: Path) -> None:
    server, writer = WebServer(tmp_path), Writer(tmp_path, 4)
    try:
        writer.wait()
        first = server.json(of(server, "live", "/items"))["page"]
        seen = {item["id"]: item for item in first["items"]}
        last = first["last_event"]
        writer.go_on()
        writer.wait()  # written after the page was read and before the stream begins
        with listen(server, "live", {}, f"?after={last}") as response:
            message = next(streamed(response))
        assert int(message.id) > last
        _take(seen, message.data)
        writer.go_on()
        writer.wait()  # written while nobody listened
        with listen(server, "live", {"Last-Event-ID": message.id}, "?after=0") as response:
            messages = streamed(response)
            second = next(messages)
            assert all(item["id"] > last for item in json.loads(second.data)["items"])
            _take(seen, second.data)
            writer.go_on()
            writer.wait()  # written while somebody listens
            third = next(messages)
            _take(seen, third.data)
            while int(third.id) < server.json(of(server, "live", "/items"))["page"]["last_event"]:
                third = next(messages)
                _take(seen, third.data)
        assert int(message.id) < int(second.id) < int(third.id)
        writer.go_on()
        writer.end()
        assert list(seen.values()) == page(server, "live", "?limit=200")["items"]
    finally:
        writer.process.kill()
        server.stop()


def _take(seen: dict[int, Any], data: str) -> None:
    for item in json.loads(data)["items"]:
        seen[item["id"]] = item


def test_a_reader_that_is_far_behind_is_told_to_read_again(server: WebServer, folder: Path) -> None:
    store_in(folder).replace("far", long_log(2_000))
    with listen(server, "far", {}, "?after=1") as response:
        assert next(streamed(response)).event == "reload"


def test_a_log_that_was_put_in_place_again_is_read_again(server: WebServer, folder: Path) -> None:
    store = store_in(folder)
    store.replace("replayed", long_log(40))
    assert page(server, "replayed")["last_event"] == 40
    store.replace("replayed", long_log(20))
    assert page(server, "replayed")["last_event"] == 20
    assert len(server.json(of(server, "replayed", "/window"))["columns"]) == 5
    with listen(server, "replayed", {"Last-Event-ID": "40"}) as response:
        assert next(streamed(response)).event == "reload"


def test_events_of_a_newer_version_are_shown_as_such(server: WebServer, folder: Path) -> None:
    store = store_in(folder)
    with store.create("newer") as writer:
        writer.append([SessionStarted(id=1, time=1.0, session="newer")])
    with store.path("newer").open("ab") as file:
        file.write(b'{"type":"from_the_future","id":2,"time":2.0,"parent":1}\n')
    assert [item["kind"] for item in everything(server, "newer")] == ["started", "unknown"]


def test_a_result_without_its_call_does_no_harm(server: WebServer, folder: Path) -> None:
    with store_in(folder).create("orphan") as writer:
        writer.append(
            [
                SessionStarted(id=1, time=1.0, session="orphan"),
                ToolFinished(id=2, time=2.0, call_id="nobody", text="lost"),
            ]
        )
    assert len(everything(server, "orphan")) == 1


def test_the_time_of_a_call_is_without_the_wait_for_permission_and_its_diff_is_counted_whole(
    server: WebServer, folder: Path
) -> None:
    call = ToolCall("c1", "write_file", {"path": "big.txt", "content": "line\n" * 400})
    events: list[Event] = [
        SessionStarted(id=1, time=1.0, session="asked"),
        AssistantSaid(id=2, time=2.0, blocks=(call,)),
        PermissionAsked(id=3, time=3.0, call_id="c1", tool="write_file"),
        PermissionAnswered(id=4, time=33.0, call_id="c1", tool="write_file", choice="yes"),
        ToolFinished(id=5, time=35.0, call_id="c1", text="written", seconds=32.0),
    ]
    store_in(folder).replace("asked", events)
    shown = everything(server, "asked")[1]["parts"][0]["call"]
    assert shown["result"]["seconds"] == pytest.approx(2.0)
    assert shown["added"] == 400
