"""Talking to an agent over HTTP: who may, what is asked, what is logged."""

import getpass
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outlive.agent import Session
from outlive.stores.logs.files import FileLogStore
from outlive.testing import Fault, Simulator, call, say
from tests.web.server import WebServer
from tests.web.talking import Held, Talk, serving

WRITE = call("write_file", path="new.txt", content="one\ntwo\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


def log(folder: Path, session: str, type: str = "") -> list[dict[str, Any]]:
    lines = (folder / ".transcripts" / f"{session}.jsonl").read_text().splitlines()
    events = map(json.loads, lines)
    return [event for event in events if not type or event["type"] == type]


# -- answers


def test_an_edit_is_asked_with_its_diff_and_the_log_says_who_allowed_it(folder: Path) -> None:
    (folder / "new.txt").write_text("one\n")
    script = [call("read_file", path="new.txt"), WRITE, say("Written.")]
    with Simulator(script) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Write it.")
        asked = talk.question()
        assert (asked["tool"], asked["subject"], asked["is_diff"]) == ("write_file", "new.txt", True)
        assert "+two" in asked["preview"]
        assert (folder / "new.txt").read_text() == "one\n"
        by = talk.ok(f"questions/{asked['id']}", choice="yes", browser="ab12")["by"]
        talk.at_rest()
        assert (folder / "new.txt").read_text() == "one\ntwo\n"
        [answered] = log(folder, talk.session, "permission_answered")
        assert answered["choice"] == "yes"
        assert answered["call_id"] == asked["call"]
        assert answered["by"] == by == f"{getpass.getuser()} in a program ab12 at 127.0.0.1"
        sim.verify()


def test_a_question_is_answered_once_and_who_comes_second_is_told_by_whom(folder: Path) -> None:
    with Simulator([WRITE, say("As you like.")]) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Write it.")
        path = f"questions/{talk.question()['id']}"
        talk.ok(path, choice="no", why="not there", browser="first")
        refused = talk.refused(path, choice="yes", browser="second")
        assert refused["code"] == "answered"
        assert "refused by" in refused["message"]
        assert "a program first at 127.0.0.1" in refused["message"]
        talk.at_rest()
        assert not (folder / "new.txt").exists()
        assert "the user said no: not there" in sim.requests[-1].results()[0].text
        assert "refused by" in talk.refused(path, choice="yes")["message"]


def test_always_remembers_the_rule_that_the_question_named(folder: Path) -> None:
    runs = [call("bash", command="make again"), call("bash", command="make again"), say("Twice.")]
    with Simulator(runs) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Run it twice.")
        asked = talk.question()
        talk.ok(f"questions/{asked['id']}", choice="always")
        talk.at_rest()
        [answered] = log(folder, talk.session, "permission_answered")
        assert answered["rules"] == asked["always"] != []


def test_what_a_screen_would_hide_is_visible_in_the_question(folder: Path) -> None:
    command = "echo safe \u202e\x1b[8m; rm -rf x\u200b"
    with Simulator([call("bash", command=command), say("No.")]) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Run.")
        asked = talk.question()
        assert asked["subject"] == "echo safe ⟦U+202E⟧⟦U+001B⟧[8m; rm -rf x⟦U+200B⟧"
        assert asked["hidden"] == 3
        assert asked["bytes"] == len(command.encode())


def test_a_long_command_can_be_read_to_its_end(folder: Path) -> None:
    command = "echo " + " ".join(map(str, range(8_000)))
    with Simulator([call("bash", command=command), say("No.")]) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Run.")
        asked = talk.question()
        assert len(asked["subject"]) < asked["subject_length"] == len(command)
        path = f"{talk.base}/questions/{asked['id']}?what=subject&skip={len(asked['subject'])}"
        assert asked["subject"] + server.json(path)["text"] == command


def test_always_is_refused_where_no_rule_was_offered(folder: Path) -> None:
    with Simulator([call("bash", command="echo once > a.txt"), say("No.")]) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Run.")
        asked = talk.question()
        assert asked["always"] == []
        assert talk.refused(f"questions/{asked['id']}", choice="always")["code"] == "no_rule"


# -- words


def test_words_said_while_it_works_are_in_the_log_when_they_are_shown_and_are_heard(folder: Path) -> None:
    brain = Held(say("First."), say("Second."))
    with Simulator(brain=brain) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Begin.")
        assert brain.asked.acquire(timeout=60)
        assert talk.ok("say", text="And then?") == {"queued": True}
        assert talk.until(lambda state: state["queued"])["queued"] == ["And then?"]
        assert [event["text"] for event in log(folder, talk.session, "user_queued")] == ["And then?"]
        brain.let_go(2)
        talk.until(lambda state: not state["working"] and not state["queued"])
        assert "And then?" in json.dumps(sim.requests[-1].body)


def test_queued_words_can_be_taken_back(folder: Path) -> None:
    brain = Held(say("First."))
    with Simulator(brain=brain) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Begin.")
        assert brain.asked.acquire(timeout=60)
        talk.ok("say", text="Never mind.")
        assert talk.ok("unqueue")["words"] == ["Never mind."]
        brain.let_go()
        talk.at_rest()
        assert "Never mind" not in json.dumps(sim.requests[-1].body)


def test_an_interrupted_run_stops_and_the_session_goes_on(folder: Path) -> None:
    script = [call("bash", command="echo $$ > pid; until test -e never; do sleep 0.05; done"), say("Stopped.")]
    with Simulator(script) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Run.")
        talk.ok(f"questions/{talk.question()['id']}", choice="yes")
        waited = talk.until(lambda state: state["working"] and not state["questions"])
        assert waited["working"]
        talk.ok("interrupt")
        assert talk.at_rest()["ending"]["text"] == "Interrupted."
        talk.ok("say", text="Go on.")
        assert talk.at_rest()["ending"] is None
        assert sim.requests[-1].results()[0].is_error


def test_an_answer_arrives_in_pieces_before_it_is_in_the_log(folder: Path) -> None:
    brain = Held(say("word " * 60))
    with Simulator(brain=brain) as sim, serving(folder, sim) as server:
        sim.faults.add(Fault.slow(0.05))
        talk = Talk.start(server, "Talk.")
        happenings = talk.happenings()
        assert next(happenings)[0] == "snapshot"
        brain.let_go()
        kinds = [piece["kind"] for name, data in _until_rest(happenings) if name == "pieces" for piece in data]
        assert kinds.count("text") > 2
        assert kinds.index("text") < kinds.index("said")


def _until_rest(happenings: Any) -> Any:
    for name, data in happenings:
        yield name, data
        if name == "state" and not data["working"]:
            return


# -- modes


def test_a_wider_mode_needs_its_name_and_the_log_says_who_chose_it(folder: Path) -> None:
    with Simulator([say("Hello.")]) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Hi.")
        talk.at_rest()
        refused = talk.refused("mode", mode="bypass")
        assert (refused["code"], refused["hint"]) == ("wider_mode", "type bypass to choose it")
        assert talk.refused("mode", mode="bypass", typed="yes")["code"] == "wider_mode"
        assert talk.refused("mode", mode="root")["code"] == "bad_request"
        talk.ok("mode", mode="accept-edits", typed="accept-edits")
        talk.ok("mode", mode="plan")
        assert [event["mode"] for event in log(folder, talk.session, "mode_changed")] == [
            "ask",
            "accept-edits",
            "plan",
        ]
        assert log(folder, talk.session, "mode_changed")[-1]["by"].endswith("at 127.0.0.1")


def test_a_session_that_was_left_in_bypass_asks_again_in_the_browser(folder: Path) -> None:
    with Simulator([say("Hello."), WRITE, say("No.")]) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Hi.", mode="bypass", typed="bypass")
        assert talk.at_rest()["mode"] == "bypass"
        talk.ok("close")
        talk.ok("say", text="Write.")
        assert talk.question()["tool"] == "write_file"


# -- opening and closing


def test_a_session_of_another_process_is_refused_in_the_words_of_the_library(folder: Path) -> None:
    with Simulator([]) as sim, serving(folder, sim) as server:
        with Session.start(FileLogStore(folder, durability="process"), id="theirs"):
            talk = Talk(server, "theirs")
            assert next(talk.happenings()) == ("snapshot", {"state": {"open": False, "elsewhere": True}})
            assert "is open in another process" in talk.refused("say", text="Hello?")["message"]
        assert talk.refused("interrupt")["code"] == "not_open"


def test_a_session_that_was_handed_back_can_be_continued_elsewhere(folder: Path) -> None:
    with Simulator([say("One."), say("Two.")]) as sim, serving(folder, sim) as server:
        talk = Talk.start(server, "Hi.")
        talk.at_rest()
        assert _headless(server, sim, talk.session).returncode != 0
        assert talk.ok("close") == {"closed": True}
        assert _headless(server, sim, talk.session).stdout.strip() == "Two."


def _headless(server: WebServer, sim: Simulator, session: str) -> "subprocess.CompletedProcess[str]":
    from tests.engines import worker_environment
    from tests.web.talking import environment

    command = [sys.executable, "-m", "outlive", "-p", "Go on.", "--resume", session]
    given = worker_environment() | environment(sim) | {"OUTLIVE_HOME": str(server.home)}
    return subprocess.run(command, cwd=server.folder, env=given, capture_output=True, text=True, check=False)


def test_a_session_whose_server_was_killed_in_a_turn_goes_on(folder: Path) -> None:
    brain = Held(say("Never heard."), say("Here I am."))
    with Simulator(brain=brain) as sim:
        with serving(folder, sim) as server:
            talk = Talk.start(server, "Begin.")
            assert brain.asked.acquire(timeout=60)
            server.kill()
        brain.let_go(2)
        with serving(folder, sim, "--control", home=server.home) as again:
            talk = Talk(again, talk.session)
            talk.ok("continue")
            assert talk.at_rest()["ending"] is None
        assert "Here I am." in json.dumps(log(folder, talk.session, "assistant_said"))


def test_the_end_of_the_server_interrupts_runs_and_frees_their_sessions(folder: Path) -> None:
    script = [call("bash", command="until test -e never; do sleep 0.05; done"), say("Went on.")]
    with Simulator(script) as sim:
        with serving(folder, sim) as server:
            talk = Talk.start(server, "Run.")
            talk.ok(f"questions/{talk.question()['id']}", choice="yes")
            talk.until(lambda state: state["working"] and not state["questions"])
            assert server.stop() == 0
        assert log(folder, talk.session, "tool_finished")
        assert _headless(server, sim, talk.session).stdout.strip() == "Went on."


def test_without_a_model_the_library_says_what_is_missing(folder: Path) -> None:
    server = WebServer(folder, "--control")
    try:
        answer = server.post(f"/api/w/{server.workspace}/talk", {"text": "Hi."}, timeout=60)
        assert answer.status_code == 409
        assert "ANTHROPIC_API_KEY" in json.dumps(answer.json()["error"], ensure_ascii=False)
        assert server.json(f"/api/w/{server.workspace}/sessions")["sessions"] == []
    finally:
        server.stop()


@pytest.mark.parametrize(
    "path", ["say", "continue", "unqueue", "interrupt", "mode", "close", "questions/0123456789abcdef"]
)
def test_a_read_only_server_refuses_all_of_it(read_only: Callable[[], WebServer], path: str) -> None:
    server = read_only()
    body = {"text": "x", "mode": "plan", "choice": "yes"}
    for where in (f"/sessions/some/talk/{path}", "/talk"):
        answer = server.post(f"/api/w/{server.workspace}{where}", body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "read_only")
    assert server.get(f"/api/w/{server.workspace}/sessions/some/talk").status_code == 403


@pytest.fixture(scope="module")
def read_only(tmp_path_factory: pytest.TempPathFactory) -> Any:
    server = WebServer(tmp_path_factory.mktemp("read-only"))
    yield lambda: server
    server.stop()


@pytest.mark.parametrize("body", [{}, {"text": " "}, {"text": 3}, {"text": "x", "mode": ["plan"]}])
def test_a_start_without_words_is_a_bad_request(read_only: Any, folder: Path, body: dict[str, object]) -> None:
    with Simulator([]) as sim, serving(folder, sim) as server:
        answer = server.post(f"/api/w/{server.workspace}/talk", body, timeout=60)
        assert answer.status_code == 400
