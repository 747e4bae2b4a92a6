"""`outlive -p`: what scripts and programs rely on."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from outlive.cli.chat.words import short_session
from outlive.testing import Fault, Simulator, call, calls, say
from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step
from tests.e2e.conftest import MODELS, Client


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("model", MODELS)
def test_text_prints_the_answer_and_nothing_else(folder: Path, model: str) -> None:
    with Simulator([say("Forty-two.")]) as sim:
        result = Client(folder, sim, model)("-p", "What is it?")
        assert (result.code, result.out, result.err) == (0, "Forty-two.\n", "")
        sim.verify()
        assert sim.requests[0].user_words()[0].startswith("What is it?")


def test_json_prints_one_object(folder: Path) -> None:
    with Simulator([call("read_file", path="data.txt", limit=3), say("Done.")]) as sim:
        result = Client(folder, sim)("-p", "Look.", "--output-format", "json")
        form = result.json
        assert (form["type"], form["why"], form["text"], form["requests"]) == ("result", "done", "Done.", 2)
        usage = sim.usage
        assert form["usage"] == {
            "input": usage.input,
            "cache_write": usage.cache_write,
            "cache_read": usage.cache_read,
            "output": usage.output,
        }
        assert form["cost"] > 0
        assert (folder / ".transcripts" / f"{form['session']}.jsonl").exists()


def test_stream_json_is_the_log_as_it_grows(folder: Path) -> None:
    with Simulator([call("read_file", path="data.txt", limit=3), say("Done.")]) as sim:
        result = Client(folder, sim)("-p", "Look.", "--output-format", "stream-json", "--include-partial")
    rows = lines(result.out)
    kinds = [row["type"] for row in rows]
    assert (kinds[0], kinds[-1]) == ("opened", "result")
    assert "text_arrived" in kinds
    kept = [row for row in rows if "id" in row]
    log = lines((folder / ".transcripts" / f"{rows[0]['session']}.jsonl").read_text())
    assert [row["id"] for row in kept] == [row["id"] for row in log][-len(kept) :]
    assert {"user_said", "assistant_said", "tool_started", "tool_finished", "usage_reported"} <= set(kinds)


def test_a_session_is_continued_and_knows_what_was_said(folder: Path) -> None:
    with Simulator([say("Hello."), say("You said Anna."), say("Anna, still.")]) as sim:
        client = Client(folder, sim)
        first = client("-p", "I am Anna.", "--output-format", "json").json["session"]
        again = client("-p", "Who am I?", "--continue", "--output-format", "json").json
        assert again["session"] == first
        assert client("-p", "And now?", "--resume", first[:18]).out == "Anna, still.\n"
        assert [word for word in sim.requests[2].user_words() if "Anna" in word or "?" in word] == [
            "I am Anna.",
            "Who am I?",
            "And now?",
        ]


def test_text_that_is_piped_in_comes_with_the_prompt(folder: Path) -> None:
    with Simulator([say("ok"), say("ok")]) as sim:
        client = Client(folder, sim)
        client("-p", "Explain this.", stdin="Traceback: boom")
        client("-p", "-", stdin="All of it.")
        assert sim.requests[0].user_words()[:2] == ("Explain this.", "<stdin>\nTraceback: boom\n</stdin>")
        assert "All of it." in sim.requests[1].user_words()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("-p", ""), 2, "the prompt is empty"),
        (("-p", "x", "--continue"), 2, "no session in this folder"),
        (("-p", "x", "--resume", "nope"), 1, "nope"),
        (("--max-turns", "3", "task", "list"), 2, "for the agent, not for 'task'"),
        (("-p", "x", "--policy", "nope"), 1, "no policy 'nope'"),
        (("-p", "x", "--add-dir", "nope"), 1, "no such folder"),
        (("-p", "x", "--allow", "bash(("), 1, "bash(("),
        (("fix the test",), 2, "a prompt goes behind -p"),
    ],
)
def test_wrong_usage_says_what_is_wrong(folder: Path, arguments: tuple[str, ...], code: int, says: str) -> None:
    with Simulator([]) as sim:
        result = Client(folder, sim)(*arguments)
    assert (result.code, says in result.err) == (code, True), result.err
    assert "Traceback" not in result.err
    assert list(folder.glob(".transcripts/*.jsonl")) == []


def test_a_wrong_key_and_an_unknown_model_say_what_to_fix(folder: Path) -> None:
    with Simulator([]) as sim:
        client = Client(folder, sim)
        wrong = client("-p", "x", ANTHROPIC_API_KEY="nonsense")
        assert wrong.code == 1
        assert "ANTHROPIC_API_KEY" in wrong.err
        client.model = "anthropic:claude-nonsense"
        unknown = client("-p", "x")
        assert unknown.code == 1
        assert "claude-nonsense" in unknown.err


def test_with_nothing_set_up_three_lines_say_how_to_get_going(folder: Path) -> None:
    with Simulator([]) as sim:
        client = Client(folder, sim, model="")
        for name in sim.env():
            del client.environment[name]
        result = client("-p", "x")
    assert result.code == 1
    assert "ANTHROPIC_API_KEY" in result.err
    assert "outlive demo" in result.err


def test_limits_have_an_exit_code_of_their_own(folder: Path) -> None:
    def endless(request: SeenRequest) -> Step:
        return call("read_file", path="data.txt", offset=len(request.messages), limit=1)

    with Simulator(brain=endless) as sim:
        result = Client(folder, sim)("-p", "x", "--max-turns", "4")
    assert result.code == 3
    assert "4 turns" in result.err
    assert "--resume" in result.err


def test_an_outage_ends_with_an_error_and_a_session_that_can_go_on(folder: Path) -> None:
    with Simulator([say("back")]) as sim:
        sim.faults.add(Fault.status(401), at=1)
        client = Client(folder, sim)
        assert client("-p", "Remember me.").code == 1
        again = client("-p", "", "--continue")
        assert (again.code, again.out) == (0, "back\n")
        assert "Remember me." in sim.requests[-1].user_words()


def test_ctrl_c_leaves_a_valid_session(folder: Path) -> None:
    with Simulator([call("bash", command="echo started > mark; sleep 3000"), say("fine")]) as sim:
        client = Client(folder, sim)
        process = client.start("-p", "go", "--permission-mode", "bypass")
        while not (folder / "mark").exists():
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 130, err
        assert client("-p", "and now?", "--continue").out == "fine\n"
        assert "interrupted" in sim.requests[-1].text
        assert sim.refusals == []


def test_continue_passes_over_sessions_in_which_nothing_was_said(folder: Path) -> None:
    with Simulator([say("hello"), say("still here")]) as sim:
        client = Client(folder, sim)
        said = client("-p", "I am Ada.", "--output-format", "json").json["session"]
        assert client("--model", client.model).code == 0  # opened, and left at once
        assert len(list((folder / ".transcripts").glob("*.jsonl"))) == 2
        assert client("-p", "Who am I?", "--continue", "--output-format", "json").json["session"] == said


def test_the_short_id_that_faces_show_is_enough(folder: Path) -> None:
    with Simulator([say("hello"), say("again")]) as sim:
        client = Client(folder, sim)
        session = client("-p", "I am Ada.", "--output-format", "json").json["session"]
        again = client("-p", "Who am I?", "--resume", short_session(session), "--output-format", "json")
        assert again.json["session"] == session


def test_what_was_not_allowed_is_reported_at_the_end(folder: Path) -> None:
    step = call("write_file", path="new.txt", content="x") + call("bash", command="touch mark")
    with Simulator([step, say("Written."), step, say("Written.")]) as sim:
        client = Client(folder, sim)
        told = client("-p", "write")
        assert (told.code, told.out) == (0, "Written.\n")
        first, second = told.err.splitlines()
        assert first.startswith("not allowed: write_file new.txt · allow it with --allow")
        assert first.endswith("--permission-mode accept-edits")
        assert second.startswith("not allowed: bash touch mark")
        form = client("-p", "write", "--output-format", "json").json
        assert form["not_allowed"] == ["write_file new.txt", "bash touch mark"]


def test_a_file_that_is_not_trusted_is_named(folder: Path) -> None:
    (folder / "outlive.toml").write_text('[permissions]\nallow = ["bash"]\n')
    with Simulator([say("hello")]) as sim:
        assert "outlive.toml is not trusted" in Client(folder, sim)("-p", "x").err


def test_a_home_that_cannot_be_written_to_keeps_nobody_from_working(folder: Path) -> None:
    with Simulator([say("hello"), call("write_file", path="new.txt", content="x"), say("hello")]) as sim:
        client = Client(folder, sim)
        client.environment["OUTLIVE_HOME"] = "/proc/nobody/can/write/here"
        asking = client("-p", "x")
        assert (asking.code, asking.err) == (0, "")
        wide = client("-p", "x", "--permission-mode", "accept-edits")
        assert (wide.code, (folder / "new.txt").exists()) == (0, True)
        assert "mode accept-edits holds until this session is closed" in wide.err


def test_without_a_terminal_nothing_is_asked_and_the_model_is_told(folder: Path) -> None:
    with Simulator([call("bash", command="rm -rf data.txt"), say("I could not.")]) as sim:
        result = Client(folder, sim)("-p", "Clean up.")
        assert result.out == "I could not.\n"
        told = sim.requests[1].last_results()[0].text
    assert "Only the user can allow it" in told
    assert (folder / "data.txt").exists()


def test_rules_allow_what_they_name_and_nothing_beside_it(folder: Path) -> None:
    steps = [call("bash", command="echo hello"), call("bash", command="echo hello; rm data.txt"), say("ok")]
    with Simulator(steps) as sim:
        Client(folder, sim)("-p", "x", "--allow", "bash(echo *)")
        good, bad = sim.requests[1].last_results()[0], sim.requests[2].last_results()[0]
    assert (good.text.strip(), good.is_error) == ("hello", False)
    assert bad.is_error
    assert (folder / "data.txt").exists()


def test_project_instructions_are_in_the_system_prompt(folder: Path) -> None:
    (folder / "AGENTS.md").write_text("Use tabs in this project.\n")
    with Simulator([say("ok")]) as sim:
        Client(folder, sim)("-p", "x")
        assert "Use tabs in this project." in sim.requests[0].system_text


def test_secrets_reach_neither_the_log_nor_the_model(folder: Path) -> None:
    key = "sk-ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT" * 3
    (folder / ".env").write_text("MY_SERVICE_TOKEN=correct-horse-battery\n")
    (folder / "config.ini").write_text(f"key = {key}\ntoken correct-horse-battery\n")
    with Simulator([call("read_file", path="config.ini"), say("ok")]) as sim:
        Client(folder, sim)("-p", f"My key is {key}.")
        seen = "\n".join(request.text for request in sim.requests)
    logged = "\n".join(path.read_text() for path in (folder / ".transcripts").glob("*.jsonl"))
    for text in (seen, logged):
        assert key not in text
        assert "correct-horse-battery" not in text
    assert "masked" in logged


def test_sub_agents_report_and_keep_their_own_logs(folder: Path) -> None:
    def brain(request: SeenRequest) -> Step:
        words = " ".join(request.user_words())
        if "Count the lines" in words:
            return say("There are 1000 lines.") if request.last_results() else call("read_file", path="data.txt")
        if request.last_results():
            return say("They reported.")
        job = {"description": "count", "prompt": "Count the lines of data.txt."}
        return calls([call("subagent", job), call("subagent", job)])

    with Simulator(brain=brain) as sim:
        result = Client(folder, sim)("-p", "Send two.", "--output-format", "json")
        assert result.json["text"] == "They reported."
        reports = [found.text for found in sim.requests[-1].last_results()]
    assert all("There are 1000 lines." in report for report in reports)
    assert len(list((folder / ".transcripts").glob("*.jsonl"))) == 3
    assert result.json["requests"] == 6


def test_a_session_is_searched_by_what_it_is_about(folder: Path) -> None:
    found = "The uploads time out after 47 seconds."
    with Simulator([call("read_file", path="data.txt", limit=40), say(found)]) as sim:
        client = Client(folder, sim)
        session = client("-p", "Look into it.", "--output-format", "json").json["session"]
        exact = client("recall", "--search", "name_7 = 259", "--session", session, "--json").json
        [what] = [hit["what"] for hit in exact]
        assert what.endswith(" · result · read_file data.txt")
        related = client("recall", "--search", "timeouts when uploading", "--session", session, "--json").json
        assert "47 seconds" in related[0]["text"]


def test_a_session_is_resumed_by_its_name(folder: Path) -> None:
    with Simulator([say("Hello."), say("Again.")]) as sim:
        client = Client(folder, sim)
        session = client("-p", "One.", "--output-format", "json").json["session"]
        result = client("session", "resume", session[:20], stdin="Two.\n", MODEL_ID=client.model)
        assert (result.code, "Again." in result.out) == (0, True), result.err
        assert "One." in sim.requests[1].text


# -- limits that nobody set


def test_a_run_without_a_limit_ends_after_so_many_requests(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from outlive.cli.agent import start

    def wait(request: SeenRequest) -> Step:
        return call("bash", command=f"echo {request.number}")

    with Simulator(brain=wait) as sim:
        for name, value in sim.env().items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(folder)
        monkeypatch.setattr(start, "DEFAULT_TURNS", 3)
        assert start.start(prompt="Go on.", model=MODELS[0], mode="bypass") == 4
        assert len(sim.requests) == 3
        assert "the default without a terminal; --max-turns sets another" in capfd.readouterr().err
        assert start.start(prompt="Go on.", model=MODELS[0], mode="bypass", max_turns=2) == 3
        assert len(sim.requests) == 5


def test_three_empty_answers_are_a_failure_of_their_own(folder: Path) -> None:
    with Simulator([say(""), say(""), say("")]) as sim:
        result = Client(folder, sim)("-p", "x", "--output-format", "json")
        form = json.loads(result.out)
        assert (result.code, form["why"], form["code"]) == (5, "limit", "empty_answers")
        sim.verify()


def test_max_turns_counts_the_request_that_looks_for_memories(folder: Path) -> None:
    (folder / "outlive.toml").write_text('[memory]\nextract = "always"\n')
    for most, sent in ((1, 1), (2, 2)):
        with Simulator(brain=lambda _: say("Done.")) as sim:
            client = Client(folder, sim)
            client("trust", "--yes")
            assert client("-p", "Look.", "--max-turns", str(most)).code == 0
            assert len(sim.requests) == sent
