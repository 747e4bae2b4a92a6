"""`outlive hook CLIENT`: reads one event of a client on standard input and prints the answer for it.

A client waits for its hooks, so this starts without the command line, loads what an event needs and no more, and ends
within a time limit. Whatever fails here fails alone: the client gets an empty answer, and the user is told once a
session. The clients send much the same JSON and want the answer in different ones.
"""

import json
import os
import signal
import sys
import time
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from outlive.clients import MAX_EVENT_BYTES
from outlive.clients.answers import ClientAnswer, HookCall, answer, takes_long
from outlive.clients.server_socket import ask_server
from outlive.config.home import home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from outlive.clients.answers.open_logs import OpenLogs

TIME_LIMITS = {"SessionStart": 30, "SessionEnd": 30, "PreCompact": 10}
"""Seconds for an event."""
DEFAULT_TIME_LIMIT = 8  # seconds of other events: a client or its user waits for the answer
FAILURE_FILE = "hooks.failed"
"""In the user's own folder: the newest failure, and the session in which the user was told."""


def main(client: str) -> None:
    """Answer and end the process: 0 even on failure, because a client takes another code for a refusal."""
    try:
        event = json.loads(sys.stdin.buffer.read(MAX_EVENT_BYTES))
        signal.signal(signal.SIGALRM, _late)
        signal.alarm(TIME_LIMITS.get(event.get("hook_event_name"), DEFAULT_TIME_LIMIT))
        call = HookCall(client, event)
        text = ask_server(client, event) if takes_long(call) else None
        if text is None:
            text = encoded(client, event, answer(call))
    except BaseException as error:  # noqa: BLE001 - an error of a hook must not stop the client
        signal.alarm(0)
        text = _failed(error, locals().get("event"))
    with suppress(Exception):  # the client is gone, or its disk is full
        sys.stdout.write(text)
        sys.stdout.flush()
    os._exit(0)


def owner_of(transcript: "Any") -> str:
    """The client in whose own folder a transcript is; empty if in none."""
    folders = {
        "claude-code": Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude", "projects"),
        "codex": Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex", "sessions"),
    }
    above = Path(str(transcript)).resolve().parents
    return next((client for client, folder in folders.items() if folder.resolve() in above), "")


def keep_result(client: str, arguments: "Mapping[str, Any]") -> str:
    """The answer to a result that comes as a call of our MCP server: no process has to start for it.

    It takes no other event, and the transcript has to be one of the client, so that nothing can speak for the user in
    this way. Objects may arrive as JSON.
    """
    event = {name: _object(value) for name, value in arguments.items()} | {"hook_event_name": "PostToolUse"}
    return answered_by_server(client, event)


def answered_by_server(client: str, event: "dict[str, Any]") -> str:
    """The answer of a server that keeps the logs of its client's sessions in memory."""
    try:
        with closing(HookCall(client, event, _open_logs().open)) as call:
            return encoded(client, event, answer(call))
    except Exception as error:  # noqa: BLE001 - an error of a hook must not stop the client
        return _failed(error, event)


@cache
def _open_logs() -> "OpenLogs":
    """The logs that this process keeps in memory, if it is a server."""
    from outlive.clients.answers.open_logs import OpenLogs

    return OpenLogs()


def _object(value: "Any") -> "Any":
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in "{[" else value
    except ValueError:
        return value


def encoded(client: str, event: "dict[str, Any]", found: ClientAnswer) -> str:
    """The answer as the client reads it; empty if there is nothing to say."""
    name = str(event.get("hook_event_name"))
    if name == "PreCompact" or client == "kimi":
        return found.context  # instructions for the summary; Kimi Code adds what is printed to the prompt
    if client == "cursor":
        return json.dumps({"additional_context": found.context} if found.context else {})
    form: dict[str, object] = {}
    if found.message:
        form["systemMessage"] = found.message
    if found.replacement is not None and client == "codex":
        form |= {"continue": False, "reason": found.replacement}
    more: dict[str, object] = {}
    if found.context:
        more["additionalContext"] = found.context
    if found.replacement is not None and client == "claude-code":
        more["updatedToolOutput"] = found.replacement
    if more:
        form["hookSpecificOutput"] = {"hookEventName": name, **more}
    return json.dumps(form) if form or client == "gemini" else ""  # Gemini CLI wants JSON in any case


def _late(*_: object) -> None:
    raise TimeoutError("it took too long")


def _failed(error: BaseException, event: "Any") -> str:
    """Keep the reason for `outlive init --check`; tell the user, once a session."""
    event = event if isinstance(event, dict) else {}
    session = str(event.get("session_id", ""))
    path = home() / FAILURE_FILE
    try:
        told = json.loads(path.read_text()).get("session") == session if path.exists() else False
        reason = f"{type(error).__name__}: {error}"[:500]
        note = {"session": session, "event": event.get("hook_event_name"), "reason": reason, "time": time.time()}
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(note, file)
    except (OSError, ValueError):
        return ""
    if told or not session:
        return ""
    said = f"outlive could not help with {event.get('hook_event_name')} ({reason}); the session goes on without it"
    return json.dumps({"systemMessage": said})


def last_failure() -> "dict[str, Any] | None":
    """What failed last in a hook, for people."""
    path = Path(home() / FAILURE_FILE)
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def remove_traces_of_hooks() -> None:
    """Remove the note of the last failure, and sockets that killed servers left behind."""
    run = home() / "run"
    for path in (home() / FAILURE_FILE, *run.glob("hooks-*.sock")):
        path.unlink(missing_ok=True)
    with suppress(OSError):
        run.rmdir()
