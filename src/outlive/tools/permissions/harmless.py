"""Commands that "always" may cover with other arguments than those the user saw, and which arguments.

Everything else is remembered to the letter. A command is in the table if the options listed with it, and paths and
words that stay in the workspace, let it look at files of the workspace or run tests of it, and do nothing else: not
write, not load a plugin, not look elsewhere. Harmless options are listed rather than dangerous ones, so that a new or
an abbreviated one (`git log --outp=x`) is asked about.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from outlive.shell.strict import SimpleCommand, Word


@dataclass(frozen=True, slots=True)
class HarmlessOptions:
    """The harmless options of a command: letters, which may stand together (`-la`), and long names."""

    letters: str = ""
    names: frozenset[str] = frozenset()

    def allow(self, word: str) -> bool:
        if word.startswith("--"):
            return word == "--" or word[2:].partition("=")[0] in self.names
        return all(letter in self.letters or letter.isdecimal() for letter in word[1:])


def _options(letters: str, names: str = "") -> HarmlessOptions:
    return HarmlessOptions(letters, frozenset(names.split()))


_DIFF = "stat shortstat numstat name-only name-status"
_HARMLESS = {
    ("git", "status"): _options("sb", "short branch porcelain long"),
    ("git", "log"): _options("n", f"{_DIFF} oneline graph all max-count since until author merges no-merges reverse"),
    ("git", "diff"): _options("w", f"{_DIFF} cached staged check"),
    ("git", "show"): _options("", f"{_DIFF} oneline"),
    ("pytest",): _options("xqvslkmn", "lf last-failed ff failed-first maxfail tb durations no-header quiet verbose"),
    ("ls",): _options("laAhtrR1Sd"),
    ("cat",): _options("nA"),
    ("head",): _options("nc"),
    ("tail",): _options("nc"),
    ("wc",): _options("lwcm"),
    ("grep",): _options("niEFwvcoABC"),
}
_OUTSIDE = re.compile(r"[/~@]|(?:.*[/:=)])?\.[^/]", re.DOTALL)
"""Operands that are not plain words or paths of the workspace: absolute paths, a home, a file of arguments
(`pytest @file`), `..`, and what is hidden (`.env`, `.git`)."""
Inside = Callable[[str], bool]
"""Whether a word, if it is a path, leads to nothing outside of the workspace: a clone can bring links."""


def harmless_prefix(command: SimpleCommand, inside: Inside = lambda _: True) -> tuple[str, ...]:
    """The beginning of a command that "always" may cover with other arguments; empty when it is to be kept exact."""
    prefix = next((prefix for size in (1, 2) if (prefix := command.texts[:size]) in _HARMLESS), ())
    return prefix if covers(prefix, command, inside) else ()


def is_prefix(words: tuple[str, ...]) -> bool:
    """Whether the table has a command that begins with exactly these words."""
    return words in _HARMLESS


def covers(prefix: tuple[str, ...], command: SimpleCommand, inside: Inside = lambda _: True) -> bool:
    """Whether a command is one of those that begin with `prefix` and have only harmless arguments."""
    if not prefix or command.texts[: len(prefix)] != prefix:
        return False
    words = command.words[len(prefix) :]
    return all(_is_harmless(word, _HARMLESS[prefix]) and inside(word.text) for word in words)


def _is_harmless(word: Word, options: HarmlessOptions) -> bool:
    """Wildcards are not: the name of a file can be an option."""
    if word.expands:
        return False
    if word.text.startswith("-") and len(word.text) > 1:
        return options.allow(word.text)
    return _OUTSIDE.match(word.text) is None
