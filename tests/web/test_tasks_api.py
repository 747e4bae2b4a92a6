"""Tasks over HTTP: the same graph on every engine, changed by the operations and refusals of the graph itself."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from outlive.tasks.graph import TaskGraph
from tests.engines import Engine
from tests.web.server import WebServer

Serve = Callable[..., WebServer]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start servers for a store."""
    started: list[WebServer] = []

    def start(engine: Engine, *options: str) -> WebServer:
        folder = tmp_path / f"project{len(started)}"
        folder.mkdir()
        started.append(WebServer(folder, "--store", engine.url, *options, home=tmp_path / "home"))
        return started[-1]

    yield start
    for server in started:
        server.stop()


def path(server: WebServer, rest: str = "") -> str:
    return f"/api/w/{server.workspace}/tasks{rest}"


def plan(graph: TaskGraph) -> None:
    """1 → 2 → 3, and 4 beside them; 1 is done, 2 is held."""
    graph.create("Write the tokenizer", labels=["core"], priority=1)
    graph.create("Write the parser", labels=["core"], description="Recursive descent.", blocked_by=[1])
    graph.create("Test the parser", labels=["tests"], blocked_by=[2])
    graph.create("Pick a licence", owner="ann", priority=4)
    graph.complete(1, result="merged")
    graph.claim(2, owner="worker", ttl=timedelta(hours=1))


def test_every_view_shows_the_same_graph(engine: Engine, serve: Serve) -> None:
    plan(engine.graph())
    server = serve(engine)

    page = server.json(path(server, "?sort=id"))
    assert [(row["id"], row["state"]) for row in page["tasks"]] == [
        (1, "completed"),
        (2, "in_progress"),
        (3, "blocked"),
        (4, "ready"),
    ]
    assert page["facets"]["labels"] == {"core": 2, "tests": 1}
    assert page["facets"]["states"]["ready"] == 1

    columns = server.json(path(server, "/board"))["columns"]
    assert {name: [row["id"] for row in column["tasks"]] for name, column in columns.items()} == {
        "ready": [4],
        "in_progress": [2],
        "blocked": [3],
        "done": [1],
    }

    picture = server.json(path(server, "/graph?finished=1"))
    assert {node["id"] for node in picture["nodes"]} == {1, 2, 3, 4}
    assert [edge[:2] for edge in picture["layout"]["edges"]] == [[1, 2], [2, 3]]
    assert picture["critical"] == [2, 3]
    assert {node["id"] for node in server.json(path(server, "/graph"))["nodes"]} == {2, 3, 4}

    changes = server.json(path(server, "/history"))
    assert [(change["op"], change["task"]) for change in changes["changes"][:2]] == [("claim", 2), ("complete", 1)]
    assert server.json(path(server, "/1/history"))["total"] == 2


def test_a_task_is_told_in_full(engine: Engine, serve: Serve) -> None:
    plan(engine.graph())
    server = serve(engine)
    task = server.json(path(server, "/2"))
    assert task["description"]["text"] == "Recursive descent."
    assert [(one["id"], one["state"]) for one in task["needs"]] == [(1, "completed")]
    assert [(one["id"], one["state"]) for one in task["blocks"]] == [(3, "blocked")]
    assert task["makes_ready"] == [3]
    assert task["holds_up"] == 1
    assert task["lease"]["owner"] == "worker"
    assert 0 < task["lease"]["expires"] - task["now"] <= 3600  # by the store's clock
    assert server.json(path(server, "/1"))["result"]["text"] == "merged"


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("?state=open&sort=id", [2, 3, 4]),
        ("?state=done", [1]),
        ("?state=ready", [4]),
        ("?state=blocked", [3]),
        ("?label=core&sort=id", [1, 2]),
        ("?owner=ann", [4]),
        ("?text=PARSER&sort=id", [2, 3]),
        ("?sort=priority", [1, 2, 3, 4]),
        ("?sort=id&descending=1", [4, 3, 2, 1]),
        ("?sort=id&skip=1&limit=2", [2, 3]),
    ],
)
def test_the_table_is_filtered_sorted_and_paged(shared: WebServer, query: str, ids: list[int]) -> None:
    assert [row["id"] for row in shared.json(path(shared, query))["tasks"]] == ids


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """A server that only shows, for tests that change nothing."""
    folder = tmp_path_factory.mktemp("shared")
    engine = Engine("files", f"files:{folder / '.tasks'}")
    plan(engine.graph())
    engine.close()
    server = WebServer(folder)
    yield server
    server.stop()


def test_control_changes_tasks_through_the_graph(engine: Engine, serve: Serve) -> None:
    server = serve(engine, "--control")
    graph = engine.graph()

    def post(rest: str, **body: Any) -> Any:
        answer = server.post(path(server, rest), body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    assert post("", subject="First", labels=["a"], priority=0)["task"]["id"] == 1
    assert post("", subject="Second", blockedBy=["1"])["task"]["state"] == "blocked"
    post("/2/edit", subject="Second, better", description="In full.", labels=["b"], priority=3)
    edited = graph.get(2)
    assert (edited.subject, edited.description, edited.labels, edited.priority) == (
        "Second, better",
        "In full.",
        ("b",),
        3,
    )
    post("/1/claim", owner="ann", seconds=600)
    lease = graph.get(1).lease
    assert lease is not None
    assert lease.owner == "ann"
    post("/1/release")
    assert graph.get(1).ready
    done = post("/1/complete", result="it works")
    assert [row["id"] for row in done["unblocked"]] == [2]
    assert graph.get(1).result == "it works"
    post("/1/reopen")
    assert graph.get(2).blocked_by == (1,)
    post("/2/edit", remove_blocked_by=["1"])
    assert graph.get(2).depends_on == ()
    post("/2/cancel", reason="not needed")
    assert graph.get(2).status == "cancelled"
    assert {change.actor for change in graph.history(2)} == {"web"}


def test_what_the_graph_refuses_is_refused_in_its_words(engine: Engine, serve: Serve) -> None:
    graph = engine.graph()
    plan(graph)
    server = serve(engine, "--control")
    before = graph.find()

    def refused(rest: str, **body: Any) -> dict[str, str]:
        answer = server.post(path(server, rest), body)
        assert answer.status_code in (404, 409), answer.text
        error: dict[str, str] = answer.json()["error"]
        return error

    cycle = refused("/2/edit", add_blocked_by=[3])
    assert cycle["code"] == "cycle"
    assert "2 -> 3 -> 2" in cycle["message"]
    assert cycle["hint"]
    assert "blocked by 2" in refused("/3/claim", owner="ann")["message"]
    assert refused("/3/complete")["code"] == "complete_blocked"
    assert "held by 'worker'" in refused("/2/claim", owner="ann")["message"]
    assert "blank" in refused("", subject="  ")["message"]
    assert refused("/99/complete")["code"] == "unknown_task"
    assert refused("/4/claim", owner="")["code"] == "invalid_task"
    assert refused("/4/claim", owner="ann", seconds=10**8)["code"] == "lease_length"
    assert graph.find() == before
    forced = server.post(path(server, "/3/complete"), {"force": True})
    assert forced.json()["task"]["state"] == "completed"


CHANGES = ("", "/4/edit", "/4/claim", "/2/release", "/4/complete", "/1/reopen", "/4/cancel")


@pytest.mark.parametrize("rest", CHANGES)
def test_without_control_nothing_is_changed(shared: WebServer, rest: str) -> None:
    before = shared.json(path(shared, "/history"))["total"]
    answer = shared.post(path(shared, rest), {"subject": "Mine"})
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "read_only"
    assert "--control" in answer.json()["error"]["hint"]
    assert shared.json(path(shared, "/history"))["total"] == before


@pytest.mark.parametrize(
    ("rest", "body"),
    [
        ("/4/edit", {"status": "completed"}),
        ("/4/edit", {"priority": "high"}),
        ("/4/claim", {}),
        ("/4/claim", {"owner": "ann", "seconds": 0}),
        ("/4/complete", {"force": "yes"}),
        ("", {"subject": "x", "id": 7}),
    ],
)
def test_a_form_with_other_fields_is_refused(files: Engine, serve: Serve, rest: str, body: dict[str, Any]) -> None:
    plan(files.graph())
    server = serve(files, "--control")
    assert server.post(path(server, rest), body).status_code == 400


def test_questions_that_make_no_sense_are_refused(shared: WebServer) -> None:
    assert shared.get(path(shared, "?sort=owner")).status_code == 400
    assert shared.get(path(shared, "?skip=x")).status_code == 400
    assert shared.get(path(shared, "/2/text?field=labels")).status_code == 400
    assert shared.get(path(shared, "/99")).status_code == 404
    assert shared.post(path(shared, "/2/explode")).status_code == 403


def test_the_layout_stays_while_tasks_are_worked_on(files: Engine, serve: Serve) -> None:
    graph = files.graph()
    plan(graph)
    server = serve(files)
    first = server.json(path(server, "/graph?finished=1"))
    known = path(server, f"/graph?finished=1&known={first['layout']['id']}")
    graph.complete(2)
    later = server.json(known)
    assert later["layout"] is None
    assert {node["id"]: node["state"] for node in later["nodes"]}[3] == "ready"
    graph.update(4, add_blocked_by=[3])
    assert [3, 4] in [edge[:2] for edge in server.json(known)["layout"]["edges"]]


def test_an_empty_store_has_an_empty_picture(files: Engine, serve: Serve) -> None:
    server = serve(files)
    picture = server.json(path(server, "/graph?finished=1"))
    assert (picture["nodes"], picture["critical"], picture["total"]) == ([], [], 0)


def test_a_long_text_is_sent_in_parts(files: Engine, serve: Serve) -> None:
    text = "".join(f"line {number}\n" for number in range(6_000))
    files.graph().create("Long", description=text)
    server = serve(files)
    part = server.json(path(server, "/1"))["description"]
    assert part["length"] == len(text)
    whole = part["text"]
    assert len(whole) < len(text)
    while part["next"]:
        part = server.json(path(server, f"/1/text?field=description&skip={part['next']}"))
        whole += part["text"]
    assert whole == text


HOSTILE = {
    "subject": "<script>alert(1)</script>\u202egpj.exe\u0007",
    "description": "\x1b]0;title\x07 api_key = sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa \x00end",
    "labels": ["<b>\u2067x"],
}


def test_hostile_texts_are_made_harmless_and_secrets_masked(files: Engine, serve: Serve) -> None:
    graph = files.graph()
    graph.create("Honest")
    file = files.path / "task_1.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | HOSTILE))
    (files.path / "task_2.json").write_text("{ not JSON")
    server = serve(files)
    answer = server.get(path(server, "/1")).text
    page = server.get(path(server)).text
    picture = server.get(path(server, "/graph")).text
    for text in (answer, page, picture):
        assert "\\u0007" not in text
        assert "\u202e" not in text
        assert "\u2067" not in text
    assert "sk-ant-api03" not in answer
    assert "task_2.json" in " ".join(json.loads(page)["left_out"])
