"""The commands of a line for permission rules, or None if any part of the line is not understood.

Understood: plain words, quotes, escapes, `&&`, `||`, `|`, `;`, line ends, and redirections to /dev/null. Everything
else gives None: substitutions, variables, redirections to files, background, keywords, braces, comments, non-ASCII
text outside quotes. The grammar misreads some lines without an error, so three checks must agree: the characters of
the line, the type of every node, and the positions of words and commands with only blanks between them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from outlive.shell.tree import parse

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PARSED_BYTES = 10_000
"""Bytes of the longest line that is parsed."""
MAX_OPERATORS = 200
"""`;`, `|`, `&`, `<`, `>` and line ends outside quotes; misplaced ones make the parser slow."""

KEYWORDS = frozenset("if then else elif fi do done case esac while until for select in function time coproc".split())

_PIECE = re.compile(
    rb"(?P<plain>[A-Za-z0-9_./:,@%+=^~*?\[\]-]+)"
    rb"|'(?P<single>[^']*)'"
    rb'|"(?P<double>(?:[^"\\$`]|\\[^\n])*)"'
    rb"|\\(?P<escaped>[!-/:-@\[-`{-~ ])"
)
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_NOWHERE = re.compile(rb"(?:[012]?>>?[ \t]*/dev/null|&>[ \t]*/dev/null|[012]?>&[012]|<[ \t]*/dev/null)(?=[\s;|&]|\Z)")
_PROGRAM = re.compile(r"[A-Za-z0-9_./+-]+\Z")
_EXPANDS = re.compile(r"[*?\[]|(?<![A-Za-z0-9])~")

_COMMANDS = frozenset({"command", "declaration_command", "unset_command"})
_INNER = _COMMANDS | {
    *("program", "list", "pipeline", "redirected_statement", "command_name", "concatenation", "variable_assignment")
}
_WORDS = frozenset(
    "word number string raw_string variable_name = += == =~ export declare typeset readonly local unset".split()
)
_OPERATORS = frozenset({"&&", "||", "|", ";"})


@dataclass(slots=True)
class Word:
    """A word as the program receives it, and as a pattern in which only unquoted characters are wildcards."""

    text: str = ""
    pattern: str = ""
    bare: bool = True
    """No part of it is quoted."""
    expands: bool = False
    """The shell may expand it to file names or a home folder."""

    def add(self, text: str, *, quoted: bool) -> None:
        self.text += text
        self.pattern += re.sub(r"([*?\[])", r"[\1]", text) if quoted else text
        self.bare = self.bare and not quoted
        self.expands = self.expands or (not quoted and _EXPANDS.search(text) is not None)


@dataclass(slots=True)
class SimpleCommand:
    """A program and its arguments."""

    words: list[Word] = field(default_factory=list)

    @property
    def program(self) -> str:
        return self.words[0].text

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)


class _NotUnderstood(Exception):
    """Some part of the line is not understood."""


def commands(line: str) -> tuple[SimpleCommand, ...] | None:
    """Every command of a line, in order; None if the line is not understood."""
    found = _read(line)
    understood = found and all(_is_plain_program(command, any_wildcard=False) for command in found)
    return found if understood else None


def pattern(text: str) -> SimpleCommand | None:
    """The single command that a rule describes; None otherwise."""
    found = _read(text)
    single = found is not None and len(found) == 1 and _is_plain_program(found[0], any_wildcard=True)
    return found[0] if found and single else None


def _is_plain_program(command: SimpleCommand, *, any_wildcard: bool) -> bool:
    first = command.words[0]
    name = first.text
    if any_wildcard and len(name) > 1 and len(command.words) == 1:
        name = name.removesuffix("*")
    return first.bare and _PROGRAM.match(name) is not None and name not in KEYWORDS


def _read(line: str) -> tuple[SimpleCommand, ...] | None:
    try:
        source = line.encode() if len(line) <= MAX_PARSED_BYTES else b""
    except UnicodeEncodeError:
        return None
    if not _plausible(source):
        return None
    root = parse(source)
    if root.has_error:
        return None
    try:
        return tuple(_commands(source, root))
    except _NotUnderstood:
        return None


def _plausible(source: bytes) -> bool:
    """Whether the line has only supported pieces, in any order."""
    if not source or len(source) > MAX_PARSED_BYTES or _FORBIDDEN.search(source):
        return False
    between = _PIECE.sub(b"", source)
    return not between.strip(b" \t\n;|&<>") and len(between.translate(None, b" \t")) <= MAX_OPERATORS


def _commands(source: bytes, root: "Node") -> Iterator[SimpleCommand]:
    """The commands, built from words in source order; they must equal the command nodes of the tree."""
    spans: list[list[tuple[int, int]]] = [[]]
    nodes = list[tuple[int, int]]()
    at = 0
    for node in _leaves(root, nodes):
        gap, start, end = source[at : node.start_byte], node.start_byte, node.end_byte
        if gap.strip(b" \t\n"):
            raise _NotUnderstood
        if b"\n" in gap or node.type in _OPERATORS:
            spans.append([])
        if node.type == "file_redirect":
            _check_redirect(source, start, end, spans[-1], at)
        elif node.type in _WORDS:
            joined = spans[-1] and start == at
            spans[-1].append((spans[-1].pop()[0], end) if joined else (start, end))
        elif node.type not in _OPERATORS:
            raise _NotUnderstood
        at = end
    if source[at:].strip(b" \t\n") or [(words[0][0], words[-1][1]) for words in spans if words] != nodes:
        raise _NotUnderstood
    for words in filter(None, spans):
        yield SimpleCommand([_word(source[start:end]) for start, end in words])


def _leaves(root: "Node", commands: list[tuple[int, int]]) -> Iterator["Node"]:
    """The nodes that are not descended into, in order; positions of commands are added to `commands`."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _INNER:
            if node.type in _COMMANDS:
                commands.append(node.byte_range)
            waiting += reversed(node.children)
        else:
            yield node


def _check_redirect(source: bytes, start: int, end: int, words: list[tuple[int, int]], at: int) -> None:
    """The target is /dev/null or a descriptor, and a digit before it belongs to it exactly as in bash."""
    found = _NOWHERE.match(source, start)
    if found is None or found.end() != end or not words:
        raise _NotUnderstood
    if start == at and (source[start : start + 1].isdigit() or source[slice(*words[-1])].isdigit()):
        raise _NotUnderstood


def _word(source: bytes) -> Word:
    word, at = Word(), 0
    while at < len(source):
        piece = _PIECE.match(source, at)
        if piece is None:
            raise _NotUnderstood
        text = piece[piece.lastgroup or 0].decode()
        if piece.lastgroup == "double":
            text = re.sub(r'\\(["\\$`])', r"\1", text)
        word.add(text, quoted=piece.lastgroup != "plain")
        at = piece.end()
    return word
