"""The clients that `outlive init` knows: how each is detected, and what is written where."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct

from outlive import __version__
from outlive.clients import KEEP_RESULT
from outlive.clients.serve.shims import shim
from outlive.clients.setup.changes import SetupChange, read
from outlive.clients.setup.merging import merge_json, merge_toml, without_json, without_toml

PACKAGE = Path(__file__).parents[1]
AT_START = "ready tasks and what is remembered at the start; tasks, memory, recall"
WITH_PROMPT = "memories that fit a prompt; tasks, memory, recall"
AFTER_COMPACTION = (
    "your words, instructions, plan, tasks and the best lines after a compaction; tasks, memory, recall"
)
OWN_VIEW = "outlive makes the requests, so nothing is lost in a compaction; tasks, recall"
NEXT_START = "it counts from the next start on"
Files = dict[Path, Callable[[bytes | None], bytes]]
"""Each file, and what it becomes."""


class Target(Struct, frozen=True):
    """A client."""

    name: str
    title: str
    program: str
    folder: Callable[[], Path]
    """Where the client keeps its settings."""
    files: Callable[[Path], Files]
    gives: str
    """What outlive does there, for people."""
    after: str = ""
    """What the user has to do then."""

    def found(self) -> bool:
        """Whether the client is on this machine."""
        return shutil.which(self.program) is not None or self.folder().is_dir()

    def changes(self) -> list[SetupChange]:
        """The changes that the setup still has to make."""
        files = ((path, read(path), make) for path, make in self.files(self.folder()).items())
        found = [SetupChange(path, before, make(before)) for path, before, make in files]
        return [change for change in found if change.before != change.after]

    def without(self, path: Path, data: bytes) -> bytes | None:
        """An edited file without our entries."""
        if path.suffix == ".toml":
            return without_toml(path, data)
        merged = self.files(self.folder()).get(path)
        ours = getattr(merged, "ours", None)
        return without_json(path, data, ours) if ours is not None else None


def launcher() -> list[str]:
    """The command that starts this outlive, wherever it is installed."""
    started = Path(sys.argv[0])
    if started.name == "outlive" and started.is_absolute() and os.access(started, os.X_OK):
        return [str(started)]
    beside = Path(sys.executable).with_name("outlive")
    return [str(beside)] if os.access(beside, os.X_OK) else [sys.executable, "-m", "outlive"]


class _JsonPart:
    """Entries of ours in a JSON file."""

    def __init__(self, path: Path, ours: dict[str, Any]) -> None:
        self.path, self.ours = path, ours

    def __call__(self, before: bytes | None) -> bytes:
        return merge_json(self.path, before, self.ours)


def _own(data: bytes) -> Callable[[bytes | None], bytes]:
    """A file that is ours as a whole."""
    return lambda _: data


def _json(path: Path, ours: dict[str, Any]) -> Files:
    return {path: _JsonPart(path, ours)}


def _toml(path: Path, table: str, text: str) -> Files:
    return {path: lambda before: merge_toml(path, before, table, text)}


def _folder(variable: str, name: str) -> Callable[[], Path]:
    return lambda: Path(os.environ.get(variable) or Path.home() / name)


def _claude_code(folder: Path) -> Files:
    """The plugin of the package, with the command that starts this outlive; Claude Code loads it from there."""
    plugin = PACKAGE / "plugin"
    files: Files = {}
    for path in sorted(path for path in plugin.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if path.name in ("hooks.json", ".mcp.json"):
            form = _started(json.loads(data))
            if path.name == "hooks.json" and find_spec("mcp") is not None:
                form["hooks"]["PostToolUse"][0]["hooks"] = [_call_of_server("plugin:outlive:outlive")]
            data = _pretty(form)
        files[folder / "skills" / "outlive" / path.relative_to(plugin)] = _own(data)
    return files


def _started(form: Any) -> Any:
    """The same value, with the command of this installation in place of `outlive`."""
    if isinstance(form, list):
        return [_started(part) for part in form]
    if not isinstance(form, dict):
        return form
    if form.get("command") == "outlive":
        program, *arguments = launcher()
        return form | {"command": program, "args": [*arguments, *form["args"]]}
    return {key: _started(value) for key, value in form.items()}


def _call_of_server(server: str) -> dict[str, Any]:
    """A hook that calls our MCP server, which runs anyway: a process for each result would take several times as
    long."""
    names = ("session_id", "transcript_path", "cwd", "tool_name", "tool_use_id", "tool_input", "tool_response")
    given = {name: f"${{{name}}}" for name in names}
    return {
        "type": "mcp_tool",
        "server": server,
        "tool": KEEP_RESULT,
        "input": given,
        "timeout": 10,
    }


def _command_hooks(client: str, events: Iterable[tuple[str, str, int]]) -> dict[str, Any]:
    """Hooks in the shape that Claude Code brought up: event, matcher, seconds."""
    line = _line(client)
    return {
        event: [
            {
                **({"matcher": matcher} if matcher else {}),
                "hooks": [{"type": "command", "command": line, "timeout": seconds}],
            }
        ]
        for event, matcher, seconds in events
    }


def _line(client: str) -> str:
    """The command of a hook, for a shell."""
    return shlex.join([*launcher(), "hook", client])


def _codex(folder: Path) -> Files:
    limits = {"SessionStart": 40, "UserPromptSubmit": 10, "PostToolUse": 10, "PreCompact": 10, "SessionEnd": 3}
    hooks = _command_hooks("codex", ((event, "", seconds) for event, seconds in limits.items()))
    if find_spec("mcp") is not None:
        hooks["PostToolUse"][0]["hooks"] = [_call_of_server("outlive")]
    program, *arguments = [*launcher(), "mcp"]
    table = f"[mcp_servers.outlive]\ncommand = {json.dumps(program)}\nargs = {json.dumps(arguments)}"
    if "CODEX_HOME" in os.environ:  # which Codex does not pass on
        table += f"\nenv = {{ CODEX_HOME = {json.dumps(str(folder))} }}"
    return _json(folder / "hooks.json", {"hooks": hooks}) | _toml(
        folder / "config.toml", "mcp_servers.outlive", table
    )


def _server() -> dict[str, Any]:
    program, *arguments = [*launcher(), "mcp"]
    return {"command": program, "args": arguments}


def _gemini(folder: Path) -> Files:
    extension = {"name": "outlive", "version": __version__, "mcpServers": {"outlive": _server()}}
    hooks = {"hooks": _command_hooks("gemini", [("SessionStart", "", 10_000), ("BeforeAgent", "", 10_000)])}
    own = folder / "extensions" / "outlive"
    return {
        own / "gemini-extension.json": _own(_pretty(extension)),
        own / "hooks" / "hooks.json": _own(_pretty(hooks)),
    }


def _cursor(folder: Path) -> Files:
    hooks = {"version": 1, "hooks": {"sessionStart": [{"command": _line("cursor")}]}}
    servers = {"mcpServers": {"outlive": _server()}}
    return _json(folder / "mcp.json", servers) | _json(folder / "hooks.json", hooks)


def _kimi(folder: Path) -> Files:
    hook = f'[[hooks]]\nevent = "UserPromptSubmit"\ncommand = {json.dumps(_line("kimi"))}\ntimeout = 10'
    servers = {"mcpServers": {"outlive": _server()}}
    return _json(folder / "mcp.json", servers) | _toml(folder / "config.toml", "", hook)


def _pi(folder: Path) -> Files:
    return {folder / "extensions" / "outlive.ts": _own(shim("pi", launcher()))}


def _opencode(folder: Path) -> Files:
    return {folder / "plugin" / "outlive.ts": _own(shim("opencode", launcher()))}


def _opencode_folder() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "opencode"


def _pretty(form: dict[str, Any]) -> bytes:
    return (json.dumps(form, indent=2) + "\n").encode()


TARGETS = {
    target.name: target
    for target in (
        Target(
            "claude-code",
            "Claude Code",
            "claude",
            _folder("CLAUDE_CONFIG_DIR", ".claude"),
            _claude_code,
            AFTER_COMPACTION,
            "it counts from the next session of Claude Code on",
        ),
        Target(
            "codex",
            "Codex",
            "codex",
            _folder("CODEX_HOME", ".codex"),
            _codex,
            AFTER_COMPACTION,
            "Codex asks you to trust the hooks: open /hooks there once",
        ),
        Target("pi", "pi", "pi", _folder("PI_CODING_AGENT_DIR", ".pi/agent"), _pi, OWN_VIEW, NEXT_START),
        Target("opencode", "opencode", "opencode", _opencode_folder, _opencode, OWN_VIEW, NEXT_START),
        Target(
            "gemini",
            "Gemini CLI",
            "gemini",
            _folder("GEMINI_DIR", ".gemini"),
            _gemini,
            f"ready tasks and what is remembered at the start; {WITH_PROMPT}",
        ),
        Target(
            "cursor",
            "Cursor",
            "cursor",
            _folder("CURSOR_DIR", ".cursor"),
            _cursor,
            AT_START,
            "outlive has never run inside Cursor: its files follow Cursor's documentation",
        ),
        Target("kimi", "Kimi Code", "kimi", _folder("KIMI_CODE_HOME", ".kimi-code"), _kimi, WITH_PROMPT),
    )
}
