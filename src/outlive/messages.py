"""Messages as the model sees them, in no provider's format. Providers translate at their own boundary.

A message is a role and a tuple of blocks; everything here is frozen, so a view can be shared and compared.
"""

import re
import shlex
from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

Role = Literal["user", "assistant"]
Origin = Literal["", "user", "harness", "hook", "memory", "stdin", "parent"]
"""Who a text in the user's turn is from. Empty: the model's own, or of a log from before events of version 4.
`stdin`: data beside the prompt, piped in or attached in an editor."""

PATH_KEYS = ("file_path", "path", "notebook_path", "filename", "file")
COMMAND_KEYS = ("command", "cmd", "script", "code")
_TARGET_KEYS = (*COMMAND_KEYS, *PATH_KEYS, "pattern", "query", "url", "description", "prompt", "tool")
_WRITING = ("write", "edit", "patch", "create", "replace", "insert", "delete", "move")
_RECALL = re.compile(r"\s*(?:\S*/)?outlive recall\b")
_SHELL = re.compile(r"(?:.*/)?(?:bash|sh|zsh|dash|ksh|fish)")
_FILE = re.compile(r"(?<![\w./-])(?:[\w.-]*/)*[\w-]+\.[A-Za-z]{1,6}(?![\w/(])")


class Text(Struct, frozen=True, tag="text", omit_defaults=True):
    """Words of the assistant, or in the user's turn."""

    text: str
    origin: Origin = ""


class Image(Struct, frozen=True, tag="image", omit_defaults=True):
    """A picture, either inline (base64) or by address."""

    media_type: str = "image/png"
    data: str = ""
    url: str = ""


class Opaque(Struct, frozen=True, tag="opaque", omit_defaults=True):
    """A block only its own provider understands (redacted thinking, server tools); carried untouched."""

    provider: str
    data: dict[str, Any]

    @property
    def is_unreadable(self) -> bool:
        """Whether nothing in it could be read later: encrypted reasoning, or a label of the next text."""
        return self.data.get("type") in ("reasoning", "phase")

    @property
    def is_summary(self) -> bool:
        """Whether it stands for all that was said before it."""
        return self.data.get("type") == "compaction"


class Thinking(Struct, frozen=True, tag="thinking", omit_defaults=True):
    """A model's reasoning. Its signature is what the provider checks, so it is never altered."""

    text: str
    signature: str = ""


class ToolCall(Struct, frozen=True, tag="tool_call", omit_defaults=True):
    """One request to run a tool."""

    id: str
    name: str
    input: dict[str, Any]


class ToolResult(Struct, frozen=True, tag="tool_result", omit_defaults=True):
    """What came back for the call with that id."""

    call_id: str
    text: str
    is_error: bool = False
    images: tuple[Image, ...] = ()


Block = Text | Image | Opaque | Thinking | ToolCall | ToolResult


class Message(Struct, frozen=True):
    """One message of the conversation."""

    role: Role
    blocks: tuple[Block, ...]


def tool_calls(blocks: tuple[Block, ...]) -> Iterator[ToolCall]:
    """The tool calls among `blocks`, in order."""
    return (block for block in blocks if isinstance(block, ToolCall))


def plain_text(blocks: tuple[Block, ...]) -> str:
    """The words among `blocks`, one paragraph a block."""
    return "\n\n".join(block.text for block in blocks if isinstance(block, Text))


def call_command(call: ToolCall) -> str:
    """The command a call runs: as it stands, or put together from its words (`["bash", "-lc", "make"]` is `make`)."""
    for key in COMMAND_KEYS:
        value = call.input.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            inner = shell_script(value)
            return shlex.join(value) if inner is None else inner
    return ""


def shell_script(words: list[str]) -> str | None:
    """The line that a shell is given to run (`bash -lc LINE`); None for any other program."""
    if words and _SHELL.fullmatch(words[0]):
        for at, word in enumerate(words[1:-1], 1):
            if re.fullmatch(r"-[a-z]*c", word):
                return words[at + 1]
            if not word.startswith("-"):
                break
    return None


def call_file(call: ToolCall) -> str:
    """The file a call is about: by its input, or the first file that a command or a patch names."""
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
    """A call in a few words: the tool and what it was pointed at (of a long path, the end)."""
    listed = next((key for key in COMMAND_KEYS if isinstance(call.input.get(key), list)), "")
    key = listed or next((key for key in _TARGET_KEYS if isinstance(call.input.get(key), str)), "")
    first = (call_command(call) if listed else str(call.input.get(key, ""))).strip().partition("\n")[0]
    if len(first) > longest:
        first = "…" + first[1 - longest :] if key in PATH_KEYS else first[: longest - 1] + "…"
    return f"{call.name} {first}".strip()


def is_writing(call: ToolCall) -> bool:
    """Whether the tool's name says that it changes files."""
    lowered = call.name.lower()
    return any(word in lowered for word in _WRITING)


def is_recall(call: ToolCall) -> bool:
    """Whether a call asks for what had left the view: the tool (also as an MCP server names it) or the command."""
    if call.name.lower().rpartition("__")[2] == "recall":
        return True
    return _RECALL.match(call_command(call)) is not None
