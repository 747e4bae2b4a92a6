"""The lessons over HTTP: real stores, real processes, answers by the engine, and nothing reachable beside them."""

import json
import os
import signal
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from outlive.web.learn.scratch import MOST_VISITORS, Scratches
from tests.engines import ROOT
from tests.web.server import TIMEOUT, WebServer, get

VISITOR = "0123456789abcdef" * 2
OTHER = "f" * 32
POLL = 0.1


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    server = WebServer(tmp_path_factory.mktemp("project"), command="learn")
    yield server
    assert server.stop() == 0


class Lesson:
    """A lesson of one visitor."""

    def __init__(self, server: WebServer, name: str, visitor: str = VISITOR) -> None:
        self.path = f"/api/learn/{visitor}/{name}"
        self.server = server
        self.state: dict[str, Any] = self.ask(self.path + "/start")

    def ask(self, path: str, **form: object) -> Any:
        answer = self.server.post(path, form)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def act(self, op: str, **form: object) -> Any:
        self.state = self.ask(self.path, op=op, **form)
        return self.state

    def until(self, true: Callable[[], bool]) -> None:
        """Look at the lesson again and again until something is true."""
        while not true():
            time.sleep(POLL)
            self.state = self.server.json(self.path)

    def task(self, number: int) -> Any:
        return next(task for task in self.state["tasks"] if task["id"] == number)

    def file(self, number: int) -> Any:
        """The task as it is on disk, read past the server."""
        return json.loads((Path(self.state["folder"]) / f"task_{number}.json").read_text())


@pytest.fixture
def graph(server: WebServer) -> Lesson:
    return Lesson(server, "graph")


@pytest.fixture
def survival(server: WebServer) -> Lesson:
    return Lesson(server, "survival")


def where(lesson: Lesson, key: str) -> str:
    return str(next(fact["where"] for fact in lesson.state["facts"] if fact["key"] == key))


# -- lesson 1


def test_completing_unblocks_dependents_in_the_files_on_disk(graph: Lesson) -> None:
    assert graph.file(2)["blockedBy"] == [1]
    done = graph.act("complete", task=1)["done"]
    assert done["unblocked"] == [2, 3]
    assert graph.file(1)["status"] == "completed"
    assert graph.file(2)["blockedBy"] == []
    for name, text in graph.state["files"].items():
        assert (Path(graph.state["folder"]) / name).read_text() == text


def test_the_refusals_are_those_of_the_engine_and_change_nothing(graph: Lesson) -> None:
    before = graph.state["files"]
    refused = graph.act("complete", task=7)["refused"]
    assert (refused["code"], refused["message"]) == ("complete_blocked", "cannot complete task 7: blocked by 5, 6")
    refused = graph.act("depend", task=1, on=7)["refused"]
    assert refused["code"] == "cycle"
    assert "1 -> 7 -> 6 -> 2 -> 1" in refused["message"]
    assert graph.act("complete", task=99)["refused"]["code"] == "unknown_task"
    assert graph.state["files"] == before


def test_reopening_a_blocker_blocks_again(graph: Lesson) -> None:
    for number in (1, 2, 3):
        graph.act("complete", task=number)
    assert graph.task(4)["state"] == "ready"
    assert graph.act("reopen", task=2)["done"]["blocked"] == [4, 6]
    assert graph.file(4)["blockedBy"] == [2]


def test_a_killed_worker_loses_its_task_when_the_lease_ends_and_its_token_is_stale(graph: Lesson) -> None:
    graph.act("start", worker="ada")
    (ada,) = graph.state["workers"]
    os.kill(ada["pid"], 0)
    assert graph.task(1)["lease"]["owner"] == "ada"
    graph.act("kill", worker="ada")
    with pytest.raises(ProcessLookupError):
        os.kill(ada["pid"], signal.SIGKILL)
    assert graph.file(1)["owner"] == "ada"
    graph.until(lambda: graph.task(1)["lease"] is None)  # real time: the lease has to run out
    assert graph.file(1)["owner"] is None
    assert graph.state["history"][0]["note"] == "the lease of ada ran out"
    graph.act("start", worker="bob")
    assert graph.file(1)["owner"] == "bob"
    refused = graph.act("late", worker="ada")["refused"]
    assert refused["code"] == "lease"
    assert "is stale" in refused["message"]
    graph.act("finish", worker="bob")
    assert graph.file(1)["status"] == "completed"
    assert graph.file(1)["result"] == "done by bob"


def test_a_worker_that_lost_its_task_ends_by_itself(graph: Lesson) -> None:
    graph.act("start", worker="ada")
    graph.act("complete", task=1)  # the user may
    graph.until(lambda: not graph.state["workers"][0]["alive"])
    assert graph.act("kill", worker="ada")["refused"]["message"] == "ada does not run"


def test_a_worker_that_runs_is_not_started_twice(graph: Lesson) -> None:
    graph.act("start", worker="ada")
    assert graph.act("start", worker="ada")["refused"]["message"] == "ada works on task 1 already"
    assert graph.act("start", worker="bob")["refused"]["message"].startswith("bob: nothing is ready")
    assert graph.act("late", worker="ada")["refused"]["message"] == "ada was not killed"
    assert len(graph.state["workers"]) == 1


def test_a_restart_ends_the_workers_and_begins_with_a_new_graph(server: WebServer) -> None:
    graph = Lesson(server, "graph")
    graph.act("start", worker="ada")
    pid = graph.state["workers"][0]["pid"]
    again = Lesson(server, "graph")
    assert again.state["workers"] == []
    assert again.task(1)["state"] == "ready"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


# -- lesson 2


def test_everything_is_in_a_large_window(survival: Lesson) -> None:
    assert {fact["where"] for fact in survival.state["facts"]} == {"window"}
    assert [item["done"] for item in survival.state["todo"]] == [True, True, True, False, False, False]


def test_in_a_small_window_the_todo_list_leaves_and_the_tasks_stay(survival: Lesson) -> None:
    survival.act("window", window=20_000)
    assert sum(len(moment["passes"]) for moment in survival.state["moments"]) > 0
    assert [item["done"] for item in survival.state["todo"]] == [None] * 6
    assert where(survival, "todo") == "handle"
    assert where(survival, "asked") == where(survival, "rule") == where(survival, "tasks") == "window"
    assert all(moment["tokens"] <= 20_000 for moment in survival.state["moments"])
    assert all(moment["kinds"]["user"] > 0 for moment in survival.state["moments"])


@pytest.mark.parametrize("window", [4_000, 9_000, 48_000])
def test_the_users_words_and_the_tasks_are_there_in_any_window(survival: Lesson, window: int) -> None:
    survival.act("window", window=window)
    assert not survival.state["stopped"]
    assert [where(survival, key) for key in ("asked", "rule", "later", "tasks")] == ["window"] * 4


def test_a_handle_gives_back_exactly_what_was_read(survival: Lesson) -> None:
    survival.act("window", window=8_000)
    page = survival.server.json(f"{survival.path}/recall?handle=@h4")
    assert page["text"].startswith('1\t"""Retry of the shop."""')
    assert "RETRY_AFTER_SECONDS = 47" in page["text"]
    assert page["bytes"] == len(page["text"].encode())
    request = json.dumps(survival.server.json(f"{survival.path}/request"))
    assert page["text"] not in request
    assert "@h4" in request
    assert survival.server.get(f"{survival.path}/recall?handle=@h999").status_code == 404


def test_compact_restart_and_swap(survival: Lesson) -> None:
    done = survival.act("compact")["done"]
    assert survival.state["moments"][-1]["kinds"]["user"] > 0  # the request stands below the digest
    assert "auto" in done["rungs"]
    assert done["after"] < done["before"]
    assert where(survival, "decision") == "handle"
    before = survival.state["digest"]
    done = survival.act("restart")["done"]
    assert done["same"]
    assert survival.state["digest"] == before
    survival.act("swap")
    assert survival.state["sessions"] == ["first-agent", "second-agent"]
    assert where(survival, "asked") == where(survival, "todo") == "elsewhere"
    assert where(survival, "tasks") == "window"
    assert "RETRY_AFTER" in survival.server.json(f"{survival.path}/recall?handle=@h4")["text"]
    assert survival.act("swap")["refused"]["message"]
    assert survival.act("restart")["done"]["same"]


def test_a_window_out_of_range_is_refused(survival: Lesson) -> None:
    for window in (0, 3_999, 10**9, "9000", None, True):
        assert survival.server.post(survival.path, {"op": "window", "window": window}).status_code == 400


@pytest.mark.parametrize("rung", ["spool", "snip", "micro", "collapse", "auto", "reactive"])
def test_each_rung_fires_and_state_stays_in_the_window(server: WebServer, rung: str) -> None:
    seen = server.json(f"/api/learn/rungs/{rung}")
    assert rung in seen["receipt"]["rungs"]
    assert seen["receipt"]["after"] < seen["receipt"]["before"]
    after = {fact["key"]: fact["where"] for fact in seen["after"]}
    assert after["asked"] == after["rule"] == after["tasks"] == "window"
    assert seen["before"] != seen["after"] or rung == "snip"


# -- lesson 3

RIGHT = {
    "share": 1,
    "order": 1,
    "killed": 1,
    "first": 0,
    "one-of-two": 1,
    "reopen": 1,
    "cycle": 0,
    "blocked": 0,
    "stale": 0,
    "expired": 1,
    "twice": 0,
    "cancel": 1,
    "ids": 1,
    "best": 1,
    "next-agent": 1,
    "tonight": 1,
    "right-now": 0,
    "large": 0,
    "full": 2,
    "asked": 2,
    "refused": 3,
    "headers": 1,
    "long-text": 1,
    "front": 0,
    "todo-20k": 1,
    "asked-6k": 0,
    "rule-floor": 0,
    "decision-auto": 1,
    "detail-24k": 0,
    "detail-8k": 0,
    "tasks-4k": 0,
    "log-spool": 1,
    "later-words": 0,
    "restart": 0,
    "swap": 1,
    "recall": 0,
    "undo": 0,
    "log-grows": 0,
}
"""What a person who knows the engine answers."""


@pytest.mark.parametrize("question", RIGHT)
def test_the_engine_agrees_with_the_expected_answer(server: WebServer, question: str) -> None:
    path = f"/api/learn/{OTHER}/quiz"
    found = server.post(path, {"question": question, "choice": RIGHT[question]}).json()
    assert found["right"], found
    assert found["evidence"]
    assert found["reason"]
    assert not server.post(path, {"question": question, "choice": 1 - min(RIGHT[question], 1)}).json()["right"]
    source = server.json(f"/api/learn/sources/{found['source']}")
    assert source["path"].startswith("src/outlive/")
    assert source["name"].rpartition(".")[2] in source["text"]
    document = server.json(f"/api/learn/sources/{found['source']}/document")
    whole = (ROOT / document["path"]).read_text()
    assert f"\n## {document['name']}\n\n{document['text']}\n" in whole
    assert document["text"]


def test_the_bank_has_no_question_without_an_expected_answer(server: WebServer) -> None:
    asked = {
        question["id"]
        for seed in range(40)
        for question in server.json(f"/api/learn/{OTHER}/quiz?seed={seed}")["questions"]
    }
    assert asked == RIGHT.keys()
    assert len(asked) >= 24


def test_a_round_has_ten_questions_of_every_topic_without_their_answers(server: WebServer) -> None:
    round = server.json(f"/api/learn/{OTHER}/quiz?seed=3")
    assert len({question["id"] for question in round["questions"]}) == 10
    assert {question["topic"] for question in round["questions"]} == {
        "To-do or task?",
        "Which rung?",
        "What survives?",
        "The graph",
    }
    assert {key for question in round["questions"] for key in question} == {"id", "topic", "text", "choices"}


def test_questions_come_from_the_visitors_own_actions(server: WebServer) -> None:
    visitor = "a" * 32
    graph = Lesson(server, "graph", visitor)
    graph.act("complete", task=1)
    graph.act("depend", task=6, on=3)  # a graph unlike everybody else's
    graph.act("complete", task=2)
    graph.act("depend", task=1, on=7)
    Lesson(server, "survival", visitor).act("window", window=30_000)
    before = graph.server.json(graph.path)["files"]
    own: dict[str, Any] = {}
    for seed in range(8):
        asked = server.json(f"/api/learn/{visitor}/quiz?seed={seed}")["questions"]
        for question in asked:
            if question["id"].startswith("own-"):
                own[question["id"]] = question
                rights = [
                    text
                    for at, text in enumerate(question["choices"])
                    if server.post(f"/api/learn/{visitor}/quiz", {"question": question["id"], "choice": at}).json()[
                        "right"
                    ]
                ]
                assert len(rights) == 1
                own[question["id"]]["right"] = rights[0]
    assert own["own-complete"]["right"] == "4 and 6"
    assert "task 3" in own["own-complete"]["text"]
    assert own["own-reopen"]["right"] == "none"
    assert own["own-cycle"]["right"].startswith("1 -> 7 -> ")
    assert own["own-window-todo"]["right"] == "Not in the window, but a handle leads to it"
    assert "30,000" in own["own-window-todo"]["text"]
    assert graph.server.json(graph.path)["files"] == before  # tried on copies


# -- what cannot be reached


def test_the_lessons_leave_the_workspace_alone(server: WebServer, graph: Lesson, survival: Lesson) -> None:
    graph.act("complete", task=1)
    survival.act("compact")
    assert {path.name for path in server.folder.iterdir()} <= {".home"}
    workspace = server.workspace
    assert server.json(f"/api/w/{workspace}/sessions")["sessions"] == []


def test_visitors_do_not_see_each_other(server: WebServer, graph: Lesson) -> None:
    other = Lesson(server, "graph", OTHER)
    graph.act("complete", task=1)
    assert server.json(other.path)["tasks"][0]["state"] == "ready"
    assert other.state["folder"] != graph.state["folder"]


@pytest.mark.parametrize(
    "id", ["..", "%2e%2e", "a", "A" * 32, "0" * 31, "0" * 33, "..%2f..%2fetc", "0" * 32 + "%2f..", "0" * 32 + "%0a"]
)
def test_an_id_that_is_not_one_is_refused(server: WebServer, id: str) -> None:
    for path in ("graph/start", "survival/start"):
        assert server.post(f"/api/learn/{id}/{path}").status_code in (400, 404, 405)


@pytest.mark.parametrize(
    "form",
    [
        {"op": "delete", "task": 1},
        {"op": "create", "subject": "x"},
        {"op": "complete", "task": "../../etc/passwd"},
        {"op": "complete"},
        {"op": "complete", "task": -1},
        {"op": "complete", "task": 1.5},
        {"op": "start", "worker": "eve; touch /tmp/x"},
        {"op": "start", "worker": ["ada"]},
        {"op": "window", "window": 9_000},
        {"op": {"complete": 1}},
        [],
    ],
)
def test_only_the_actions_of_the_lesson_exist(graph: Lesson, form: object) -> None:
    before = graph.state["files"]
    assert graph.server.post(graph.path, form or {"op": ""}).status_code == 400
    assert graph.server.json(graph.path)["files"] == before


@pytest.mark.parametrize("key", ["..", "os", "__init__", "outlive.web.access", "%2e%2e%2faccess"])
def test_only_listed_code_can_be_read(server: WebServer, key: str) -> None:
    for path in ("", "/document"):
        answer = server.get(f"/api/learn/sources/{key}{path}")
        assert answer.status_code in (400, 404)
        assert "text" not in answer.json()


def test_the_lessons_need_the_token_like_everything_else(server: WebServer) -> None:
    path = f"{server.origin}/api/learn/{VISITOR}/graph"
    assert get(path).status_code == 401
    assert httpx2.post(path + "/start", json={}, timeout=TIMEOUT).status_code == 403
    origin = {"Origin": "http://evil.example"}
    assert server.post(f"/api/learn/{VISITOR}/graph/start", headers=origin).status_code == 403


def test_a_lesson_that_was_not_started_says_so(server: WebServer) -> None:
    path = f"/api/learn/{'b' * 32}/graph"
    assert server.json(path) == {"started": False}
    answer = server.post(path, {"op": "complete", "task": 1})
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_started"


def test_folders_are_private_and_go_with_the_server(tmp_path: Path) -> None:
    server = WebServer(tmp_path, command="learn")
    graph = Lesson(server, "graph")
    graph.act("start", worker="ada")
    pid = graph.state["workers"][0]["pid"]
    folder = Path(graph.state["folder"]).parent
    base = folder.parent.parent
    for place in (base, folder.parent, folder):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert server.stop() == 0
    assert not base.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_worker_ends_when_the_server_was_killed(tmp_path: Path) -> None:
    server = WebServer(tmp_path, command="learn")
    graph = Lesson(server, "graph")
    graph.act("start", worker="ada")
    pid = graph.state["workers"][0]["pid"]
    server.kill()
    while _runs(pid):
        time.sleep(POLL)


def _runs(pid: int) -> bool:
    """Whether a process of nobody's is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_number_of_visitors_is_bounded_and_the_oldest_goes() -> None:
    scratches = Scratches()
    first = scratches.get(f"{0:032x}")
    second = scratches.get(f"{1:032x}")
    for number in range(2, MOST_VISITORS):
        scratches.get(f"{number:032x}")
    assert scratches.get(f"{0:032x}") is first  # and now the second is the oldest
    scratches.get(f"{MOST_VISITORS:032x}")
    assert first.folder.exists()
    assert not second.folder.exists()
    scratches.close()
    assert not first.folder.parent.exists()


def test_scratch_folders_of_a_killed_server_are_removed_by_the_next(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {"TMPDIR": str(temporary)}
    first = WebServer(tmp_path, command="learn", environment=environment)
    assert first.post(f"/api/learn/{VISITOR}/graph/start").status_code == 200
    assert len(list(temporary.glob("outlive-learn-*"))) == 1
    first.kill()
    (temporary / "outlive-learn-notes-x").mkdir()
    second = WebServer(tmp_path, command="learn", environment=environment)
    assert [folder.name for folder in temporary.glob("outlive-learn-*")] == ["outlive-learn-notes-x"]
    second.stop()
