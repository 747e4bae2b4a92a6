"""The command lines of calls: which programs ran, in which folder, `bash -c` included."""

import re
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

from outlive.messages import ToolCall, call_command, shell_script
from outlive.shell.lenient import Program, programs

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
DEEPEST = 3
"""How deep `bash -c` may nest."""
LONGEST = 20_000
"""Characters of a script that are searched for commands."""
_LEADING = frozenset({"!", "time", "{", "}"})
"""Words that may precede a program."""
_EDITOR = frozenset({"view", "create", "str_replace", "insert", "undo_edit", "delete", "rename"})
"""Values of `command` that editing tools take."""
_CODE = re.compile(r"""\bcmd["']?\s*:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)""")


@dataclass(slots=True)
class CommandLine:
    """The programs of a line, in order."""

    programs: list[Program]
    plain: bool = True
    """No loop or condition: the exit code is the last program's."""
    pipefail: bool = False
    background: bool = False
    """Whether it ended with `&`."""


def command_of(call: ToolCall) -> str:
    """The shell command of a call, which may be a line, a list of words, or a script that runs commands."""
    command = call_command(call)
    if command in _EDITOR and isinstance(call.input.get("path"), str):
        return ""
    if command:
        return command
    script = call.input.get("input")
    if call.name == "exec" and isinstance(script, str):
        return "\n".join(filter(None, (_literal(found[1]) for found in _CODE.finditer(script[:LONGEST]))))
    return ""


def folder_of(call: ToolCall) -> str:
    """The working directory that a call asks for."""
    return next((v for k in ("workdir", "cwd", "working_directory") if isinstance(v := call.input.get(k), str)), "")


def _literal(quoted: str) -> str:
    body = quoted[1:-1]
    for escaped, plain in (("\\n", "\n"), ("\\t", "\t"), ('\\"', '"'), ("\\'", "'"), ("\\`", "`"), ("\\\\", "\\")):
        body = body.replace(escaped, plain)
    return body


def read_line(line: str, folder: str = "", depth: int = 0) -> CommandLine:
    """Parse a line; a nested line (`bash -c '…'`) is replaced by its programs."""
    found = CommandLine([])
    read, found.plain = programs(line)
    folders = {0: folder}
    for simple in read:
        simple.words = list(dropwhile(_LEADING.__contains__, simple.words)) or [":"]
        folders = {level: path for level, path in folders.items() if level <= simple.depth}
        simple.folder = folders[max(folders)]
        if simple.program == "set":
            found.pipefail = found.pipefail or "pipefail" in simple.words
        if simple.program == "cd" and simple.then != "|" and len(simple.words) > 1:
            folders[simple.depth] = joined_path(simple.folder, simple.words[1])
        inner = shell_script(simple.words) if depth < DEEPEST else None
        if inner is None:
            found.programs.append(simple)
            continue
        inside = read_line(inner, simple.folder, depth + 1)
        found.plain, found.pipefail = found.plain and inside.plain, found.pipefail or inside.pipefail
        if inside.programs:
            inside.programs[0].after, inside.programs[-1].then = simple.after, simple.then
            inside.programs[-1].outputs += simple.outputs
            found.programs += inside.programs
    found.background = bool(found.programs) and found.programs[-1].then == "&"
    return found


def joined_path(folder: str, path: str) -> str:
    """`path` relative to the folder in which the line began."""
    if path.startswith(("/", "~", "$")) or not folder or folder == ".":
        return path
    path = path.removeprefix("./")
    return folder if path in ("", ".") else f"{folder.rstrip('/')}/{path}"


def texts_of(value: Any) -> list[str]:
    """Every string in a call's input, in order, at any depth."""
    found, waiting = list[str](), [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict | list):
            waiting += reversed(list(item.values()) if isinstance(item, dict) else item)
    return found
