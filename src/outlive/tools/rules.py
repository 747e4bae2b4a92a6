"""Allow and deny rules: `bash(git status*)`, `edit_file(src/**)`, `web_search`. Deny wins, everywhere.

An allow rule never covers what is not understood; a deny rule rather covers too much.
"""

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from outlive.errors import ConfigError
from outlive.tools.globs import matches
from outlive.tools.shellline import Command, commands, pattern

_FORM = re.compile(r"(?P<tool>[A-Za-z_][\w.-]*|\*)(?:\((?P<about>.*)\))?\Z", re.DOTALL)

COMMAND_TOOLS = frozenset({"bash"})

_BUILTINS = frozenset(
    {
        *(".", "alias", "bg", "bind", "break", "builtin", "caller", "command", "compgen", "complete"),
        *("compopt", "continue", "declare", "dirs", "disown", "enable", "eval", "exec", "exit", "export", "fc"),
        *("fg", "getopts", "hash", "help", "history", "jobs", "kill", "let", "local", "logout", "mapfile"),
        *("popd", "printf", "pushd", "read", "readarray", "readonly", "return", "set", "shift", "shopt"),
        *("source", "suspend", "test", "times", "trap", "type", "typeset", "ulimit", "umask", "unalias"),
        *("unset", "wait"),
    }
)
"""What bash itself does and may change how the rest of a line is read (`printf -v PATH`, `hash -p`), or evaluates its
arguments (`unset 'a[$(…)]'`): let through only by a rule that names the very command, without a wildcard."""

_WRAPPERS = frozenset(
    {
        *("sh", "bash", "zsh", "dash", "ksh", "fish", "env", "sudo", "doas", "su", "xargs", "python"),
        *("python3", "node", "deno", "bun", "perl", "ruby", "php", "lua", "awk", "gawk", "sed", "find", "ssh"),
        *("timeout", "nohup", "nice", "watch", "parallel", "setsid", "stdbuf", "busybox", "docker", "podman"),
        *("kubectl", "rm", "mv", "dd", "tee", "curl", "wget"),
    }
)
"""Programs that run others, or whose arguments are the danger: "always" means this very command."""

MOST_AT_ONCE = 3
"""Rules that one "always" adds: nobody reads more of them before pressing a key."""

_WITH_SUBCOMMAND = frozenset(
    {
        *("git", "npm", "pnpm", "yarn", "npx", "cargo", "go", "pip", "uv", "poetry", "make", "gh", "dotnet"),
        *("mvn", "gradle", "bundle", "rails", "mix", "just", "hatch", "tox", "nox"),
    }
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Without `about` it covers every call of the tool."""

    text: str
    tool: str
    about: str | None
    command: Command | None = None

    @classmethod
    def parse(cls, text: str) -> "Rule":
        form = _FORM.match(text.strip())
        if form is None:
            raise ConfigError(f"{text!r} is no rule; a rule is a tool, or a tool and a pattern: bash(git status*)")
        about = None if form["about"] in (None, "*", "**") else form["about"]
        command = None
        if about is not None and form["tool"] in COMMAND_TOOLS:
            command = pattern(about)
            if command is None:
                raise ConfigError(
                    f"{text!r} is no rule: it must describe one plain command, its program in full, "
                    "without variables, substitutions and redirections; * at the end stands for any arguments"
                )
        return cls(text.strip(), form["tool"], about, command)

    def covers_command(self, given: Command) -> bool:
        """For allowing: word by word. A `*` at the end stands for any arguments, not for a longer program name."""
        if self.command is None:
            return True
        wanted = [word.pattern for word in self.command.words]
        words = list(given.texts)
        if given.program in _BUILTINS:
            return given.texts == self.command.texts
        if not wanted[-1].endswith("*"):
            return len(words) == len(wanted) and _each(words, wanted)
        if len(wanted) == 1:
            return given.program == wanted[0][:-1]
        if wanted[-1] == "*":
            wanted.pop()
        return len(words) >= len(wanted) and _each(words, wanted)

    def found_in(self, line: str) -> bool:
        """For denying: the rule's words one after the other, wherever in the line, however it is quoted."""
        if self.command is None:
            return True
        wanted = [word.pattern for word in self.command.words]
        if wanted[-1] == "*":
            wanted.pop()
        elif len(wanted) == 1:
            wanted = [wanted[0].removesuffix("*")]
        for words in _readings(line):
            for at in range(len(words) - len(wanted) + 1):
                some = [os.path.basename(words[at]) if "/" not in wanted[0] else words[at], *words[at + 1 :]]
                if _each(some, wanted):
                    return True
        return False

    def covers_path(self, path: str, *, fold: bool = False) -> bool:
        """A glob from the root: `*` stays in a folder, `**` does not. What has no slash may lie anywhere."""
        if self.about is None:
            return True
        glob = self.about.removeprefix("./") if "/" in self.about else f"**/{self.about}"
        return matches(glob.casefold(), path.casefold()) if fold else matches(glob, path)


class Rules:
    """All rules of a session."""

    def __init__(self, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        self._allow = [Rule.parse(text) for text in allow]
        self._deny = [Rule.parse(text) for text in deny]
        for rule in self._allow:
            if rule.tool == "*":
                raise ConfigError(f"{rule.text!r} would allow everything; that is the mode bypass, not a rule")

    def add(self, text: str) -> None:
        """Allow this too, from now on."""
        self._allow.append(Rule.parse(text))

    def denied(self, tool: str, subject: str, paths: Iterable[str]) -> str:
        """The rule that denies a call, or nothing."""
        paths = tuple(paths)
        return next((rule.text for rule in self._deny if _denies(rule, tool, subject, paths)), "")

    def allowed(self, tool: str, subject: str, paths: Iterable[str]) -> bool:
        """Whether rules cover all of a call: every command of a line, every path."""
        rules = [rule for rule in self._allow if rule.tool == tool]
        if any(rule.about is None for rule in rules):
            return True
        if tool in COMMAND_TOOLS:
            return all_allowed(commands(subject), rules)
        if paths := tuple(paths):
            return all(any(rule.covers_path(path) for rule in rules) for path in paths)
        return any(fnmatchcase(subject, rule.about or "*") for rule in rules)

    def always(self, tool: str, subject: str, paths: Iterable[str]) -> tuple[str, ...]:
        """The rules that "always allow this" would remember; none when rules cannot say it, or it takes too many."""
        if tool not in COMMAND_TOOLS:
            return _always_path(tool, tuple(paths))
        rules = [rule for rule in self._allow if rule.tool == tool]
        line = commands(subject) or ()
        unknown = (one for one in line if not any(rule.covers_command(one) for rule in rules))
        missing = tuple(dict.fromkeys(_always_command(tool, one) for one in unknown))
        enough = all_allowed(line, [*rules, *map(Rule.parse, missing)])
        return missing if enough and len(missing) <= MOST_AT_ONCE else ()


def _denies(rule: Rule, tool: str, subject: str, paths: tuple[str, ...]) -> bool:
    if rule.tool not in (tool, "*"):
        return False
    if tool not in COMMAND_TOOLS:
        seen = any(rule.covers_path(path, fold=True) for path in paths)
        return seen or (not paths and (rule.about is None or fnmatchcase(subject, rule.about)))
    if rule.tool == tool:
        return rule.found_in(subject)
    return any(rule.covers_path(os.path.normpath(word), fold=True) for words in _readings(subject) for word in words)


def all_allowed(line: tuple[Command, ...] | None, rules: Iterable[Rule]) -> bool:
    """Every command of an understood line is covered. After a `cd`, `./program` is another program: not covered."""
    if line is None:
        return False
    moved = any(command.program == "cd" for command in line)
    rules = tuple(rules)
    return all(
        any(rule.covers_command(command) for rule in rules)
        and not (moved and "/" in command.program and not command.program.startswith("/"))
        for command in line
    )


def _always_command(tool: str, command: Command) -> str:
    words = command.texts
    if command.program in _BUILTINS | _WRAPPERS or "/" in command.program:
        return f"{tool}({shlex.join(words)})"
    if command.program in _WITH_SUBCOMMAND:
        if len(words) > 1 and re.match(r"(?!(?:run|exec|x|dlx|tool)\Z)[a-z][\w:-]*\Z", words[1]):
            return f"{tool}({command.program} {words[1]} *)"
        return f"{tool}({shlex.join(words)})"
    return f"{tool}({command.program}*)"


def _always_path(tool: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    if not paths:
        return (tool,)
    folders = {os.path.dirname(path) for path in paths}
    folder = folders.pop()
    if folders or re.search(r"[*?\[]", folder + paths[0]):
        return ()
    if folder:
        return (f"{tool}({folder}/**)",)
    return tuple(f"{tool}(./{path})" for path in paths)


def _each(words: list[str], wanted: list[str]) -> bool:
    return len(words) >= len(wanted) and all(map(fnmatchcase, words, wanted))


def _readings(line: str) -> Iterable[list[str]]:
    """The words of any line, read in three ways: as a shell would, with quotes gone, with quotes as borders."""
    for command in commands(line) or ():
        yield list(command.texts)
    border = r"[\s;|&()<>{}`$!=]+"
    yield [word for word in re.split(border, re.sub(r"[\\'\"]", "", line)) if word]
    yield [word for word in re.split(border[:-2] + r"\\'\"]+", line) if word]
