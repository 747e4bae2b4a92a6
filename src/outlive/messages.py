"""Provider-neutral messages. Providers translate at their own boundary.

A message is a role and a tuple of blocks; everything is frozen, so a view can be shared and compared.
"""

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

Role = Literal["user", "assistant"]
Origin = Literal["", "user", "harness", "hook", "memory", "stdin", "parent"]
"""Who wrote a text in the user's turn. Empty: the model, or a log from before events of version 4. `stdin`: data
beside the prompt, piped in or attached in an editor."""

PATH_KEYS = ("file_path", "path", "notebook_path", "filename", "file")
COMMAND_KEYS = ("command", "cmd", "script", "code")
_TARGET_KEYS = (*COMMAND_KEYS, *PATH_KEYS, "pattern", "query", "url", "description", "prompt", "tool")
SHORT_INPUT_CHARS = 60
"""Characters of a value that a label may show beside its name."""
_WRITING = ("write", "edit", "patch", "create", "replace", "insert", "delete", "move")
_RECALL = re.compile(r"\s*(?:\S*/)?outlive recall\b")
_SCRIPTED = re.compile(r"""\btools\.\w+\(\{\s*"?cmd"?:\s*("(?:[^"\\]|\\.)*")""")
_SHELL = re.compile(r"(?:.*/)?(?:bash|sh|zsh|dash|ksh|fish)")
_FILE = re.compile(r"(?<![\w./-])(?:[\w.-]*/)*[\w-]+\.[A-Za-z]{1,6}(?![\w/(])")


class Text(Struct, frozen=True, gc=False, tag="text", omit_defaults=True):
    """Words of the assistant, or in the user's turn."""

    text: str
    origin: Origin = ""


class Image(Struct, frozen=True, gc=False, tag="image", omit_defaults=True):
    """An image, either inline (base64) or by URL."""

    media_type: str = "image/png"
    data: str = ""
    url: str = ""


class Opaque(Struct, frozen=True, gc=False, tag="opaque", omit_defaults=True):
    """A block that only its own provider understands (redacted thinking, server tools); kept unchanged."""

    provider: str
    data: dict[str, Any]

    @property
    def is_unreadable(self) -> bool:
        """Whether its content cannot be read later: encrypted reasoning, or a label of the next text."""
        return self.data.get("type") in ("reasoning", "phase")

    @property
    def is_summary(self) -> bool:
        """Whether it replaces everything that was said before it."""
        return self.data.get("type") == "compaction"


class Thinking(Struct, frozen=True, gc=False, tag="thinking", omit_defaults=True):
    """A model's reasoning. The provider checks its signature, so it is never changed."""

    text: str
    signature: str = ""


class ToolCall(Struct, frozen=True, gc=False, tag="tool_call", omit_defaults=True):
    """A call of a tool."""

    id: str
    name: str
    input: dict[str, Any]


class ToolResult(Struct, frozen=True, gc=False, tag="tool_result", omit_defaults=True):
    """The result of the call with that id."""

    call_id: str
    text: str
    is_error: bool = False
    images: tuple[Image, ...] = ()


Block = Text | Image | Opaque | Thinking | ToolCall | ToolResult


class Message(Struct, frozen=True, gc=False):
    """One message of the conversation."""

    role: Role
    blocks: tuple[Block, ...]


def tool_calls(blocks: tuple[Block, ...]) -> Iterator[ToolCall]:
    """The tool calls among `blocks`, in order."""
    return (block for block in blocks if isinstance(block, ToolCall))


def plain_text(blocks: tuple[Block, ...]) -> str:
    """The text among `blocks`, one paragraph a block."""
    return "\n\n".join(block.text for block in blocks if isinstance(block, Text))


def call_command(call: ToolCall) -> str:
    """The command that a call runs, as given or joined from its words (`["bash", "-lc", "make"]` is `make`)."""
    for key in COMMAND_KEYS:
        value = call.input.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            inner = shell_script(value)
            return shlex.join(value) if inner is None else inner
    return ""


def shell_script(words: list[str]) -> str | None:
    """The script that a shell is asked to run (`bash -lc LINE`); None for any other program."""
    if words and _SHELL.fullmatch(words[0]):
        for at, word in enumerate(words[1:-1], 1):
            if re.fullmatch(r"-[a-z]*c", word):
                return words[at + 1]
            if not word.startswith("-"):
                break
    return None


def call_file(call: ToolCall) -> str:
    """The file a call is about: from its input, or the first file that a command or a patch names."""
    for key in PATH_KEYS:
        value = call.input.get(key)
        if isinstance(value, str) and value:
            return value
    for key, value in call.input.items():
        if key in COMMAND_KEYS and isinstance(value, list):
            value = call_command(call)
        if isinstance(value, str) and (key in COMMAND_KEYS or key in ("input", "patch")):
            found = _FILE.search(value)
            return found[0] if found else ""
    return ""


def call_label(call: ToolCall, longest: int = 100) -> str:
    """A call in a few words: the tool and its target (of a long path, the end)."""
    listed = next((key for key in COMMAND_KEYS if isinstance(call.input.get(key), list)), "")
    key = listed or next((key for key in _TARGET_KEYS if isinstance(call.input.get(key), str)), "")
    target = call_command(call) if listed else str(call.input.get(key, "")) or _scripted_command(call)
    target = target or _short_input(call)
    first = target.strip().partition("\n")[0]
    if len(first) > longest:
        first = "…" + first[1 - longest :] if key in PATH_KEYS else first[: longest - 1] + "…"
    return f"{call.name} {first}".strip()


def _short_input(call: ToolCall) -> str:
    """The short values of an input that has none of the usual parameters, as `city=Rome days=3`."""
    values = {key: str(value) for key, value in call.input.items() if isinstance(value, str | int | float)}
    short = {key: value for key, value in values.items() if len(value) <= SHORT_INPUT_CHARS and "\n" not in value}
    return " ".join(f"{key}={value}" for key, value in short.items())


def _scripted_command(call: ToolCall) -> str:
    """The first command that a script runs, as Codex writes them: `await tools.exec_command({"cmd": "make"})`."""
    script = call.input.get("input")
    found = _SCRIPTED.search(script) if isinstance(script, str) else None
    try:
        return str(json.loads(found[1])) if found else ""
    except ValueError:
        return ""


def is_writing(call: ToolCall) -> bool:
    """Whether the tool's name says that it changes files."""
    lowered = call.name.lower()
    return any(word in lowered for word in _WRITING)


def is_recall(call: ToolCall) -> bool:
    """Whether a call asks for text that left the view: the tool (also as an MCP server names it) or the command."""
    if call.name.lower().rpartition("__")[2] == "recall":
        return True
    return _RECALL.match(call_command(call)) is not None
