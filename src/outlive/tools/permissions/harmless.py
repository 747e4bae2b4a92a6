"""Commands that "always" may allow with other arguments than the user saw, and their harmless options.

Every other command is remembered exactly. With the listed options and with paths inside the workspace, these commands
only read files of the workspace or run its tests: they do not write, load plugins or read elsewhere. The table lists
harmless options instead of dangerous ones, so that a new or abbreviated option (`git log --outp=x`) is asked about.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from outlive.shell.strict import SimpleCommand, Word


@dataclass(frozen=True, slots=True)
class _Options:
    """The harmless options of a command: letters, which may be combined (`-la`), and long names between spaces."""

    letters: str
    names: str = ""

    def allow(self, word: str) -> bool:
        if word.startswith("--"):
            return word == "--" or word[2:].partition("=")[0] in self.names.split()
        return all(letter in self.letters or letter.isdecimal() for letter in word[1:])


_DIFF = "stat shortstat numstat name-only name-status"
_HARMLESS = {
    ("git", "status"): _Options("sb", "short branch porcelain long"),
    ("git", "log"): _Options("n", f"{_DIFF} oneline graph all max-count since until author merges no-merges reverse"),
    ("git", "diff"): _Options("w", f"{_DIFF} cached staged check"),
    ("git", "show"): _Options("", f"{_DIFF} oneline"),
    ("pytest",): _Options("xqvslkmn", "lf last-failed ff failed-first maxfail tb durations no-header quiet verbose"),
    ("ls",): _Options("laAhtrR1Sd"),
    ("cat",): _Options("nA"),
    ("head",): _Options("nc"),
    ("tail",): _Options("nc"),
    ("wc",): _Options("lwcm"),
    ("grep",): _Options("niEFwvcoABC"),
}
_OUTSIDE = re.compile(r"[/~@]|(?:.*[/:=)])?\.[^/]", re.DOTALL)
"""Operands that are not plain words or workspace paths: absolute paths, `~`, `@file`, `..`, and hidden files."""
Inside = Callable[[str], bool]
"""Whether a word, taken as a path, stays in the workspace: a cloned repository can contain links."""


def harmless_prefix(command: SimpleCommand, inside: Inside = lambda _: True) -> tuple[str, ...]:
    """The start of a command that "always" may allow with other arguments; empty if it must stay exact."""
    prefix = next((prefix for size in (1, 2) if (prefix := command.texts[:size]) in _HARMLESS), ())
    return prefix if covers(prefix, command, inside) else ()


def is_prefix(words: tuple[str, ...]) -> bool:
    """Whether the table has exactly these words."""
    return words in _HARMLESS


def covers(prefix: tuple[str, ...], command: SimpleCommand, inside: Inside = lambda _: True) -> bool:
    """Whether a command begins with `prefix` and has only harmless arguments."""
    if not prefix or command.texts[: len(prefix)] != prefix:
        return False
    words = command.words[len(prefix) :]
    return all(_is_harmless(word, _HARMLESS[prefix]) and inside(word.text) for word in words)


def _is_harmless(word: Word, options: _Options) -> bool:
    """Wildcards are not harmless: a file name can be an option."""
    if word.expands:
        return False
    if word.text.startswith("-") and len(word.text) > 1:
        return options.allow(word.text)
    return _OUTSIDE.match(word.text) is None
