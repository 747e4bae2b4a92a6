"""A command line taken apart for reading: the programs it runs, their words, where their output goes.

It decides nothing that could do harm, so it is forgiving where the permission rules (tools) refuse: what it cannot
read becomes a word like any other.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from outlive.messages import ToolCall, call_command, shell_script

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
DEEPEST = 3
"""How often a line may hold a line of its own (`bash -c`)."""
LONGEST = 20_000
"""Characters: what comes after is the text of a file rather than commands."""
_OPERATOR = re.compile(r"&&|\|\||\|&?|;;?|&(?![>\d])|\n|[()]")
_REDIRECT = re.compile(r"(?:\d*|&)>(?!\()(?:>|\||&)?|\d*<(?![<(])&?")
_HEREDOC = re.compile(r"\d*<<(?!<)-?\s*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([\w.-]+))")
_HERE_WORD = re.compile(r"<<<")
_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_LEADING = frozenset({"do", "then", "else", "elif", "if", "while", "until", "!", "time", "{", "}"})
_CONTROL = frozenset({"for", "while", "until", "if", "case", "select", "function"})
_EDITOR = frozenset({"view", "create", "str_replace", "insert", "undo_edit", "delete", "rename"})
"""What editors are told to do with a file, under the same key."""
_CODE = re.compile(r"""\bcmd["']?\s*:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)""")


@dataclass(slots=True)
class Simple:
    """One program of a line and its words, without what stands around them."""

    words: list[str]
    after: str = ""
    """The operator before it."""
    then: str = ""
    """The operator behind it."""
    outputs: list[str] = field(default_factory=list)
    """Files that its output was sent to."""
    folder: str = ""
    """Where it ran, as far as `cd` says."""
    depth: int = 0
    """How many brackets it stands in; a `cd` ends with its bracket."""

    @property
    def program(self) -> str:
        return self.words[0].rpartition("/")[2]


@dataclass(slots=True)
class CommandLine:
    """The programs of a line, in order."""

    programs: list[Simple]
    plain: bool = True
    """No loop or condition: the exit code is the last program's."""
    pipefail: bool = False
    background: bool = False
    """It ended with `&`, so that it went on running."""


def command_of(call: ToolCall) -> str:
    """The shell command of a call, however its tool spells it: a line, a list of words, a script that runs some."""
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
    """Where a command was told to run."""
    return next((v for k in ("workdir", "cwd", "working_directory") if isinstance(v := call.input.get(k), str)), "")


def _literal(quoted: str) -> str:
    body = quoted[1:-1]
    for escaped, plain in (("\\n", "\n"), ("\\t", "\t"), ('\\"', '"'), ("\\'", "'"), ("\\`", "`"), ("\\\\", "\\")):
        body = body.replace(escaped, plain)
    return body


def read_line(line: str, folder: str = "", depth: int = 0) -> CommandLine:
    """Take a line apart; lines inside of it (`bash -c '…'`) stand in their place."""
    found = CommandLine([])
    folders = {0: folder}
    for simple in _Scanner(line[:LONGEST]).run():
        simple.words = _bare(simple.words, found)
        if not simple.words and not simple.outputs:
            continue
        simple.words = simple.words or [":"]
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
    """`path` as seen from where the line began."""
    if path.startswith(("/", "~", "$")) or not folder or folder == ".":
        return path
    path = path.removeprefix("./")
    return folder if path in ("", ".") else f"{folder.rstrip('/')}/{path}"


def _bare(words: list[str], found: CommandLine) -> list[str]:
    """Without keywords and assignments before the program."""
    at = 0
    while at < len(words) and (words[at] in _LEADING or words[at] in _CONTROL or _ASSIGNMENT.match(words[at])):
        if words[at] in _CONTROL:
            found.plain = False
        if words[at] in ("for", "case", "select", "function"):
            return []
        at += 1
    return [] if words[at : at + 1] in (["done"], ["fi"], ["esac"]) else words[at:]


class _Scanner:
    """Reads a line from left to right, once."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.at = 0
        self.found: list[Simple] = []
        self.now = Simple([])
        self.depth = 0
        self.bodies: list[str] = []
        """Ends of texts (`<<END`) that follow the line."""

    def run(self) -> list[Simple]:
        while self.at < len(self.line):
            self._step()
        self._close("")
        return [simple for simple in self.found if simple.words or simple.outputs]

    def _step(self) -> None:
        line, at = self.line, self.at
        if blank := _BLANK.match(line, at):
            self.at = blank.end()
        elif here := _HEREDOC.match(line, at):
            self.bodies.append(here[1] or here[2] or here[3])
            self.at = here.end()
        elif word := _HERE_WORD.match(line, at):
            self.at = word.end()
            self._word()
        elif redirect := _REDIRECT.match(line, at):
            self._redirected(redirect)
        elif operator := _OPERATOR.match(line, at):
            self.at = operator.end()
            self._close(operator[0])
            if operator[0] == "\n":
                self._skip_bodies()
        elif line[at] == "#":
            end = line.find("\n", at)
            self.at = len(line) if end < 0 else end
        else:
            self.now.words.append(self._word())

    def _redirected(self, redirect: re.Match[str]) -> None:
        self.at = redirect.end()
        if blank := _BLANK.match(self.line, self.at):
            self.at = blank.end()
        target = self._word()
        copied = redirect[0].endswith("&") and (target.isdigit() or target == "-")
        if ">" in redirect[0] and target and not copied:
            self.now.outputs.append(target)

    def _close(self, operator: str) -> None:
        if not self.now.words and not self.now.outputs:
            if operator and operator != "\n" and self.found and self.found[-1].then in ("\n", ")"):
                self.found[-1].then = self.now.after = operator
        else:
            self.now.then = operator
            self.found.append(self.now)
            self.now = Simple([], after=operator)
        self.depth = max(self.depth + (operator == "(") - (operator == ")"), 0)
        self.now.depth = self.depth

    def _skip_bodies(self) -> None:
        for end in self.bodies:
            close = re.compile(rf"^\t*{re.escape(end)}[ \t]*$", re.MULTILINE).search(self.line, self.at)
            self.at = len(self.line) if close is None else close.end()
        self.bodies = []

    def _word(self) -> str:
        """The word that begins here, without its quotes."""
        parts: list[str] = []
        line, start = self.line, self.at
        while self.at < len(line) and line[self.at] not in " \t\r\n;|&()<>":
            parts.append(self._part())
        if self.at == start and self.at < len(line):
            self.at += line[self.at] in "<>"  # nothing else leaves it standing still
        return "".join(parts)

    def _part(self) -> str:
        line, at = self.line, self.at
        character = line[at]
        if character == "'":
            return self._upto(line.find("'", at + 1))
        if character == '"':
            return self._double()
        if character == "`":
            end = line.find("`", at + 1)
            self.at = len(line) if end < 0 else end + 1
            return line[at : self.at]
        if line.startswith("$(", at) or line.startswith("${", at):
            self.at = self._closing(at + 1)
            return line[at : self.at]
        if character == "\\":
            self.at = at + 2
            return line[at + 1 : at + 2].replace("\n", "")
        self.at = at + 1
        return character

    def _upto(self, end: int) -> str:
        start, end = self.at + 1, len(self.line) if end < 0 else end
        self.at = end + 1
        return self.line[start:end]

    def _double(self) -> str:
        line, at, parts = self.line, self.at + 1, []
        while at < len(line) and line[at] != '"':
            if line[at] == "\\" and at + 1 < len(line):
                parts.append(line[at + 1] if line[at + 1] in '"\\$`' else line[at : at + 2])
                at += 2
            elif line.startswith("$(", at):
                end = self._closing(at + 1)
                parts.append(line[at:end])
                at = end
            else:
                parts.append(line[at])
                at += 1
        self.at = at + 1
        return "".join(parts)

    def _closing(self, at: int) -> int:
        """Behind the bracket that closes the one at `at`; quotes and texts inside may hold brackets."""
        line = self.line
        opening, closing = line[at], ")" if line[at] == "(" else "}"
        depth = 0
        while at < len(line):
            if here := _HEREDOC.match(line, at):
                end = re.compile(rf"^\t*{re.escape(here[1] or here[2] or here[3])}[ \t]*$", re.MULTILINE)
                close = end.search(line, here.end())
                at = here.end() if close is None else close.end()
                continue
            if line[at] == "'" and opening == "(":
                end_quote = line.find("'", at + 1)
                at = end_quote if end_quote > 0 else at
            elif line[at] == "\\":
                at += 1
            depth += (line[at : at + 1] == opening) - (line[at : at + 1] == closing)
            at += 1
            if not depth:
                break
        return min(at, len(line))


def texts_of(value: Any) -> list[str]:
    """Every text in a call's input, wherever it stands."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in texts_of(item)] if isinstance(value, list) else []
