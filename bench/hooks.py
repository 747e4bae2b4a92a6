"""Processor time of `outlive hook`, against a bare start of Python: `python -m bench.hooks`.

Processor time and not the clock, because a client waits for it on a machine that does other things; the rounds of all
rows alternate. The last rows are of hooks whose client runs our MCP server as well, which answers them: the time that
the server takes counts as well.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from outlive.clients.server_socket import socket_path

ROUNDS = 15
CALLS, LONG_SESSION = 200, 2_000
"""Calls of the sessions that are measured."""
STORED = 20
"""Tasks, and memories."""
SESSION = "4f1c0000-0000-4000-8000-000000000001"


def _events(folder: Path, transcript: Path, *, full: bool) -> dict[str, str]:
    """The events that are measured, in a folder without or with (`full`) tasks and memories."""

    def event(name: str, **fields: object) -> str:
        about = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(folder)}
        return json.dumps({**about, "hook_event_name": name, **fields})

    prompt = event("UserPromptSubmit", prompt="Go on with the next file.")
    start = event("SessionStart", source="startup")
    if full:
        return {f"UserPromptSubmit, {STORED} memories": prompt, f"SessionStart, {STORED} tasks and memories": start}
    return {
        "PostToolUse, small result": event("PostToolUse", tool_name="Bash", tool_response={"stdout": "ok"}),
        "UserPromptSubmit, no memories": prompt,
        "SessionStart, no tasks, no memories": start,
        "PreCompact": event("PreCompact", trigger="auto"),
        f"SessionStart after a compaction, {CALLS} calls": event("SessionStart", source="compact"),
    }


def _fill(folder: Path) -> None:
    """Tasks and memories of a project, as its user keeps them."""
    outlive = str(Path(sys.executable).with_name("outlive"))
    for number in range(STORED):
        fact = f"Part {number} is checked by the north hall on day {number}, and its papers are in drawer {number}."
        for command in (["task", "create", f"Check part {number}"], ["memory", "add", fact]):
            subprocess.run([outlive, *command], cwd=folder, capture_output=True, check=True)


def _by_server(folder: Path) -> tuple[float, float]:
    """Seconds for a large result that comes to the MCP server: the first of a session, and a later one."""
    from outlive.clients.answers import HookCall, answer
    from outlive.clients.answers.open_logs import OpenLogs

    transcript = folder / "long.jsonl"
    _transcript(transcript, LONG_SESSION)
    logs, times, parent = OpenLogs(), [], f"{LONG_SESSION - 1}-user"
    for number in range(4):
        id = f"large{number}"
        block = {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "print"}}
        line = {"type": "assistant", "uuid": id, "parentUuid": parent, "sessionId": SESSION}
        with transcript.open("a") as file:
            file.write(json.dumps({**line, "message": {"role": "assistant", "id": id, "content": [block]}}) + "\n")
        result = {"tool_name": "Bash", "tool_use_id": id, "tool_response": {"stdout": "row\n" * 5_000, "stderr": ""}}
        event = {"session_id": "long", "transcript_path": str(transcript), "cwd": str(folder), **result}
        began = time.process_time()
        shown = answer(HookCall("claude-code", event | {"hook_event_name": "PostToolUse"}, logs.open)).replacement
        times.append(time.process_time() - began)
        answered = {"type": "tool_result", "tool_use_id": id, "content": shown["stdout"]}
        parent = f"{id}-r"
        line = {"type": "user", "uuid": parent, "parentUuid": id, "sessionId": SESSION}
        with transcript.open("a") as file:
            file.write(json.dumps({**line, "message": {"role": "user", "content": [answered]}}) + "\n")
    logs.close()
    return times[0], statistics.median(times[1:])


def _transcript(path: Path, calls: int) -> None:
    rows: list[dict[str, object]] = []
    parent: str | None = None
    for number in range(calls):
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Bash",
            "input": {"command": f"cat part_{number}.txt"},
        }
        text = "\n".join(f"crate {number}-{row} checked, {row} kg" for row in range(40))
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        for role, block in (("assistant", call), ("user", result)):
            uuid = f"{number}-{role}"
            message = {"role": role, "id": uuid, "content": [block]}
            rows.append({"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "message": message})
            parent = uuid
    first = {"role": "user", "content": "Look at every part. Never touch vendor/."}
    rows.insert(0, {"type": "user", "uuid": "first", "parentUuid": None, "sessionId": SESSION, "message": first})
    rows[1]["parentUuid"] = "first"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@contextmanager
def _server(folder: Path) -> Iterator[int]:
    """The MCP server that a client starts beside its hooks, by its process; this process is the client."""
    command = [str(Path(sys.executable).with_name("outlive")), "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder) as process:
        path = socket_path(os.getpid())
        while path and not path.exists():
            time.sleep(0.05)
        yield process.pid
        process.communicate()


def _seconds(command: list[str], text: str, server: int) -> float:
    """Processor time of a command, and of the server meanwhile."""

    def used() -> float:
        found = resource.getrusage(resource.RUSAGE_CHILDREN)
        threads = Path(f"/proc/{server}/task").glob("*/schedstat") if server else ()
        return found.ru_utime + found.ru_stime + sum(int(path.read_text().split()[0]) for path in threads) / 1e9

    before = used()
    subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return used() - before


def _measure(work: dict[str, tuple[list[str], str]], found: dict[str, list[float]], server: int = 0) -> None:
    for _ in range(ROUNDS):
        for label, (command, text) in work.items():
            found.setdefault(label, []).append(_seconds(command, text, server))


def main() -> None:
    outlive = str(Path(sys.executable).with_name("outlive"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["OUTLIVE_HOME"] = str(folder / "home")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        empty, full = folder / "empty", folder / "full"
        for place in (empty, full):
            (place / ".git").mkdir(parents=True)
        _fill(full)
        _transcript(empty / "session.jsonl", CALLS)
        work = {"python -c pass": ([sys.executable, "-c", "pass"], "")}
        for place in (empty, full):
            for label, event in _events(place, empty / "session.jsonl", full=place is full).items():
                work[label] = ([outlive, "hook", "claude-code"], event)
        found: dict[str, list[float]] = {}
        _measure(work, found)
        with _server(full) as server:
            served = [label for label in work if label.startswith(("User", "Session"))]
            _measure({f"{label}: by the server": work[label] for label in served}, found, server)
        first, later = _by_server(full)
    bare = statistics.median(found["python -c pass"])
    print("| event | ms of processor time | against a bare start |\n| --- | --- | --- |")
    for label, times in found.items():
        print(f"| {label} | {statistics.median(times) * 1000:.0f} | {statistics.median(times) / bare:.1f}x |")
    took = f"{first * 1000:.0f} ms, later ones {later * 1000:.0f} ms"
    print(f"\nA large result by the MCP server after {LONG_SESSION:,} calls: the first {took}.")


if __name__ == "__main__":
    main()
