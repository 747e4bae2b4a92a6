"""The outcome of checks: by exit code where it belongs to them, else by their output, else unknown."""

import re
from collections.abc import Iterator
from typing import Literal

from outlive.context.ledger.checks import Run
from outlive.context.ledger.shell import CommandLine

Outcome = Literal["passed", "failed", "unknown"]
_TRIVIAL = frozenset(
    {"cd", "export", "source", ".", "set", "echo", "mkdir", "pwd", "true", ":", "clear", "unset", "ulimit"}
)
_WHOLE = frozenset({"tail", "tee", "cat"})
"""Filters that pass a summary line on."""


def _multiline(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


_SUMMARIES = {
    "pytest": (
        _multiline(
            r"^(?:=+ )?(?!.*\b(?:failed|errors?)\b)(?:.*, )?\d+ (?:passed|xfailed|xpassed)\b.* in [\d.]+m?s.*$"
        ),
        _multiline(
            r"^(?:=+ )?(?:.*, )?[1-9]\d* (?:failed|errors?)\b.* in [\d.]+m?s.*$|^!+ .*(?:error|Interrupted).* !+$"
        ),
    ),
    "unittest": (
        _multiline(r"^Ran \d+ tests? in .*\n+OK\b"),
        _multiline(r"^FAILED \((?:failures|errors|unexpected)="),
    ),
    "cargo": (
        _multiline(r"^test result: ok\.|^\s*Summary \[.*\] +\d+ tests? run: \d+ passed(?!.*failed)"),
        _multiline(r"^test result: FAILED|\bSummary \[.*\b[1-9]\d* failed"),
    ),
    "rustc": (_multiline(r"^\s*Finished `?\w+`? profile(?s:(?!.*^error).*)\Z"), _multiline(r"^error(?:\[E\d+\])?: ")),
    "go": (
        _multiline(r"^(?:ok  ?\t?\s*\S+|PASS$|DONE \d+ tests(?!.*failure))"),
        _multiline(r"^(?:FAIL\b|--- FAIL:|panic:|DONE .*[1-9]\d* failure)"),
    ),
    "js": (
        _multiline(
            r"^\s*(?:Tests:?\s+(?:.*[,|] )?\d+ passed(?!.*failed)|\d+ passing\b|# fail 0$|\d+ pass$|\d+ passed \(|"
            r"ok \| \d+ passed \| 0 failed)"
        ),
        _multiline(
            r"^\s*(?:Tests:?\s.*?[1-9]\d* failed|Test (?:Files|Suites):?\s.*?[1-9]\d* failed|[1-9]\d* failing\b|"
            r"# fail [1-9]|[1-9]\d* fail$|FAILED \| |[1-9]\d* failed$)"
        ),
    ),
    "ruby": (
        _multiline(r"^\d+ (?:examples?|runs|tests), .*\b0 failures\b(?!.*\b[1-9]\d* errors)"),
        _multiline(r"^\d+ (?:examples?|runs|tests), .*\b[1-9]\d* (?:failures?|errors?)\b"),
    ),
    "dotnet": (
        _multiline(r"^\s*Passed!\s+- Failed:\s+0|^\s*Build succeeded\.|^Test Run Successful"),
        _multiline(r"^\s*Failed!\s+- |^\s*Build FAILED|^Test Run Failed|: error [A-Z]+\d+:"),
    ),
    "jvm": (
        _multiline(r"^(?:\[INFO\] )?BUILD SUCCESS"),
        _multiline(r"^(?:\[\w+\] )?BUILD FAIL|^FAILURE: Build failed"),
    ),
    "lint": (
        _multiline(
            r"^(?:All checks passed!|Success: no issues found|0 errors, \d+ warnings|0 issues\.|Found 0 errors)"
        ),
        _multiline(
            r"^Found [1-9]\d* (?:errors?|diagnostics?)\b|✖ \d+ problems? \([1-9]|error TS\d+:|"
            r"^[1-9]\d* errors?, \d+ warn|^(?:\[.*\] )?[1-9]\d* issues:?$|^would reformat "
        ),
    ),
    "tasks": (
        _multiline(r"congratulations :\)"),
        _multiline(
            r"^make(?:\[\d+\])?: \*\*\* |^npm (?:ERR!|error) |ELIFECYCLE|evaluation failed :\(|^error Command failed|"
            r"^nox > .*\bfailed|^error: Recipe |ERROR task failed"
        ),
    ),
}
_SUMMARY_OF = {
    **{family: (family,) for family in ("pytest", "unittest", "cargo", "go", "js")},
    **dict.fromkeys(("rspec", "mix test"), ("ruby",)),
    **dict.fromkeys(
        ("mypy", "pyright", "eslint", "tsc", "ruff check", "ruff format", "golangci-lint run"), ("lint",)
    ),
    **dict.fromkeys(("cargo build", "cargo check", "cargo clippy"), ("rustc",)),
    **dict.fromkeys(("go vet", "go build"), ()),
}
_ANY = tuple(kind for kind in _SUMMARIES if kind != "rustc")
"""A project's own task may run any of these."""
_FAILED = {
    "pytest": _multiline(r"^(?:FAILED|ERROR) (\S+?\.py(?:::.+?)?)(?: - .*)?$|^(\S+\.py::.+?) (?:FAILED|ERROR)\b"),
    "unittest": _multiline(r"^(?:FAIL|ERROR): (\w+ \([\w.]+\))$"),
    "cargo": _multiline(r"^test (\S+)(?: - .*?)? \.\.\. FAILED|^\s*FAIL \[\s*[\d.]+s\].* (\S+)$"),
    "go": _multiline(r"^\s*--- FAIL: (\S+)|^FAIL\t(\S*[/.]\S+)"),
    "js": _multiline(r"^\s*[✕✗×] (.+)|^\s*FAIL\s+(\S*[/.][\w./-]+)"),
    "rspec": _multiline(r"^rspec (\S+:\d+)"),
    "mix test": _multiline(r"^\s+\d+\) (test .+ \(\S+\))$"),
    "dotnet test": _multiline(r"^\s+Failed (\S+) \["),
}
_PASSED = {
    "pytest": _multiline(r"^PASSED (\S+?\.py::.+?)$|^(\S+\.py::.+?) PASSED\b"),
    "unittest": _multiline(r"^(\w+ \([\w.]+\)) \.\.\. ok$"),
    "cargo": _multiline(r"^test (\S+)(?: - .*?)? \.\.\. ok$|^\s*PASS \[\s*[\d.]+s\].* (\S+)$"),
    "go": _multiline(r"^\s*--- PASS: (\S+)|^ok  ?\t?\s*(\S*[/.]\S+)"),
    "js": _multiline(r"^\s*[✓✔√] (.+)|^\s*PASS\s+(\S*[/.][\w./-]+)"),
}
_DURATION = re.compile(r"\s+\(?\d+(?:\.\d+)?\s?m?s\)?\s*$")
LAST = 10_000
"""Characters at the end of an output in which a compiler reports success."""
_NOT_RUN = re.compile(
    r"command not found|No such file or directory|not recognized as|No module named|Permission denied|[Tt]imed out|"
    r"\b[Ee]rror\b|Traceback|cannot find|\bFAIL"
)


def failing_tests(run: Run, text: str) -> Iterator[tuple[str, str]]:
    """Family and name of each test that a check reports as failing."""
    return _named(_FAILED, run, text)


def passing_tests(run: Run, text: str) -> Iterator[tuple[str, str]]:
    """Family and name of each test that a check reports as passing."""
    return _named(_PASSED, run, text)


def _named(table: dict[str, re.Pattern[str]], run: Run, text: str) -> Iterator[tuple[str, str]]:
    families = [run.family] if run.family in _FAILED else [] if run.family in _SUMMARY_OF else list(table)
    for family in families:
        if family in table:
            for found in table[family].finditer(text):
                yield family, _DURATION.sub("", next(filter(None, found.groups()))).strip()


def outcome(line: CommandLine, run: Run, text: str, exit_code: int | None, *, went_well: bool) -> Outcome:
    """The outcome of one check. `went_well`: the harness reports only exit codes other than 0, and reported none."""
    if exit_code is None and went_well and not _NOT_RUN.search(text):
        exit_code = 0
    by_code = _by_code(line, run.at, exit_code)
    return by_code if by_code != "unknown" else _by_text(line, run, text)


def of_line(line: CommandLine, checks: list[Run], each: list[Outcome], exit_code: int | None) -> Outcome:
    """The combined outcome of all checks of a line."""
    if "failed" in each:
        return "failed"
    if all(one == "passed" for one in each):
        return "passed"
    at = {run.at for run in checks}
    others = [s for n, s in enumerate(line.programs) if n not in at and s.program not in _TRIVIAL]
    chained = all(simple.then in ("&&", "") for simple in line.programs)
    return "failed" if exit_code and chained and line.plain and not others else "unknown"


def _by_code(line: CommandLine, at: int, exit_code: int | None) -> Outcome:
    """What the exit code of the line says about the program at index `at`."""
    programs = line.programs
    if exit_code is None or not line.plain or line.background or programs[at].after == "||":
        return "unknown"
    end = at
    while programs[end].then in ("|", "|&") and end + 1 < len(programs):
        end += 1
    if end != at and not line.pipefail:
        return "unknown"
    if exit_code == 0:
        return "passed" if all(simple.then in ("&&", "|", "|&") for simple in programs[end:-1]) else "unknown"
    if end != len(programs) - 1:
        return "unknown"
    before = at - 1
    while before >= 0 and programs[before].then == "&&":
        if programs[before].program not in _TRIVIAL:
            return "unknown"
        before -= 1
    return "failed"


def _by_text(line: CommandLine, run: Run, text: str) -> Outcome:
    kinds = _SUMMARY_OF.get(run.family, _ANY)
    if any(_SUMMARIES[kind][1].search(text) for kind in kinds) or any(failing_tests(run, text)):
        return "failed"
    filters = _filters(line, run.at)
    passed = [kind for kind in kinds if _SUMMARIES[kind][0].search(text[-LAST:] if kind == "rustc" else text)]
    if filters - _WHOLE and passed == ["go"]:
        return "unknown"
    return "passed" if passed else "unknown"


def _filters(line: CommandLine, at: int) -> set[str]:
    """The programs that its output is piped through."""
    found = set()
    while line.programs[at].then in ("|", "|&") and at + 1 < len(line.programs):
        at += 1
        found.add(line.programs[at].program)
    return found
