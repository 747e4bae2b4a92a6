"""The ledger: what was done, read off the tool calls and their results by rule. Nobody has to remember to keep it."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from outlive.messages import COMMAND_KEYS, ToolCall, call_file, is_writing

LONGEST = 160
MANY = 200
_READING = ("read", "view", "cat", "open")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)
_REDIRECT = re.compile(r"(?<![0-9&>])>{1,2}\s*([\w./~-]+\.[\w]+)")
_IN_PLACE = re.compile(r"\bsed\s+-i\S*\s+(?:'[^']*'|\"[^\"]*\"|\S+)\s+([\w./-]+)")
_EXIT = re.compile(r"(?:exited with code|exit code:?|exit status:?|returned) (-?[0-9]+)", re.IGNORECASE)
_FAILED = re.compile(
    r"^(?:FAILED (\S+)|\s*--- FAIL: (\S+)|test (\S+) \.\.\. FAILED|\s*[✕✗×] (.+)|FAIL[: \t]+(\S*[/.]\S+))",
    re.MULTILINE,
)
_FAILED_MARKS = ("FAIL", "✕", "✗", "×")
"""One of them is in whatever `_FAILED` finds; looking for them first is much faster."""
_ERROR = re.compile(r"^.*(?:\b[Ee]rror\b[:\[]|\bpanic:|\bTraceback\b|\bfatal:|: command not found).*$", re.MULTILINE)
_COMMIT = re.compile(r"^\[([\w./-]+)(?: \([\w-]+\))? ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_URL = re.compile(r"https?://[^\s\"'<>)\]}]+")
_BACKGROUND = re.compile(r"(?:running in (?:the )?background with ID:?|session ID|process) ([\w-]+)", re.IGNORECASE)


@dataclass(slots=True)
class Command:
    """A command and how it ended; None when that is not known."""

    text: str
    exit_code: int | None
    event: int


@dataclass(slots=True)
class Ledger:
    """Facts in the order in which they happened; a dictionary's newest entry is its last."""

    read: dict[str, int] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    commands: list[Command] = field(default_factory=list)
    failing: dict[str, int] = field(default_factory=dict)
    errors: list[tuple[int, str]] = field(default_factory=list)
    commits: dict[str, str] = field(default_factory=dict)
    urls: dict[str, int] = field(default_factory=dict)
    background: dict[str, str] = field(default_factory=dict)

    def note(self, call: ToolCall, event: int, text: str, *, is_error: bool, exit_code: int | None) -> None:
        """Take in a call and what came of it."""
        command = next((v for k in COMMAND_KEYS if isinstance(v := call.input.get(k), str)), "")
        if exit_code is None and (found := _EXIT.search(text[:2000])):
            exit_code = int(found[1])
        if not is_error:
            self._files(call, command, event)
        for url in _URL.findall(str(call.input.get("url", "")) + " " + command):
            _newest(self.urls, url, event)
        if command:
            self._command(call, command, event, text, exit_code)
        if is_error or exit_code:
            self._errors(event, text)

    def _files(self, call: ToolCall, command: str, event: int) -> None:
        patch = "\n".join(v for v in call.input.values() if isinstance(v, str) and "*** " in v)
        changed = [*_PATCHED.findall(patch), *_MOVED.findall(patch)]
        name = call_file(call)
        if is_writing(call) and name and not changed:
            changed.append(name)
            content = call.input.get("content")
            if isinstance(content, str):
                self.hashes[name] = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
            else:
                self.hashes.pop(name, None)
        elif any(word in call.name.lower() for word in _READING) and name:
            _newest(self.read, name, event)
        changed += _REDIRECT.findall(command.partition("<<")[0]) + _IN_PLACE.findall(command)
        for path in changed:
            if not path.startswith(("/dev/", "/tmp/", "-")):  # noqa: S108 - scratch files are not work
                _newest(self.written, path.strip(), event)

    def _command(self, call: ToolCall, command: str, event: int, text: str, exit_code: int | None) -> None:
        first = command.strip().partition("\n")[0][:LONGEST]
        self.commands.append(Command(first, exit_code, event))
        del self.commands[:-MANY]
        found = _FAILED.findall(text) if any(mark in text for mark in _FAILED_MARKS) else ()
        if failing := [next(filter(None, groups)).strip()[:LONGEST] for groups in found]:
            for name in failing:
                _newest(self.failing, name, event)
        elif exit_code == 0 and "test" in command:
            self.failing.clear()
        for _, commit, subject in _COMMIT.findall(text) if text.startswith("[") or "\n[" in text else ():
            self.commits[commit] = subject[:LONGEST]
        if call.input.get("run_in_background") or call.input.get("background") or command.rstrip().endswith("&"):
            named = _BACKGROUND.search(text[:500])
            self.background[named[1] if named else f"event {event}"] = first

    def _errors(self, event: int, text: str) -> None:
        found = _ERROR.search(text)
        line = found[0] if found else text.strip().partition("\n")[0]
        if line.strip():
            self.errors.append((event, line.strip()[:LONGEST]))
            del self.errors[:-MANY]


def _newest(table: dict[str, int], key: str, event: int) -> None:
    """Put `key` last: a table's order is the order of last use."""
    table.pop(key, None)
    table[key] = event


def brief_paths(paths: Iterable[str]) -> str:
    """Paths grouped by folder, so that long prefixes are written once: `src/{a.py, b.py}`."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, slash, name = path.rpartition("/")
        folders.setdefault(folder + slash, []).append(name)
    parts = (
        f"{f}{{{', '.join(names)}}}" if f and len(names) > 1 else f"{f}{', '.join(names)}"
        for f, names in folders.items()
    )
    return "; ".join(parts)


def facts(ledger: Ledger, most: int = 8) -> str:
    """What a digest says first: changed, committed, verified, failed, still running."""
    rows = []
    if ledger.written:
        rows.append("Changed files: " + "; ".join(ledger.written))
    if ledger.commits:
        newest = list(ledger.commits.items())[-most:]
        rows.append("Commits: " + "; ".join(f"{commit} {subject[:60]}" for commit, subject in newest))
    checks = [c for c in ledger.commands if "test" in c.text or "lint" in c.text or "build" in c.text]
    if passed := [c for c in checks if c.exit_code == 0]:
        rows.append(f"Last check that passed: {passed[-1].text}")
    if failed := [c for c in checks if c.exit_code]:
        rows.append(f"Last check that failed: {failed[-1].text} (exit {failed[-1].exit_code})")
    if ledger.failing:
        rows.append("Failing: " + "; ".join(list(ledger.failing)[-most:]))
    if ledger.errors:
        rows.append("Errors met: " + " | ".join(dict.fromkeys(line[:100] for _, line in ledger.errors[-4:])))
    if ledger.background:
        rows.append("In the background: " + "; ".join(f"{k}: {v}" for k, v in ledger.background.items()))
    return "\n".join(rows)
