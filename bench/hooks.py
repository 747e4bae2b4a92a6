"""Processor time of `outlive hook`, against a bare start of Python: `python -m bench.hooks`.

Processor time and not the clock, because a client waits for it on a machine that does other things; the rounds of all
rows alternate.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 15
SESSION = "4f1c0000-0000-4000-8000-000000000001"


def _events(folder: Path, transcript: Path) -> dict[str, str]:
    def event(name: str, **fields: object) -> str:
        about = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(folder)}
        return json.dumps({**about, "hook_event_name": name, **fields})

    return {
        "PostToolUse, small result": event("PostToolUse", tool_name="Bash", tool_response={"stdout": "ok"}),
        "UserPromptSubmit, no memories": event("UserPromptSubmit", prompt="Go on with the next file."),
        "SessionStart": event("SessionStart", source="startup"),
        "PreCompact": event("PreCompact", trigger="auto"),
        "SessionStart after a compaction, 200 calls": event("SessionStart", source="compact"),
    }


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


def _seconds(command: list[str], text: str) -> float:
    def used() -> float:
        found = resource.getrusage(resource.RUSAGE_CHILDREN)
        return found.ru_utime + found.ru_stime

    before = used()
    subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return used() - before


def main() -> None:
    outlive = str(Path(sys.executable).with_name("outlive"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["OUTLIVE_HOME"] = str(folder / "home")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        (folder / ".git").mkdir()
        _transcript(folder / "session.jsonl", 200)
        work = {"python -c pass": ([sys.executable, "-c", "pass"], "")}
        for label, event in _events(folder, folder / "session.jsonl").items():
            work[label] = ([outlive, "hook", "claude-code"], event)
        found: dict[str, list[float]] = {label: [] for label in work}
        for _ in range(ROUNDS):
            for label, (command, text) in work.items():
                found[label].append(_seconds(command, text))
    bare = statistics.median(found["python -c pass"])
    print("| event | ms of processor time | against a bare start |\n| --- | --- | --- |")
    for label, times in found.items():
        print(f"| {label} | {statistics.median(times) * 1000:.0f} | {statistics.median(times) / bare:.1f}x |")


if __name__ == "__main__":
    main()
