"""Which programs of a command line are checks (tests, lint, types, build), and what each of them looked at.

The program that runs decides, behind wrappers; a line that only mentions one (`ls tests`) is no check.
"""

import re
from dataclasses import dataclass

from outlive.context.ledger.runners import family_of, unwrapped
from outlive.context.ledger.shell import CommandLine
from outlive.shell.lenient import Program

_NO_RUN = frozenset({"--help", "-h", "--version", "-V", "--collect-only", "--co", "--list", "--list-tests", "--init"})
_VALUES = {
    "pytest": "-k -m -n -p -o -c -W --tb --maxfail --durations --timeout --cov --rootdir --color".split(),
    "go": "-run -skip -count -timeout -tags -bench -parallel -coverprofile -p -cpu".split(),
    "cargo": "-p --package --test --bin --example --features -F --profile --target -j --manifest-path".split(),
    "js": "-t -g --grep --testNamePattern --config -c --project --reporter --maxWorkers -w".split(),
}
"""Options that take the next word as their value."""
_NAMED_BY = frozenset({"-k", "-run", "-t", "-g", "--grep", "--testNamePattern"})
_PICKED_BY = frozenset(
    "-p --package --test --bin --example --lib --doc --bins --features -F --manifest-path --project".split()
)
_ODD = frozenset(
    "-m --deselect --ignore --ignore-glob -short -skip --skip --exclude --ignored --onlyChanged -o --changed "
    "--filter -E --shard --only --tag --tags --rerun --sw --stepwise --nf -bench".split()
)
"""Options that leave tests out in a way that `covers` does not understand."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a checking program, and how much it checked."""

    family: str
    """Runs of one family report on the same things."""
    words: tuple[str, ...]
    folder: str = ""
    targets: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Only tests whose name matches one of these."""
    picked: tuple[str, ...] = ()
    """Only these packages, binaries, projects …"""
    odd: bool = False
    """Whether it has an option of `_ODD`."""
    at: int = 0
    """The index of its program in the line."""

    @property
    def whole(self) -> bool:
        return not (self.targets or self.names or self.picked or self.odd)


def runs_of(line: CommandLine) -> list[Run]:
    """The checks of a line, in order."""
    return [run for index, simple in enumerate(line.programs) if (run := _run(simple, index))]


def _run(simple: Program, index: int) -> Run | None:
    words = unwrapped(simple.words)
    found = family_of(words) if words and not _NO_RUN.intersection(words) else None
    if found is None:
        return None
    family, rest = found
    targets, names, picked, odd = list[str](), list[str](), list[str](), False
    values = _VALUES.get(family, ())
    at = 0
    while at < len(rest):
        word, _, value = rest[at].partition("=") if rest[at].startswith("-") else (rest[at], "", "")
        takes = not value and word in values and at + 1 < len(rest)
        value = rest[at + 1] if takes else value
        at += 2 if takes else 1
        if not word.startswith("-"):
            targets.append(word)
        elif word in _NAMED_BY and value:
            names.append(value)
        elif word in _PICKED_BY and not (word == "-p" and family in ("pytest", "go")):
            picked.append(f"{word} {value}".strip())
        elif word in _ODD and not (word == "-o" and family == "pytest"):
            odd = True
    if family == "cargo":
        names, targets = [*names, *targets], []
    return Run(family, tuple(words), simple.folder, tuple(targets), tuple(names), tuple(picked), odd, index)


def covers(run: Run, name: str, found_by: Run, family: str) -> bool:
    """Whether a run included the test `name` of `family`, which `found_by` reported as failing."""
    if run.folder not in ("", found_by.folder):
        return False
    if run.words == found_by.words:
        return True
    if run.family not in (family, found_by.family) or run.odd:
        return False
    if {"--lf", "--last-failed", "--onlyFailures", "--failed", "--only-failures"} & set(run.words):
        return True
    if run.picked and run.picked != found_by.picked:
        return False
    if run.targets and not any(_holds(target, name, found_by) for target in run.targets):
        return False
    return not run.names or any(_called(pattern, name, family) for pattern in run.names)


def _holds(target: str, name: str, found_by: Run) -> bool:
    """Whether a file, folder or package contains the test."""
    target = target.removeprefix("./").rstrip("/")
    if target in ("...", ".", ""):
        return True
    file = name.partition("::")[0]
    if name == target or (name.startswith(target) and name[len(target)] in ":/["):
        return True
    if target.startswith("/") and "/" in file and "::" not in target and target.endswith("/" + file):
        return True
    folder = target.removesuffix("/...")
    others = [other.removeprefix("./").rstrip("/") for other in found_by.targets]
    deep = target.endswith("/...") or found_by.family != "go"
    return bool(others) and all(o == target or (deep and (o == folder or o.startswith(folder + "/"))) for o in others)


_NAMES = re.compile(r"[\w^$|. -]*")
"""Patterns without repetition. A model writes them, and others can take exponential time."""


def _called(pattern: str, name: str, family: str) -> bool:
    if family == "pytest":
        words = pattern.split(" or ")
        return all(re.fullmatch(r"\w+", word) for word in words) and any(
            word.lower() in name.partition("::")[2].lower() for word in words
        )
    if family == "cargo":
        return pattern in name
    if not _NAMES.fullmatch(pattern):
        return False
    return re.search(pattern, name.partition("/")[0] if family == "go" else name) is not None
