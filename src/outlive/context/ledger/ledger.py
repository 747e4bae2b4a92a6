"""The ledger: changed files, commits, checks, failing tests, errors and background commands of a session."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from outlive.context.ledger.changes import heredoc_patch, is_work, shell_changes, tool_changes
from outlive.context.ledger.checks import Run, covers, runs_of
from outlive.context.ledger.frames import FRAME_LINE, BackgroundCheck, framed_exit, look, notices, started
from outlive.context.ledger.outcomes import Outcome, failing_tests, of_line, outcome, passing_tests
from outlive.context.ledger.shell import CommandLine, command_of, folder_of, read_line
from outlive.messages import ToolCall

LONGEST, MANY = 160, 200
"""Characters of a row, and rows of a kind that are kept; only the newest are shown."""
FILES_TOLD = 100
"""Newest changed files that a digest names; the log has all."""
LONGEST_LINE = 400
"""Characters of an output line that are searched for the outcome of a check."""
_ERROR = re.compile(r"^.*(?:\b[Ee]rror\b[:\[]|\bpanic:|\bTraceback\b|\bfatal:|: command not found).*$", re.MULTILINE)
_COMMIT = re.compile(r"^\[([\w./-]+)(?: \([\w-]+\))? ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_REFUSED = ("apply_patch verification failed", "ERROR:\n", "Error: ")
"""First words of results that report a failed edit without being marked as errors."""
_MARKS_FAILURES = "Bash"
"""Claude Code's tool: a result not marked as an error had exit code 0."""


@dataclass(slots=True)
class LedgerCommand:
    """A command, its exit code (None if unknown) and the checks in it."""

    text: str
    exit_code: int | None
    event: int
    runs: tuple[Run, ...] = ()
    outcome: Outcome = "unknown"
    """The combined outcome of its checks."""


@dataclass(slots=True)
class Ledger:
    """Facts in the order in which they happened; a dictionary's newest entry is its last."""

    written: dict[str, int] = field(default_factory=dict)
    commands: list[LedgerCommand] = field(default_factory=list)
    failing: dict[str, int] = field(default_factory=dict)
    errors: list[tuple[int, str]] = field(default_factory=list)
    commits: dict[str, str] = field(default_factory=dict)
    background: dict[str, str] = field(default_factory=dict)
    _found_by: dict[str, tuple[str, Run]] = field(default_factory=dict)
    """Family of each failing test, and the run that found it."""
    _calls: dict[str, ToolCall] = field(default_factory=dict)
    """Background commands by name."""
    _handles: dict[str, str] = field(default_factory=dict)
    """Names of background commands by the harness's handle."""

    def note(self, call: ToolCall, event: int, text: str, *, is_error: bool, exit_code: int | None) -> None:
        """Record a call and its result."""
        looked = look(call, text, is_error=is_error, exit_code=exit_code)
        if looked is not None:
            self._looked(looked, event, text)
            return
        command = command_of(call)
        line = read_line(command, folder_of(call))
        if exit_code is None and command:
            exit_code = framed_exit(text, is_error=is_error)
        done = not is_error or exit_code is not None
        if done and (command or not text.startswith(_REFUSED)):
            self._files(call, line, event, text, exit_code)
        if command:
            self._command(call, line, event, text, exit_code, well=call.name == _MARKS_FAILURES and not is_error)
        if is_error or exit_code:
            self._errors(event, text)

    def heard(self, text: str) -> None:
        """Read a user message: harnesses announce there that a background command has ended."""
        self.ended(notices(text))

    def ended(self, names: Iterable[str]) -> None:
        """Remove these from the background."""
        for given in names:
            name = self._handles.get(given, given)
            self.background.pop(name, None)
            self._calls.pop(name, None)

    def _files(self, call: ToolCall, line: CommandLine, event: int, text: str, exit_code: int | None) -> None:
        changed = tool_changes(call)
        if command := command_of(call):
            changed += [*shell_changes(line, text, failed=bool(exit_code)), *heredoc_patch(command)]
        for path in filter(is_work, changed):
            _newest(self.written, path, event)

    def _command(
        self, call: ToolCall, line: CommandLine, event: int, text: str, exit_code: int | None, *, well: bool
    ) -> None:
        for _, commit, subject in _COMMIT.findall(text) if text.startswith("[") or "\n[" in text else ():
            self.commits[commit] = subject[:LONGEST]
        self._killed(line)
        running = started(text)
        if running or line.background or call.input.get("run_in_background") or call.input.get("background"):
            name = running.name if running else f"event {event}"
            self.background[name] = _first_line(call)
            self._calls[name] = call
            if running and running.handle:
                self._handles[running.handle] = name
            well = False
        self._checked(call, line, event, text, exit_code, well=well)

    def _looked(self, looked: BackgroundCheck, event: int, text: str) -> None:
        """Record more output of a background command, or its end."""
        name = self._handles.get(looked.name, looked.name)
        call = self._calls.get(name)
        if looked.over:
            self.ended([name])
        if call is not None:
            line = read_line(command_of(call), folder_of(call))
            line.background = False
            self._checked(call, line, event, text, looked.exit_code, well=False)

    def _checked(
        self, call: ToolCall, line: CommandLine, event: int, text: str, exit_code: int | None, *, well: bool
    ) -> None:
        """Record the outcomes of a command's checks."""
        checks = runs_of(line)
        text = "\n".join(row[:LONGEST_LINE] for row in text.splitlines() if row.strip()) if checks else ""
        each = [outcome(line, run, text, exit_code, went_well=well) for run in checks]
        ended = of_line(line, checks, each, exit_code) if checks else "unknown"
        self.commands.append(LedgerCommand(_first_line(call), exit_code, event, tuple(checks), ended))
        del self.commands[:-MANY]
        for run, how in zip(checks, each, strict=True):
            self._tests(run, event, text, how)

    def _tests(self, run: Run, event: int, text: str, ended: Outcome) -> None:
        failing = {} if ended == "passed" else {name[:LONGEST]: family for family, name in failing_tests(run, text)}
        passing = {name[:LONGEST] for _, name in passing_tests(run, text)} - failing.keys()
        covered = [name for name, (family, by) in self._found_by.items() if covers(run, name, by, family)]
        for name in passing.union(covered if ended == "passed" else ()):
            self.failing.pop(name, None)
            self._found_by.pop(name, None)
        for name, family in failing.items():
            _newest(self.failing, name, event)
            self._found_by[name] = (family, run)

    def _killed(self, line: CommandLine) -> None:
        """`kill`, `pkill` and `killall` end background commands."""
        for simple in line.programs:
            words = [word for word in simple.words[1:] if not word.startswith("-")]
            if simple.program == "kill":
                self.ended(words)
            elif simple.program in ("pkill", "killall"):
                self.ended([name for name, what in self.background.items() if any(word in what for word in words)])

    def _errors(self, event: int, text: str) -> None:
        found = _ERROR.search(text)
        line = (
            found[0] if found else next((line for line in text[:2000].split("\n") if not FRAME_LINE.match(line)), "")
        )
        if line.strip():
            self.errors.append((event, line.strip()[:LONGEST]))
            del self.errors[:-MANY]


def _first_line(call: ToolCall) -> str:
    return command_of(call).strip().partition("\n")[0][:LONGEST]


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
    grouped = ((folder, ", ".join(names), folder and len(names) > 1) for folder, names in folders.items())
    return "; ".join(f"{folder}{{{names}}}" if braces else folder + names for folder, names, braces in grouped)


def facts(ledger: Ledger, most: int = 8) -> str:
    """The first lines of a digest: changed files, commits, checks, failures, background commands."""
    rows = []
    if ledger.written:
        newest = list(ledger.written)[-FILES_TOLD:]
        more = len(ledger.written) - len(newest)
        rows.append("Changed files: " + "; ".join(newest) + (f" (and {more} before)" if more else ""))
    if ledger.commits:
        commits = list(ledger.commits.items())[-most:]
        rows.append("Commits: " + "; ".join(f"{commit} {subject[:60]}" for commit, subject in commits))
    rows += _verified(ledger)
    if ledger.failing:
        rows.append("Failing: " + "; ".join(list(ledger.failing)[-most:]))
    if ledger.errors:
        rows.append("Errors met: " + " | ".join(dict.fromkeys(line[:100] for _, line in ledger.errors[-4:])))
    if ledger.background:
        rows.append("In the background: " + "; ".join(f"{k}: {v}" for k, v in ledger.background.items()))
    return "\n".join(rows)


def _verified(ledger: Ledger) -> list[str]:
    """The newest check that passed, and the newest that failed unless it has passed since."""
    passed = [command for command in ledger.commands if command.outcome == "passed"]
    rows = [f"Last check that passed: {passed[-1].text}"] if passed else []
    for command in reversed(ledger.commands):
        if command.outcome == "failed":
            code = f" (exit {command.exit_code})" if command.exit_code else ""
            if not any(later.event > command.event and _same(later, command) for later in passed):
                rows.append(f"Last check that failed: {command.text}{code}")
            break
    return rows


def _same(later: LedgerCommand, earlier: LedgerCommand) -> bool:
    """Whether the later command checked everything that the earlier one did."""
    return all(
        any(run.words == old.words or (run.family == old.family and run.whole) for run in later.runs)
        for old in earlier.runs
    )
