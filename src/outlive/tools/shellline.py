"""A command line taken apart into the programs it runs, or not at all.

Rules may only let through what is fully understood, so this reads a small part of what a shell reads: plain words,
quotes, `&&`, `||`, `|`, `;`, line ends, and redirections to nowhere. Anything else (substitutions, variables,
redirections to files, background, assignments, keywords, braces, comments, what is not ASCII outside of quotes) is
`None`: not understood, so never matched. The parser of bash that Python has (bashlex) is under the GPL and asleep.
"""

import re
from dataclasses import dataclass, field

KEYWORDS = frozenset(
    {
        *("if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "select"),
        *("in", "function", "time", "coproc"),
    }
)

_PLAIN = re.compile(r"[A-Za-z0-9_./:,@%+=^~*?\[\]-]+")
_NOWHERE = re.compile(r"(?:[012]?>>?[ \t]*/dev/null|&>[ \t]*/dev/null|[012]?>&[012]|<[ \t]*/dev/null)(?=[\s;|&]|\Z)")
_BLANK = re.compile(r"[ \t]+")
_OPERATOR = re.compile(r"&&|\|\||\||;|\n")
_SINGLE = re.compile(r"'([^']*)'")
_DOUBLE = re.compile(r'"((?:[^"\\$`]|\\.)*)"', re.DOTALL)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~ ])")
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_PROGRAM = re.compile(r"[A-Za-z0-9_./+-]+\Z")


@dataclass(slots=True)
class Word:
    """A word as the program gets it, and as a pattern in which only what was not quoted is a wildcard."""

    text: str = ""
    pattern: str = ""
    bare: bool = True
    """Nothing of it was quoted."""

    def add(self, text: str, *, quoted: bool) -> None:
        self.text += text
        self.pattern += re.sub(r"([*?\[])", r"[\1]", text) if quoted else text
        self.bare = self.bare and not quoted


@dataclass(slots=True)
class Command:
    """A program and its arguments."""

    words: list[Word] = field(default_factory=list)

    @property
    def program(self) -> str:
        return self.words[0].text

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)


def commands(line: str) -> tuple[Command, ...] | None:
    """Every command of a line, in order; None when the line is not understood."""
    if _FORBIDDEN.search(line):
        return None
    found = tuple(Command(words) for words in _split(line) or ())
    understood = found and all(_is_plain_program(command, any_wildcard=False) for command in found)
    return found if understood else None


def pattern(text: str) -> Command | None:
    """The one command that a rule describes; None when it is not one."""
    if _FORBIDDEN.search(text):
        return None
    split = _split(text)
    if not split or len(split) != 1:
        return None
    command = Command(split[0])
    return command if _is_plain_program(command, any_wildcard=True) else None


def _is_plain_program(command: Command, *, any_wildcard: bool) -> bool:
    first = command.words[0]
    name = first.text
    if any_wildcard and len(name) > 1 and len(command.words) == 1:
        name = name.removesuffix("*")
    return first.bare and _PROGRAM.match(name) is not None and name not in KEYWORDS


def _split(line: str) -> list[list[Word]] | None:
    """The words of each command; None for what is not understood, an operator with nothing before it included."""
    found: list[list[Word]] = []
    words: list[Word] = []
    at, joined = 0, True
    while at < len(line):
        if blank := _BLANK.match(line, at):
            at = blank.end()
        elif nowhere := _NOWHERE.match(line, at):
            at = nowhere.end()
            if not words:
                return None
        elif operator := _OPERATOR.match(line, at):
            at = operator.end()
            if words:
                found.append(words)
                words = []
                joined = operator[0] in ("&&", "||", "|")
            elif operator[0] != "\n":
                return None
        else:
            word, at = _word(line, at)
            if word is None:
                return None
            words.append(word)
            joined = False
    if words:
        found.append(words)
    return None if joined else found


def _word(line: str, at: int) -> tuple[Word | None, int]:
    """The word that begins here and where it ends."""
    word = Word()
    while at < len(line) and line[at] not in " \t\n;|&":
        if plain := _PLAIN.match(line, at):
            word.add(plain[0], quoted=False)
            at = plain.end()
        elif quoted := _SINGLE.match(line, at) or _ESCAPED.match(line, at):
            word.add(quoted[1], quoted=True)
            at = quoted.end()
        elif (double := _DOUBLE.match(line, at)) and "\\\n" not in double[1]:
            word.add(re.sub(r'\\(["\\$`])', r"\1", double[1]), quoted=True)
            at = double.end()
        else:
            return None, at
    return (None, at) if at < len(line) and line[at] == "&" and line[at : at + 2] != "&&" else (word, at)
