"""The agent is killed while a command runs: the command ends with it or is found again; nothing is done twice."""

import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outlive.testing import Simulator, call, say
from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step
from tests.e2e.conftest import Client
from tests.fork_server import Forked

PATIENCE = 300.0
EFFECT = "echo $$ > pid; until test -e go; do sleep 0.05; done; echo effect >> effects.txt"
ESCAPED = f"setsid sh -c '{EFFECT}' </dev/null >/dev/null 2>&1 & until test -e never; do sleep 0.05; done"
ALLOWED = ("--allow", "bash(*)")


def until(true: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.02)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def noted(path: Path) -> int:
    until(lambda: path.exists() and path.read_text().strip().isdigit(), f"a number in {path.name}")
    return int(path.read_text())


def killed_during(client: Client, number: int = signal.SIGKILL) -> tuple[int, int]:
    """Start it, wait until its command runs, end it; the process of the command, and how the agent ended."""
    agent = client.start("-p", "do it", *ALLOWED)
    command = noted(client.folder / "pid")
    os.kill(agent.pid, number)
    agent.communicate()
    return command, agent.wait()


def effects(folder: Path) -> int:
    path = folder / "effects.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


def resumed(client: Client, *more: str) -> Any:
    result = client("-p", "", "--continue", *ALLOWED, *more)
    assert result.code == 0, result.err
    return result


def repeating(*commands: Step) -> Callable[[SeenRequest], Step]:
    """A model that does again what was interrupted, without a look."""

    def answer(request: SeenRequest) -> Step:
        results = request.results()
        if len(results) < len(commands):
            return commands[len(results)]
        return say("All finished.")

    return answer


def answer_of(sim: Simulator) -> str:
    return next(result.text for request in sim.requests for result in request.results())


@pytest.mark.parametrize(
    "first",
    [
        call("bash", command=EFFECT),
        call("bash", command=f"({EFFECT}) & wait"),
        call("bash", command=f"set -m; sh -c '{EFFECT}' & wait"),
        call("subagent", prompt="do it", description="the work"),
    ],
    ids=["itself", "its child", "a group of its own", "a sub-agent"],
)
def test_a_command_ends_with_an_agent_that_is_killed_and_its_work_is_done_once(folder: Path, first: Step) -> None:
    def answer(request: SeenRequest) -> Step:
        child = any("<task>" in words for words in request.user_words())
        if child:
            return call("bash", command=EFFECT)
        return repeating(first, call("bash", command=EFFECT))(request)

    with Simulator(brain=answer) as sim:
        client = Client(folder, sim)
        command, code = killed_during(client)
        assert code == -signal.SIGKILL
        until(lambda: not runs(command), "the command to end with the agent")
        (folder / "go").touch()
        resumed(client)
    assert effects(folder) == 1


def test_a_background_command_ends_with_an_agent_that_is_killed(folder: Path) -> None:
    def answer(request: SeenRequest) -> Step:
        if not request.results():
            return call("bash", command=EFFECT, background=True)
        return say("done") if "resumed" in request.text else call("bash", command="sleep 1000")

    with Simulator(brain=answer) as sim:
        client = Client(folder, sim)
        command, _ = killed_during(client)
        until(lambda: not runs(command), "the command to end with the agent")
        (folder / "go").touch()
        client("-p", "resumed", "--continue", *ALLOWED)
        assert any("no longer running" in words for words in sim.requests[-1].user_words())
    assert effects(folder) == 0


def test_a_hook_ends_with_an_agent_that_is_killed(folder: Path) -> None:
    home = folder.parent / "home"
    home.mkdir()
    hook = "echo $$ > pid; until test -e go; do sleep 0.05; done"
    (home / "outlive.toml").write_text(f"[[hooks.PreToolUse]]\ncommand = '{hook}'\ntimeout = 3600\n")
    with Simulator([call("bash", command="true")]) as sim:
        command, _ = killed_during(Client(folder, sim))
        until(lambda: not runs(command), "the hook to end with the agent")


def test_the_process_is_in_the_log_before_the_command_does_anything(folder: Path) -> None:
    with Simulator([call("bash", command=EFFECT)]) as sim:
        command, _ = killed_during(Client(folder, sim))
    (log,) = folder.glob(".transcripts/*.jsonl")
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    recorded = [row["process"] for row in rows if row["type"] == "tool_started" and "process" in row]
    assert [one["group"] for one in recorded] == [command]
    assert recorded[0]["started"].isdigit()
    assert Path("/proc/sys/kernel/random/boot_id").read_text().strip() in recorded[0]["machine"]


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ((), "was still running when the session was resumed, and was stopped then"),
        (("--orphans", "stop"), "was stopped then"),
        (("--orphans", "wait"), "was waited for and has ended"),
        (("--orphans", "adopt"), "still runs, as bg1"),
    ],
    ids=["by default", "stop", "wait", "adopt"],
)
def test_what_escaped_is_found_again_and_the_model_is_told_the_truth(
    folder: Path, choice: tuple[str, ...], says: str
) -> None:
    looked: list[str] = []

    def answer(request: SeenRequest) -> Step:
        results = request.results()
        if not results:
            return call("bash", command=ESCAPED)
        if choice == ("--orphans", "adopt") and len(results) == 1:
            return call("bash_output", handle="bg1", kill=True)
        looked.append(results[-1].text)
        return say("done")

    with Simulator(brain=answer) as sim:
        client = Client(folder, sim)
        command, _ = killed_during(client)
        assert runs(command), "it was to escape; this test is about nothing"
        if "wait" in choice:
            waiting = client.start("-p", "", "--continue", *ALLOWED, *choice)
            assert "still running from before" in waiting.stderr.readline()
            (folder / "go").touch()
            waiting.communicate()
            assert waiting.returncode == 0
        else:
            said = resumed(client, *choice).err
            assert "still running from before: bash setsid" in said
        text = answer_of(sim)
    assert text.startswith("[interrupted")
    assert says in text
    assert "look before doing it again" in text
    assert not runs(command)
    assert effects(folder) == (1 if "wait" in choice else 0)
    if "adopt" in choice:
        assert "ended on your word" in looked[-1]


def test_what_was_adopted_is_found_again_after_another_death(folder: Path) -> None:
    def answer(request: SeenRequest) -> Step:
        if not request.results():
            return call("bash", command=ESCAPED)
        return call("bash", command="sleep 1000") if len(sim.requests) == 2 else say("done")

    with Simulator(brain=answer) as sim:
        client = Client(folder, sim)
        command, _ = killed_during(client)
        again = client.start("-p", "", "--continue", *ALLOWED, "--orphans", "adopt")
        until(lambda: len(sim.requests) > 1, "the second request")
        os.kill(again.pid, signal.SIGKILL)
        again.communicate()
        assert runs(command)
        assert f"process group {command}" in resumed(client).err
    assert not runs(command)


def test_an_agent_whose_watchdog_was_killed_too_leaves_an_orphan_that_is_found(folder: Path) -> None:
    with Simulator(brain=repeating(call("bash", command=EFFECT), call("bash", command=EFFECT))) as sim:
        client = Client(folder, sim)
        agent = client.start("-p", "do it", *ALLOWED)
        command = noted(folder / "pid")
        for child in children(agent):
            if child != command:
                os.kill(child, signal.SIGKILL)
        os.kill(agent.pid, signal.SIGKILL)
        agent.communicate()
        assert runs(command)
        (folder / "pid").unlink()
        again = client.start("-p", "", "--continue", *ALLOWED)
        assert noted(folder / "pid") != command
        assert not runs(command)
        (folder / "go").touch()
        again.communicate()
        assert "was stopped then" in answer_of(sim)
    assert effects(folder) == 1


def children(process: Forked) -> list[int]:
    text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(one) for one in text.split()]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_end_stops_cleanly_and_the_session_can_go_on(folder: Path, number: signal.Signals) -> None:
    with Simulator(brain=repeating(call("bash", command=EFFECT))) as sim:
        client = Client(folder, sim)
        command, code = killed_during(client, number)
        assert code == 130
        assert not runs(command)
        resumed(client)
        assert "interrupted by the user" in answer_of(sim)
    assert effects(folder) == 0


def test_a_run_that_ignores_hangups_goes_on_when_its_terminal_closes(folder: Path) -> None:
    with Simulator(brain=repeating(call("bash", command=EFFECT))) as sim:
        client = Client(folder, sim)
        agent = subprocess.Popen(
            ["nohup", sys.executable, "-m", "outlive", "--model", client.model, "-p", "do it", *ALLOWED],
            cwd=folder,
            env=client.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        noted(folder / "pid")
        agent.send_signal(signal.SIGHUP)
        (folder / "go").touch()
        assert agent.communicate()[0] == "All finished.\n"
        assert agent.returncode == 0
    assert effects(folder) == 1


# -- at a terminal


class Terminal:
    """`outlive` as a person runs it. Closing it is what a terminal does whose window is closed."""

    def __init__(self, client: Client, *arguments: str) -> None:
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 100))
        self.seen = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "outlive", "--model", client.model, *arguments],
            cwd=client.folder,
            env=client.environment | {"TERM": "xterm-256color"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    def until(self, text: str) -> None:
        end = time.monotonic() + PATIENCE
        while text.encode() not in self.seen:
            assert time.monotonic() < end, f"{text!r} was not seen: {self.seen[-2000:]!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 65536)

    def type(self, words: str) -> None:
        os.write(self.master, words.encode() + b"\r")

    def close(self) -> int:
        os.close(self.master)
        return self.process.wait(timeout=PATIENCE)

    def kill(self) -> None:
        self.process.kill()
        self.close()


BYPASS = ("--permission-mode", "bypass")


def test_closing_the_terminal_ends_the_command_and_keeps_what_was_queued(folder: Path) -> None:
    with Simulator(brain=repeating(call("bash", command=EFFECT))) as sim:
        client = Client(folder, sim)
        terminal = Terminal(client, *BYPASS)
        terminal.until("mode bypass")
        terminal.type("do it")
        command = noted(folder / "pid")
        terminal.type("and the docs")
        terminal.until("queued > and the docs")
        assert terminal.close() == 0
        assert not runs(command)
        resumed(client)
        assert "interrupted by the user" in answer_of(sim)
        assert sim.requests[-1].user_words().count("and the docs") == 1
    assert effects(folder) == 0


def test_what_is_shown_as_queued_is_said_after_a_kill(folder: Path) -> None:
    with Simulator(brain=repeating(call("bash", command=EFFECT))) as sim:
        client = Client(folder, sim)
        terminal = Terminal(client, *BYPASS)
        terminal.until("mode bypass")
        terminal.type("do it")
        noted(folder / "pid")
        terminal.type("and the docs")
        terminal.until("queued > and the docs")
        terminal.kill()
        again = Terminal(client, "--continue")
        again.until("queued > and the docs")
        again.type("/continue")
        again.until("All finished.")
        assert again.close() == 0
        assert sim.requests[-1].user_words().count("and the docs") == 1


def test_the_history_of_the_terminal_holds_no_value_of_the_environment(folder: Path) -> None:
    with Simulator([say("All finished.")]) as sim:
        client = Client(folder, sim)
        client.environment["DEPLOY_TOKEN"] = "correct horse battery"
        terminal = Terminal(client)
        terminal.until("mode ask")
        terminal.type("deploy with correct horse battery")
        terminal.until("All finished.")
        terminal.close()
    assert (folder / ".outlive" / "history").read_text() == '"deploy with [DEPLOY_TOKEN]"\n'


def test_a_terminal_asks_what_becomes_of_what_still_runs(folder: Path) -> None:
    with Simulator(brain=repeating(call("bash", command=ESCAPED))) as sim:
        client = Client(folder, sim)
        command, _ = killed_during(client)
        terminal = Terminal(client, "--continue")
        terminal.until("leave it running in the background")
        assert runs(command)
        end = time.monotonic() + PATIENCE
        while runs(command):  # keys answer after a pause without typing
            assert time.monotonic() < end
            os.write(terminal.master, b"y")
            time.sleep(1)
        terminal.type("\x15/continue")
        terminal.until("All finished.")
        assert terminal.close() == 0
        assert "was stopped then" in answer_of(sim)
