"""Small transcripts of each format that the page takes."""

import json
from typing import Any

FILES = 12
OUTPUT = "".join(f"def helper_number_{line}(): return {line}\n" for line in range(120))


def claude_code() -> bytes:
    rows: list[dict[str, Any]] = [_claude(0, "user", "Go through the modules.")]
    for number in range(FILES):
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Read",
            "input": {"file_path": f"src/module_{number}.py"},
        }
        rows.append(_claude(len(rows), "assistant", [call], number))
        result = {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "content": f"# src/module_{number + 1}.py\n{OUTPUT}",
        }
        rows.append(_claude(len(rows), "user", [result]))
    rows.append(_claude(len(rows), "assistant", [{"type": "text", "text": "All read."}], FILES))
    return _lines(rows)


def _claude(number: int, role: str, content: Any, call: int | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": content}
    if call is not None:
        cached = 4_000 * call if call % 4 else 0
        usage = {"input_tokens": 4_000 * (call + 1) - cached, "cache_read_input_tokens": cached, "output_tokens": 40}
        message |= {"id": f"m{call}", "model": "claude-sonnet-5-5", "usage": usage}
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "recorded",
        "timestamp": f"2026-01-02T03:{number // 60:02}:{number % 60:02}.000Z",
        "message": message,
    }


def codex() -> bytes:
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-01-02T03:04:05.000Z", "type": "response_item", "payload": payload}

    rows: list[dict[str, Any]] = [
        {
            "timestamp": "2026-01-02T03:04:05.000Z",
            "type": "session_meta",
            "payload": {"id": "codex-1", "cwd": "/work"},
        },
        item(type="message", role="user", content=[{"type": "input_text", "text": "List the files."}]),
    ]
    arguments = json.dumps({"command": ["ls"]})
    rows.append(item(type="function_call", name="shell", arguments=arguments, call_id="c1"))
    rows.append(item(type="function_call_output", call_id="c1", output="app.py"))
    rows.append(item(type="message", role="assistant", content=[{"type": "output_text", "text": "One file."}]))
    return _lines(rows)


def pi() -> bytes:
    at = "2026-01-02T03:04:05.000Z"

    def said(id: str, parent: str | None, role: str, text: str) -> dict[str, Any]:
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        return {"type": "message", "id": id, "parentId": parent, "timestamp": at, "message": message}

    first = {"type": "session", "version": 3, "id": "pi-1", "timestamp": at, "cwd": "/work"}
    return _lines([first, said("a", None, "user", "Hello?"), said("b", "a", "assistant", "Hello.")])


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
