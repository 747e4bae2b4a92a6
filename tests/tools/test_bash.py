"""Commands: bounded, streamed, ended as a whole; nothing they do hangs or breaks the session."""

import asyncio
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from outlive.messages import ToolCall
from outlive.tools.processes import command as command_module
from outlive.tools.processes.output import EDGE_BYTES, MAX_FILE_BYTES
from tests.tools.workbench import Workbench


def until(true: Callable[[], bool], seconds: float = 300.0) -> bool:
    """Look again until it is so."""
    end = time.monotonic() + seconds
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has fetched yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def noted_pid(path: Path) -> int:
    assert until(lambda: path.exists() and path.read_text().strip().isdigit())
    return int(path.read_text())


def test_a_command_runs_in_the_workspace_and_says_what_it_printed(bench: Workbench) -> None:
    outcome = bench.call("bash", command="pwd; echo out; echo err >&2; echo again")
    assert outcome.text == f"{bench.root}\nout\nerr\nagain"
    assert outcome.exit_code == 0


def test_a_failing_command_says_its_exit_code_and_is_no_failure_of_the_tool(bench: Workbench) -> None:
    outcome = bench.call("bash", command="echo no; exit 3")
    assert outcome.text == "no\n[exit code 3]"
    assert outcome.exit_code == 3


def test_silence_is_said(bench: Workbench) -> None:
    assert bench.call("bash", command="true").text == "(no output)"


def test_a_command_that_kills_itself_is_named_with_its_signal(bench: Workbench) -> None:
    outcome = bench.call("bash", command="echo last words; kill -9 $$")
    assert outcome.exit_code == 137
    assert outcome.text == "last words\n[exit code 137 (SIGKILL)]"


def test_output_arrives_while_the_command_runs(bench: Workbench) -> None:
    """Lines when they end, whole words of a line that does not end yet."""
    command = (
        "echo one; until test -e a; do sleep 0.02; done; printf 'tw \\xc3'; until test -e b; do sleep 0.02; done; "
    )

    async def watched() -> None:
        running = asyncio.create_task(bench.acall("bash", command=command + "printf '\\xb6\\n'"))
        for seen, name in (("one\n", "a"), ("one\ntw ", "b")):
            while "".join(text for _, text in bench.streamed) != seen:
                await asyncio.sleep(0.01)
            bench.write(name, "")
        await running

    asyncio.run(watched())
    assert {call for call, _ in bench.streamed} == {bench.call_id("bash")}
    assert "".join(text for _, text in bench.streamed) == "one\ntw ö\n"


def test_there_is_no_input_and_no_terminal(bench: Workbench) -> None:
    outcome = bench.call(
        "bash", command="read line; echo got=$line; test -t 0 || echo none; tty </dev/tty", timeout=300
    )
    assert "got=\nnone" in outcome.text
    assert outcome.exit_code != 0


def test_bytes_that_are_no_text_are_replaced(bench: Workbench) -> None:
    assert bench.call("bash", command="printf 'a\\xff\\xfeb'").text == "a\ufffd\ufffdb"


@pytest.mark.parametrize("command", ["", "  \n", "echo a\0b", "echo \ud800", "echo " + "x" * 200_000])
def test_what_is_no_command_is_refused_with_the_reason(bench: Workbench, command: str) -> None:
    assert "command" in bench.refused("bash", command=command)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({}, "command"),
        ({"command": 5.5}, "str"),
        ({"command": "ls", "cwd": "/"}, "cwd"),
        ({"command": "ls", "timeout": "soon"}, "float"),
        ({"command": "ls", "timeout": 0}, "3600"),
        ({"command": "ls", "timeout": 120_000}, "3600"),
        ({"command": "ls", "timeout": float("nan")}, "3600"),
    ],
)
def test_a_bad_call_is_told_what_is_wrong(bench: Workbench, given: dict[str, object], word: str) -> None:
    assert word in bench.refused("bash", **given)


def test_keys_of_providers_are_not_for_commands(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("THE_USERS_OWN", "value")
    text = bench.call("bash", command="env").text
    assert "THE_USERS_OWN=value" in text
    assert "sk-ant-secret" not in text
    assert "sk-secret" not in text


# -- large output


def test_a_hundred_megabytes_are_cut_in_the_middle_and_kept_up_to_the_cap(bench: Workbench) -> None:
    outcome = bench.call("bash", command="echo first; head -c 100000000 /dev/zero | tr '\\0' 'x'; echo; echo last")
    total = len("first\n") + 100_000_000 + len("\nlast\n")
    assert outcome.text.startswith("first\n")
    assert outcome.text.endswith("\nlast")
    assert len(outcome.text) < 3 * EDGE_BYTES
    said = re.search(
        r"\[… ([\d,]+) of ([\d,]+) bytes left out; the first ([\d,]+) bytes are in (\S+) …\]", outcome.text
    )
    assert said
    gap, all_of_it, kept = (int(said[n].replace(",", "")) for n in (1, 2, 3))
    assert all_of_it == total
    assert kept == MAX_FILE_BYTES
    assert (len(outcome.text.replace(said[0], "")) + gap) == pytest.approx(total, abs=4)
    spooled = Path(said[4]).read_bytes()
    assert len(spooled) == MAX_FILE_BYTES
    assert spooled.startswith(b"first\nxxxx")
    shown = sum(len(text) for _, text in bench.streamed)
    assert shown < 400_000


def test_what_was_cut_can_be_read_and_searched(bench: Workbench) -> None:
    text = bench.call("bash", command="seq 1 100000").text
    place = re.search(r"the whole is in (\S+)", text)
    assert place
    assert "50000\t50000" in bench.call("read_file", path=place[1], offset=50_000, limit=1).text
    assert "77777:77777" in bench.call("grep", pattern="^77777$", path=place[1]).text
    assert not any(line == "50000" for line in text.split("\n"))


def test_output_of_ordinary_size_leaves_no_file(bench: Workbench) -> None:
    bench.call("bash", command="seq 1 1000")
    assert not (bench.root / ".task_outputs/commands").exists()


def test_where_the_whole_cannot_be_kept_that_is_said(bench: Workbench, tmp_path: Path) -> None:
    (bench.root / ".task_outputs").symlink_to(tmp_path)
    text = bench.call("bash", command="seq 1 100000").text
    assert "could not be kept" in text
    assert not (tmp_path / "commands").exists()


# -- ending


def test_a_timeout_ends_the_command_and_all_it_started(bench: Workbench) -> None:
    command = (
        "(trap '' TERM; sleep 3000 & echo $! > deep; echo $BASHPID > stubborn; wait; sleep 3000) & "
        "sleep 3000 & echo $! > child; echo started; wait"
    )
    outcome = bench.any("bash", command=command, timeout=4)
    assert outcome.is_error
    assert outcome.text.startswith("started\n[timed out after 4 s")
    pids = [noted_pid(bench.root / name) for name in ("deep", "stubborn", "child")]
    assert until(lambda: not any(map(alive, pids)))


def test_a_program_may_clean_up_before_it_is_ended(bench: Workbench) -> None:
    command = "trap 'echo cleaned; exit 7' TERM; echo ready; while true; do sleep 0.05; done"
    outcome = bench.any("bash", command=command, timeout=4)
    assert outcome.text.startswith("ready\n")
    assert "\ncleaned\n[timed out" in outcome.text
    assert outcome.exit_code == 7


def test_an_interrupted_command_is_ended_with_all_it_started(bench: Workbench) -> None:
    async def interrupted() -> None:
        running = asyncio.create_task(bench.acall("bash", command="sleep 3000 & echo $! > child; wait"))
        await asyncio.to_thread(noted_pid, bench.root / "child")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(interrupted())
    assert until(lambda: not alive(noted_pid(bench.root / "child")))


AWAY = "setsid sh -c 'echo $$ > away; exec sleep 3000' </dev/null >/dev/null 2>&1 & echo started; "


def test_a_timeout_ends_what_left_the_group_too(bench: Workbench) -> None:
    outcome = bench.any("bash", command=AWAY + "until test -s away; do sleep 0.05; done; sleep 3000", timeout=4)
    assert "it and all it started were ended" in outcome.text
    assert until(lambda: not alive(noted_pid(bench.root / "away")))


def test_an_interruption_ends_what_left_the_group_too(bench: Workbench) -> None:
    async def interrupted() -> None:
        running = asyncio.create_task(bench.acall("bash", command=AWAY + "sleep 3000"))
        await asyncio.to_thread(noted_pid, bench.root / "away")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(interrupted())
    assert until(lambda: not alive(noted_pid(bench.root / "away")))


def test_a_daemon_outlives_a_command_that_ended_by_itself(bench: Workbench) -> None:
    bench.call("bash", command=AWAY + "until test -s away; do sleep 0.05; done")
    pid = noted_pid(bench.root / "away")
    bench.context.processes.close()
    try:
        assert alive(pid)
    finally:
        os.kill(pid, 9)


def test_a_child_that_keeps_the_output_open_holds_up_nobody(bench: Workbench) -> None:
    outcome = bench.call("bash", command="(sleep 3000; echo late) & echo $! > child; echo done", timeout=300)
    assert outcome.text.startswith("done\n[what it started still runs, as bg1")
    assert outcome.exit_code == 0
    pid = noted_pid(bench.root / "child")
    assert alive(pid)
    ended = bench.call("bash_output", handle="bg1", kill=True)
    assert "ended on your word" in ended.text
    assert until(lambda: not alive(pid))


def test_a_child_without_our_output_is_known_as_well_and_ends_with_the_session(bench: Workbench) -> None:
    outcome = bench.call("bash", command="sleep 3000 >/dev/null 2>&1 & echo $! > child")
    assert "still runs, as bg1" in outcome.text
    pid = noted_pid(bench.root / "child")
    assert alive(pid)
    bench.context.processes.close()
    assert until(lambda: not alive(pid))


def test_children_that_have_ended_are_not_said_to_run(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_module, "LINGER_SECONDS", 300.0)
    for _ in range(5):
        assert bench.call("bash", command="(sleep 0.01) & (true) & echo done").text == "done"


# -- background


def test_a_background_command_returns_at_once_and_is_looked_at_later(bench: Workbench) -> None:
    text = bench.call(
        "bash", command="echo one; until test -e go; do sleep 0.02; done; echo two", background=True
    ).text
    assert re.search(r"as bg1, process \d+", text)
    assert until(lambda: "one" in bench.call("bash_output", handle="bg1").text)
    quiet = bench.call("bash_output", handle="bg1").text
    assert quiet.startswith("(nothing new)\n[bg1: runs, process ")
    bench.write("go", "")
    seen: list[str] = []

    def finished() -> bool:
        seen.append(bench.call("bash_output", handle=" bg1 ").text)
        return "finished" in seen[-1]

    assert until(finished)
    assert "".join(seen).count("two") == 1
    assert bench.call("bash_output", handle="bg1").text == "(nothing new)\n[bg1: finished, exit code 0]"


def test_the_ledger_knows_the_process_so_that_a_resumed_session_can_look_for_it(bench: Workbench) -> None:
    call = ToolCall("1", "bash", {"command": "sleep 3000", "background": True})
    bench.session.assistant_said((call,))
    bench.session.tool_finished("1", bench.call("bash", **call.input).text)
    process = bench.context.processes.get("bg1")
    assert bench.session.engine.history.ledger.background == {str(process.pid): "sleep 3000"}


def test_a_thousand_lines_in_the_background_are_all_there(bench: Workbench) -> None:
    bench.call("bash", command="for n in $(seq 1000); do echo line $n; done; exit 4", background=True)
    rows: list[str] = []

    def finished() -> bool:
        outcome = bench.call("bash_output", handle="bg1")
        rows.extend(line for line in outcome.text.split("\n") if line.startswith("line"))
        return "finished, exit code 4" in outcome.text

    assert until(finished)
    assert rows == [f"line {n}" for n in range(1, 1001)]


def test_an_unknown_handle_names_those_there_are(bench: Workbench) -> None:
    assert "none was started" in bench.refused("bash_output", handle="bg1")
    bench.call("bash", command="true", background=True)
    assert "bg1" in bench.refused("bash_output", handle="bg9")


def test_a_background_command_has_a_timeout_only_when_asked_for(bench: Workbench) -> None:
    bench.call("bash", command="sleep 3000", background=True, timeout=0.3)
    assert until(lambda: "timed out" in bench.call("bash_output", handle="bg1").text)


def test_closing_ends_everything_at_once(bench: Workbench) -> None:
    for number in range(5):
        bench.call("bash", command=f"trap '' TERM; echo $$ > pid{number}; sleep 3000; sleep 3000", background=True)
    pids = [noted_pid(bench.root / f"pid{number}") for number in range(5)]
    assert all(map(alive, pids))
    bench.context.processes.close()
    assert until(lambda: not any(map(alive, pids)))


def test_there_may_not_be_any_number_of_them(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlive.tools.processes.session_commands.MAX_BACKGROUND", 2)
    for _ in range(2):
        bench.call("bash", command="sleep 3000", background=True)
    assert "bg1, bg2" in bench.refused("bash", command="sleep 3000", background=True)
    bench.call("bash_output", handle="bg1", kill=True)
    bench.call("bash", command="sleep 3000", background=True)


def test_a_workspace_that_is_gone_is_said(bench: Workbench, tmp_path: Path) -> None:
    bench.context.root = tmp_path / "nowhere"
    assert "nowhere" in bench.refused("bash", command="ls")


def test_no_descriptor_is_left_open(bench: Workbench) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    bench.call("bash", command="true")
    before = count()
    for _ in range(10):
        bench.call("bash", command="seq 1 60000")
    assert until(lambda: count() <= before)
