"""Hooks: real commands, JSON in and out, able to block, bounded in time and output."""

import asyncio
import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from outlive.errors import ConfigError
from outlive.events import Process
from outlive.tools.hooks import MAX_OUTPUT_BYTES, CommandHooks
from outlive.tools.processes.watchdog import WATCHDOG
from outlive.tools.runner import HookAnswer


def fire(root: Path, event: str, *commands: str | dict[str, Any], **about: Any) -> HookAnswer:
    entries = [{"command": one} if isinstance(one, str) else one for one in commands]
    return asyncio.run(CommandHooks({event: entries}, root, session="s1").fire(event, **about))


def test_a_hook_is_told_what_happens_as_json(tmp_path: Path) -> None:
    fire(tmp_path, "PreToolUse", "cat > seen.json", tool="bash", input={"command": "ls \ud800é"})
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen == {
        "event": "PreToolUse",
        "session": "s1",
        "cwd": str(tmp_path),
        "tool": "bash",
        "input": {"command": "ls ?é"},
    }


def test_silence_is_consent(tmp_path: Path) -> None:
    assert fire(tmp_path, "PreToolUse", "true", tool="bash") == HookAnswer()
    assert fire(tmp_path, "PreToolUse", "echo '{}'", tool="bash") == HookAnswer()


def test_a_hook_blocks_by_json_or_by_exit_code_two(tmp_path: Path) -> None:
    assert fire(tmp_path, "PreToolUse", """echo '{"block": "not today"}'""").blocked == "not today"
    assert fire(tmp_path, "PreToolUse", "echo 'not now' >&2; exit 2").blocked == "not now"
    assert "without a reason" in fire(tmp_path, "Stop", "exit 2").blocked
    assert "without a reason" in fire(tmp_path, "Stop", """echo '{"block": ""}'""").blocked


def test_hooks_run_in_order_and_their_context_is_joined(tmp_path: Path) -> None:
    answer = fire(tmp_path, "UserPromptSubmit", """echo '{"context": "one"}'""", """echo '{"context": "two"}'""")
    assert answer == HookAnswer(context="one\ntwo")


def test_the_first_that_blocks_is_the_last_to_run(tmp_path: Path) -> None:
    answer = fire(tmp_path, "PreToolUse", """echo '{"block": "no"}'""", "touch ran", tool="bash")
    assert answer.blocked == "no"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("matcher", "tool", "runs"),
    [("bash|edit_file", "edit_file", True), ("bash", "bash_output", False), ("edit_.*", "edit_file", True),
     ("*", "any", True), ("", "any", True)],
)  # fmt: skip
def test_a_matcher_is_for_the_whole_name_of_the_tool(tmp_path: Path, matcher: str, tool: str, runs: bool) -> None:
    fire(tmp_path, "PostToolUse", {"matcher": matcher, "command": "touch ran"}, tool=tool)
    assert (tmp_path / "ran").exists() is runs


def test_other_events_do_not_run_it(tmp_path: Path) -> None:
    hooks = CommandHooks({"Stop": [{"command": "touch ran"}]}, tmp_path)
    assert asyncio.run(hooks.fire("PreToolUse", tool="bash")) == HookAnswer()
    assert not (tmp_path / "ran").exists()


FAILING = ["exit 1", "no-such-program", "echo nonsense", "echo '[1]'", "echo '{\"block\": 1}'", "kill -9 $$"]


@pytest.mark.parametrize("command", FAILING)
def test_a_guard_that_fails_fails_closed(tmp_path: Path, command: str) -> None:
    for event in ("PreToolUse", "UserPromptSubmit"):
        answer = fire(tmp_path, event, command, tool="bash")
        assert "failed" in answer.blocked
        assert repr(command) in answer.blocked


@pytest.mark.parametrize("command", FAILING)
def test_elsewhere_a_failing_hook_is_only_said(tmp_path: Path, command: str) -> None:
    answer = fire(tmp_path, "PostToolUse", command, tool="bash")
    assert not answer.blocked
    assert "failed" in answer.context


def test_a_hook_that_hangs_is_stopped_with_all_it_started(tmp_path: Path) -> None:
    command = "sleep 3000 & echo $! > child; sleep 3000"
    answer = fire(tmp_path, "PreToolUse", {"command": command, "timeout": 1.5}, tool="bash")
    assert "longer than 1.5 s" in answer.blocked
    assert gone(int((tmp_path / "child").read_text()))


def test_what_a_hook_leaves_behind_does_not_hold_the_session(tmp_path: Path) -> None:
    command = """sleep 3000 & echo $! > child; echo '{"context": "done"}'"""
    assert fire(tmp_path, "PostToolUse", {"command": command, "timeout": 30}).context == "done"
    assert gone(int((tmp_path / "child").read_text()))


def gone(pid: int) -> bool:
    """Dead, or dead and not yet collected by its new parent. A killed process may take a moment to notice."""
    for _ in range(30_000):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    return False


def test_output_is_bounded(tmp_path: Path) -> None:
    loud = f"head -c {MAX_OUTPUT_BYTES * 20} /dev/zero | tr '\\0' x"
    assert "more than" in fire(tmp_path, "PreToolUse", loud).blocked
    assert len(fire(tmp_path, "PreToolUse", f"{{ {loud}; }} >&2; exit 2").blocked) <= 8_000


def test_a_hook_need_not_read_what_it_is_given(tmp_path: Path) -> None:
    assert fire(tmp_path, "PostToolUse", "exec 0<&-; exit 0", output="x" * 5_000_000) == HookAnswer()


def test_a_session_that_is_interrupted_takes_its_hook_along(tmp_path: Path) -> None:
    async def story() -> None:
        hooks = CommandHooks({"Stop": [{"command": "echo $$ > pid; sleep 3000"}]}, tmp_path)
        task = asyncio.ensure_future(hooks.fire("Stop"))
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_hook_does_nothing_before_it_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = WATCHDOG.watch
    seen: list[bool] = []

    def slowly(process: Process) -> None:
        time.sleep(0.3)
        seen.append((tmp_path / "ran").exists())
        watch(process)

    monkeypatch.setattr(WATCHDOG, "watch", slowly)
    asyncio.run(CommandHooks({"Stop": [{"command": "touch ran"}]}, tmp_path).fire("Stop"))
    assert seen == [False]
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("entry", [{"command": "x", "matcher": "("}, {"command": "x", "timeout": 0}])
def test_a_hook_that_cannot_be_used_is_refused_at_the_start(tmp_path: Path, entry: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="PreToolUse"):
        CommandHooks({"PreToolUse": [entry]}, tmp_path)


def test_the_pipes_are_closed_though_something_that_got_away_holds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[asyncio.subprocess.Process] = []
    start = asyncio.create_subprocess_exec

    async def started(*words: str, **options: Any) -> asyncio.subprocess.Process:
        made.append(await start(*words, **options))
        return made[-1]

    async def story() -> None:
        away = "setsid sh -c 'echo $$ > pid; exec sleep 3000' & while [ ! -s pid ]; do sleep 0.01; done"
        hooks = CommandHooks({"Stop": [{"command": away, "timeout": 2}]}, tmp_path)
        await hooks.fire("Stop")
        (process,) = made
        assert process._transport.is_closing()  # type: ignore[attr-defined]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", started)
    try:
        asyncio.run(story())
    finally:
        with suppress(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
