"""Allow and deny rules: `bash(git status*)`, `edit_file(src/**)`, `mcp__github__get_issue`. Deny wins, everywhere.

An allow rule never covers a line that does not parse; a deny rule rather covers too much. "Always" adds two narrow
forms: `bash(=make test)`, exactly this line, and `bash(git log ...)`, with harmless arguments (harmless.py).
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from outlive.errors import ConfigError
from outlive.shell.strict import SimpleCommand, commands, pattern
from outlive.tools.permissions.harmless import Inside, covers, harmless_prefix, is_prefix
from outlive.tools.permissions.path_rules import matches

_FORM = re.compile(r"(?P<tool>mcp__[\w-]+__\*|[A-Za-z_][\w.-]*|\*)(?:\((?P<about>.*)\))?\Z", re.DOTALL)

COMMAND_TOOLS = frozenset({"bash"})

_BUILTINS = frozenset(
    ". alias bg bind break builtin caller command compgen complete compopt continue declare dirs disown enable eval "
    "exec exit export fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd read "
    "readarray readonly return set shift shopt source suspend test times trap type typeset ulimit umask unalias "
    "unset wait".split()
)
"""Builtins that can change how the rest of a line is read (`printf -v PATH`, `hash -p`) or evaluate their arguments
(`unset 'a[$(…)]'`): allowed only by a rule that names the exact command, without a wildcard."""

MAX_RULES_AT_ONCE = 3
"""Rules that one "always" adds at most; users would not read more."""

MAX_SEARCHED_CHARS = 120_000
"""Characters of a command line that are searched for denied commands; longer lines are not run."""
_MAX_PATH_CHARS = 4096
"""The system's limit: a longer word is not a path."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Without `about` it covers every call of the tool."""

    text: str
    tool: str
    about: str | None
    command: SimpleCommand | None = None
    exact: bool = False
    """`about` is the exact subject or path."""
    harmless: tuple[str, ...] = ()
    """The command that it covers with any harmless arguments."""

    @classmethod
    def parse(cls, text: str) -> "Rule":
        text = text.strip()
        form = _FORM.match(text)
        if form is None:
            raise ConfigError(f"{text!r} is not a rule; a rule is a tool, or a tool and a pattern: bash(git status*)")
        tool, about = form["tool"].removesuffix("__*"), None if form["about"] in (None, "*", "**") else form["about"]
        if about is not None and about.startswith("="):
            return cls(text, tool, about[1:], exact=True)
        if about is None or tool not in COMMAND_TOOLS:
            return cls(text, tool, about)
        words = tuple(about.split())
        if words[-1:] == ("...",) and is_prefix(words[:-1]):
            return cls(text, tool, about, harmless=words[:-1])
        command = pattern(about)
        if command is None:
            raise ConfigError(
                f"{text!r} is not a rule: it must describe one plain command, its program in full, "
                "without variables, substitutions and redirections; * at the end means any arguments"
            )
        return cls(text, tool, about, command)

    def is_for(self, tool: str) -> bool:
        """Whether it speaks of this tool. `mcp__github` and `mcp__github__*` speak of all tools of that server."""
        whole_server = self.tool.startswith("mcp__") and self.tool.count("__") == 1
        return self.tool == tool or (whole_server and tool.startswith(f"{self.tool}__"))

    def covers_command(self, given: SimpleCommand, *, moved: bool, inside: Inside) -> bool:
        """For allowing: word by word. A `*` at the end matches any arguments, not a longer program name."""
        if self.harmless:
            return not moved and covers(self.harmless, given, inside)
        if self.command is None:
            return not self.exact
        wanted = [word.pattern for word in self.command.words]
        words = given.texts
        if given.program in _BUILTINS:
            return words == self.command.texts
        if not wanted[-1].endswith("*"):
            return len(words) == len(wanted) and _each(words, wanted)
        if len(wanted) == 1:
            return given.program == wanted[0][:-1]
        if wanted[-1] == "*":
            wanted.pop()
        return len(words) >= len(wanted) and _each(words, wanted)

    def found_in(self, words: "_Words") -> bool:
        """For denying: whether the rule's words occur in a row anywhere among these."""
        if self.command is None:
            return True
        wanted = [word.pattern for word in self.command.words]
        if wanted[-1] == "*":
            wanted.pop()
        elif len(wanted) == 1:
            wanted = [wanted[0].removesuffix("*")]
        return any(_each(words.all[at + 1 : at + len(wanted)], wanted[1:]) for at in words.named(wanted[0]))

    def covers_path(self, path: str, *, fold: bool = False) -> bool:
        """A glob from the root (path_rules.py). A pattern without a slash matches at any depth."""
        if self.about is None:
            return True
        if self.exact:
            return path.casefold() == self.about.casefold() if fold else path == self.about
        glob = self.about.removeprefix("./") if "/" in self.about else f"**/{self.about}"
        return matches(glob.casefold(), path.casefold()) if fold else matches(glob, path)


def narrowed(text: str) -> str:
    """A remembered rule in its present narrow form; empty if it would be too wide."""
    try:
        rule = Rule.parse(text)
    except ConfigError:
        return ""
    if rule.exact or rule.harmless:
        return rule.text
    if rule.command and rule.command.words[-1].pattern.endswith("*"):
        prefix = tuple(" ".join(rule.command.texts).removesuffix("*").split())
        return f"{rule.tool}({' '.join(prefix)} ...)" if is_prefix(prefix) else ""
    if rule.about is None or (rule.command is None and re.search(r"[*?]", rule.about)):
        return ""
    return f"{rule.tool}(={rule.about.removeprefix('./') if rule.command is None else rule.about})"


class Rules:
    """The rules of a session."""

    def __init__(self, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        self._allow = [Rule.parse(text) for text in allow]
        self._deny = [Rule.parse(text) for text in deny]
        for rule in self._allow:
            if rule.tool == "*":
                raise ConfigError(f"{rule.text!r} would allow everything; that is the mode bypass, not a rule")
        for rule in self._deny:
            if rule.tool in COMMAND_TOOLS and (rule.exact or rule.harmless):
                raise ConfigError(f"{rule.text!r} denies next to nothing; name the program: bash(git push*)")

    def add(self, text: str) -> None:
        """Add an allow rule."""
        self._allow.append(Rule.parse(text))

    def denied(self, tool: str, subject: str, paths: Iterable[str]) -> str:
        """The rule that denies a call, or nothing. Linear in the subject; check `too_long` first."""
        rules = [rule for rule in self._deny if rule.tool == "*" or rule.is_for(tool)]
        if tool in COMMAND_TOOLS:
            return next((rule.text for rule in _found(rules, tool, subject)), "")
        paths = tuple(paths)
        return next((rule.text for rule in rules if _denies(rule, subject, paths)), "")

    def never_allows(self, tool: str) -> bool:
        """Whether a rule denies every call of a tool."""
        return any(rule.is_for(tool) and rule.about is None for rule in self._deny)

    def allowed_hosts(self) -> frozenset[str]:
        """The hosts that allow rules for `web_fetch` name exactly; wildcards do not open private addresses."""
        found = (rule.about or "" for rule in self._allow if rule.tool == "web_fetch" and rule.about)
        hosts = (about.removeprefix("domain:").lower() for about in found if about.startswith("domain:"))
        return frozenset(host for host in hosts if not re.search(r"[*?\[]", host))

    def too_long(self, tool: str, subject: str) -> bool:
        """Whether there are deny rules for commands and the line is too long to search."""
        long = tool in COMMAND_TOOLS and len(subject) > MAX_SEARCHED_CHARS
        return long and any(rule.tool in (tool, "*") for rule in self._deny)

    def allowed(self, tool: str, subject: str, paths: Iterable[str], inside: Inside = lambda _: True) -> bool:
        """Whether rules cover every command or path of a call. `inside` checks the arguments of commands that are
        allowed because they stay in the workspace."""
        rules = [rule for rule in self._allow if rule.is_for(tool)]
        if any(rule.about is None for rule in rules):
            return True
        if tool in COMMAND_TOOLS:
            line = commands(subject)
            exact = any(rule.exact and rule.about == subject for rule in rules)
            return line is not None and (exact or all(_covered(line, rules, inside)))
        if paths := tuple(paths):
            return all(any(rule.covers_path(path) for rule in rules) for path in paths)
        return any(rule.about == subject if rule.exact else fnmatchcase(subject, rule.about or "*") for rule in rules)

    def always(
        self, tool: str, subject: str, paths: Iterable[str], inside: Inside = lambda _: True
    ) -> tuple[str, ...]:
        """The rules that "always allow this" would add; none if no rule can express it."""
        if tool not in COMMAND_TOOLS:
            return tuple(f"{tool}(={about})" for about in tuple(paths) or (subject,) if about)
        line = commands(subject)
        if line is None:
            return ()
        known = _covered(line, [rule for rule in self._allow if rule.tool == tool], inside)
        prefixes = dict.fromkeys(
            harmless_prefix(command, inside) for command, covered in zip(line, known, strict=True) if not covered
        )
        if () in prefixes or len(prefixes) > MAX_RULES_AT_ONCE or _moves(line):
            return (f"{tool}(={subject})",)
        return tuple(f"{tool}({' '.join(prefix)} ...)" for prefix in prefixes)


def _denies(rule: Rule, subject: str, paths: tuple[str, ...]) -> bool:
    seen = any(rule.covers_path(path, fold=True) for path in paths)
    return seen or (not paths and (rule.about is None or fnmatchcase(subject, rule.about)))


def _found(rules: Sequence[Rule], tool: str, line: str) -> Iterator[Rule]:
    """The rules that deny a line: command rules by its words, file rules (`*(.env)`) by the paths among them."""
    readings = [_Words(words) for words in _readings(line)] if rules else []
    paths = {os.path.normpath(word) for words in readings for word in words.all if len(word) < _MAX_PATH_CHARS}
    for rule in rules:
        if rule.about is None:
            yield rule
        elif rule.tool == tool:
            yield from [rule] if any(map(rule.found_in, readings)) else []
        elif any(rule.covers_path(path, fold=True) for path in paths):
            yield rule


def _moves(line: Sequence[SimpleCommand]) -> bool:
    """Whether the line changes the folder, so that relative paths mean something else."""
    return any(command.program == "cd" for command in line)


def _covered(line: Sequence[SimpleCommand], rules: Sequence[Rule], inside: Inside) -> list[bool]:
    """Which commands of a line are covered. With a `cd` in the line, a relative program is not."""
    moved = _moves(line)
    return [
        any(rule.covers_command(command, moved=moved, inside=inside) for rule in rules)
        and not (moved and "/" in command.program and not command.program.startswith("/"))
        for command in line
    ]


def _each(words: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(words) >= len(wanted) and all(map(fnmatchcase, words, wanted))


class _Words:
    """The words of a line, indexed by the whole word and by the last part of a path."""

    def __init__(self, words: list[str]) -> None:
        self.all = words
        self._whole: dict[str, list[int]] = {}
        self._last: dict[str, list[int]] = {}
        for at, word in enumerate(words):
            self._whole.setdefault(word, []).append(at)
            self._last.setdefault(word.rpartition("/")[2], []).append(at)

    def named(self, program: str) -> Sequence[int]:
        """The positions of a program; one without a slash also matches the last part of a path."""
        return (self._whole if "/" in program else self._last).get(program, ())


def _readings(line: str) -> Iterator[list[str]]:
    """The words of any line in three readings: as the shell, with quotes removed, with quotes as separators."""
    for command in commands(line) or ():
        yield list(command.texts)
    border = r"[\s;|&()<>{}`$!=]+"
    yield [word for word in re.split(border, re.sub(r"[\\'\"]", "", line)) if word]
    yield [word for word in re.split(border[:-2] + r"\\'\"]+", line) if word]
