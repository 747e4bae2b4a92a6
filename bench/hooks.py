"""Processor time of `outlive hook`, against a bare start of Python: `python -m bench.hooks`.

Processor time, and then the clock, because a client waits for it on a machine that does other things; the rounds of
all rows alternate. The last rows are of hooks whose client runs our MCP server as well, which answers them: the time
that the server takes counts as well. Between two compactions the session goes on; the work that the server does
between `PreCompact` and the start after it, while a client has its summary written, is told below the table.
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
BETWEEN = 20
"""Calls between two compactions."""
SUMMARY_SECONDS = 3.0
"""From `PreCompact` to the start after it; models take longer."""
COMPACTED = f"SessionStart after a compaction, {CALLS} calls"
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
        COMPACTED: event("SessionStart", source="compact"),
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
    first = {"role": "user", "content": "Look at every part. Never touch vendor/."}
    row = {"type": "user", "uuid": "first", "parentUuid": None, "sessionId": SESSION, "message": first}
    path.write_text(json.dumps(row) + "\n")
    _calls(path, 0, calls, "first")


def _calls(path: Path, start: int, stop: int, parent: str) -> None:
    """Add calls and their results to a transcript."""
    rows: list[dict[str, object]] = []
    for number in range(start, stop):
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
    with path.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


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


def _server_seconds(server: int) -> float:
    """Processor time of a server so far."""
    threads = Path(f"/proc/{server}/task").glob("*/schedstat") if server else ()
    return sum(int(path.read_text().split()[0]) for path in threads) / 1e9


def _seconds(command: list[str], text: str, server: int) -> tuple[float, float]:
    """Processor time of a command, and of the server meanwhile; and how long it took."""

    def used() -> float:
        found = resource.getrusage(resource.RUSAGE_CHILDREN)
        return found.ru_utime + found.ru_stime + _server_seconds(server)

    before, began = used(), time.perf_counter()
    subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    took = time.perf_counter() - began
    return used() - before, took


def _measure(
    work: dict[str, tuple[list[str], str]], found: dict[str, list[tuple[float, float]]], server: int
) -> None:
    for label, (command, text) in work.items():
        found.setdefault(label, []).append(_seconds(command, text, server))


def _compactions(
    work: dict[str, tuple[list[str], str]], found: dict[str, list[tuple[float, float]]], transcript: Path, server: int
) -> list[float]:
    """A session that goes on and is compacted again and again; the server's time while the client summarizes."""
    ready = []
    for number in range(ROUNDS):
        calls = CALLS + number * BETWEEN
        _calls(transcript, calls, calls + BETWEEN, f"{calls - 1}-user")
        _measure({"python -c pass": work["python -c pass"]}, found, 0)
        before = _server_seconds(server)
        _measure({"PreCompact: by the server": work["PreCompact"]}, found, server)
        time.sleep(SUMMARY_SECONDS)
        ready.append(_server_seconds(server) - before)
        _measure({f"{COMPACTED} and more: by the server": work[COMPACTED]}, found, server)
    return ready


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
        found: dict[str, list[tuple[float, float]]] = {}
        for _ in range(ROUNDS):
            _measure(work, found, 0)
        with _server(full) as server:
            served = {
                f"{label}: by the server": work[label]
                for label in work
                if label.startswith(("User", "Session")) and label != COMPACTED
            }
            for _ in range(ROUNDS):
                _measure(served, found, server)
            ready = _compactions(work, found, empty / "session.jsonl", server)
        first, later = _by_server(full)
    bare = [statistics.median(times) for times in zip(*found["python -c pass"], strict=True)]
    print("| event | ms of processor time | against a bare start | by the clock |\n| --- | --- | --- | --- |")
    for label, times in found.items():
        used, took = (statistics.median(one) for one in zip(*times, strict=True))
        print(f"| {label} | {used * 1000:.0f} | {used / bare[0]:.1f}x | {took / bare[1]:.1f}x |")
    print(f"\nBetween `PreCompact` and the start after it, by the server: the first time {ready[0] * 1000:.0f} ms,")
    print(f"later ones {statistics.median(ready[1:]) * 1000:.0f} ms.")
    said = f"{first * 1000:.0f} ms, later ones {later * 1000:.0f} ms"
    print(f"A large result by the MCP server after {LONG_SESSION:,} calls: the first {said}.")


if __name__ == "__main__":
    main()
