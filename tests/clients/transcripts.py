"""Writes transcripts as Claude Code does: one line a block, linked by `parentUuid`."""

import json
from pathlib import Path
from typing import Any

SESSION = "4f1c0000-0000-4000-8000-000000000001"


class ClaudeTranscript:
    """A session file that grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.newest = ""
        self._count = 0
        path.parent.mkdir(parents=True, exist_ok=True)

    def user(self, words: str) -> str:
        return self._line("user", {"role": "user", "content": words})

    def answer(self, words: str) -> str:
        return self._said([{"type": "text", "text": words}])

    def call(self, id: str, tool: str = "Bash", *, message: str = "", **given: Any) -> str:
        """A call; those of one answer have the same `message`."""
        return self._said([{"type": "tool_use", "id": id, "name": tool, "input": given}], message)

    def result(self, id: str, text: str) -> str:
        block = {"type": "tool_result", "tool_use_id": id, "content": text}
        return self._line("user", {"role": "user", "content": [block]})

    def run(self, id: str, command: str, output: str) -> str:
        self.call(id, command=command)
        return self.result(id, output)

    def compact(self, summary: str) -> str:
        self._line("system", None, subtype="compact_boundary", logicalParentUuid=self.newest)
        message = {"role": "user", "content": summary}
        return self._line("user", message, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def rewind(self, line: str) -> None:
        """Let the next line follow another one than the newest."""
        self.newest = line

    def event(self, name: str, **fields: Any) -> dict[str, Any]:
        """A hook event of this session."""
        about = {"session_id": SESSION, "transcript_path": str(self.path), "hook_event_name": name}
        return {**about, **fields}

    def _said(self, content: list[dict[str, Any]], message: str = "") -> str:
        id = message or f"msg_{self._count}"
        return self._line("assistant", {"role": "assistant", "id": id, "content": content})

    def _line(self, kind: str, message: dict[str, Any] | None, **more: Any) -> str:
        self._count += 1
        uuid = f"00000000-0000-4000-8000-{self._count:012d}"
        line = {"type": kind, "uuid": uuid, "parentUuid": self.newest or None, "sessionId": SESSION, **more}
        line["timestamp"] = f"2026-11-18T10:{self._count // 60:02d}:{self._count % 60:02d}.000Z"
        if message is not None:
            line["message"] = message
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        self.newest = uuid
        return uuid
