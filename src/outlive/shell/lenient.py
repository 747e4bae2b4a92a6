"""The programs of any command line: their words, the operators around them, and their output files.

No permission depends on it, so it guesses: text that does not parse becomes a word. The tree is read from left to
right, ignoring its nesting, because the grammar's precedence of `|`, `&&` and redirections differs from bash.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from outlive.shell.tree import parse

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PARSED_BYTES = 2_000
"""Bytes that are parsed, without heredoc bodies."""
MAX_BYTES_WITH_BODIES = 200_000  # more than the bash tool accepts; commands of other agents are cut here

_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([\w.-]+)\1")
_OPERATORS = frozenset({"&&", "||", "|", "|&", ";", ";;", ";&", ";;&", "&", "(", ")"})
_PROGRAMS = frozenset({"command", "declaration_command", "unset_command", "test_command"})
_CONTROL: dict[str, tuple[str, ...]] = {
    "for_statement": ("do_group", "compound_statement"),
    "c_style_for_statement": ("do_group", "compound_statement"),
    "case_statement": ("case_item",),
    "function_definition": ("compound_statement", "subshell"),
}
"""Statements that contain other nodes besides programs, and the children that hold programs."""
_CONDITIONS = frozenset({"while_statement", "if_statement"})
_INNER = frozenset(
    "program list pipeline redirected_statement heredoc_redirect subshell compound_statement do_group elif_clause "
    "else_clause negated_command concatenation command_name ERROR".split()
)
_IGNORED = frozenset(
    "comment heredoc_start heredoc_body heredoc_end variable_assignment variable_assignments herestring_redirect "
    "file_descriptor".split()
)


@dataclass(slots=True)
class Program:
    """One program of a line with its words; assignments and redirections are not among them."""

    words: list[str]
    after: str = ""
    """The operator before it."""
    then: str = ""
    """The operator after it."""
    outputs: list[str] = field(default_factory=list)
    """Files that its output is redirected to."""
    folder: str = ""
    """The folder in which it runs, according to `cd`."""
    depth: int = 0
    """Nesting of subshells; a `cd` ends with its subshell."""

    @property
    def program(self) -> str:
        return self.words[0].rpartition("/")[2]


def programs(line: str) -> tuple[list[Program], bool]:
    """The programs of a line in order, and whether it has no loops, conditions and functions."""
    if not line:
        return [], True
    source = _bounded(line).encode("utf-8", "replace")[:MAX_PARSED_BYTES]
    reader = _Reader(source)
    reader.read(parse(source))
    return reader.found, reader.plain


def _bounded(line: str) -> str:
    """The line; without heredoc bodies if it is too long."""
    line = line[:MAX_BYTES_WITH_BODIES].replace("\0", " ").replace("\r\n", "\n")
    if len(line) <= MAX_PARSED_BYTES:
        return line
    lines = line.split("\n")
    last = {text.strip("\t"): number for number, text in enumerate(lines)}
    kept, ends = list[str](), list[str]()
    for number, text in enumerate(lines):
        if not ends or text.strip("\t") == ends[0]:
            kept.append(text)
            ends = ends[1:] or [found[2] for found in _HEREDOC.finditer(text) if last.get(found[2], 0) > number]
    return "\n".join(kept)


def _plain_gap(gap: bytes) -> bytes:
    return gap.replace(b"\\\n", b" ")


class _Reader:
    """Walks a tree in source order without recursion: a list of n commands nests n levels deep."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.found: list[Program] = []
        self.plain = True
        self.now = Program([])
        self.depth = 0
        self.end = 0
        """The end of the last word; a node without a gap before it is part of that word."""

    def read(self, root: "Node") -> None:
        waiting: list[tuple[Node | str, str]] = [(root, "")]
        while waiting:
            node, program = waiting.pop()
            if isinstance(node, str):
                self.now.words += node.split()
                continue
            inside = self._inside(node, program)
            parent = node.type if node.type in _PROGRAMS else program if node.type in _INNER else ""
            waiting += [(child, parent) for child in reversed(inside)]
        self._close("")

    def _inside(self, node: "Node", program: str) -> "Sequence[Node | str]":
        """Process a node and return the children to read next."""
        kind = node.type
        if kind in _PROGRAMS:
            self._begin()
        elif kind in _CONTROL or kind in _CONDITIONS:
            self.plain = False
        if kind == "test_command":
            self.now.words += re.sub(r"[\"']", "", self._raw(node)).split()
        elif kind == "file_redirect":
            return self._redirect(node)
        elif kind == "case_item":
            bracket = next((at for at, child in enumerate(node.children) if child.type == ")"), -1)
            return node.children[bracket + 1 :]
        elif kind in _CONTROL:
            return [child for child in node.children if child.type in _CONTROL[kind]]
        elif kind in _INNER or kind in _PROGRAMS or kind in _CONDITIONS:
            return list(self._with_strays(node))
        elif program == "declaration_command" or (kind not in _IGNORED and (node.is_named or program)):
            self._word(node)
        elif kind in _OPERATORS:
            self._close(kind)
        return ()

    def _with_strays(self, node: "Node") -> "Iterator[Node | str]":
        """The children of a node and the text between them that the grammar drops (the `-` of `cat - <<EOF`)."""
        at = node.start_byte
        for child in (*node.children, None):
            end = child.start_byte if child else node.end_byte
            if stray := _plain_gap(self.source[at:end]).strip():
                yield stray.decode("utf-8", "replace")
            if child:
                yield child
                at = child.end_byte

    def _begin(self) -> None:
        """Close the current program, if any: a line end separates it from the next."""
        if self.now.words:
            self._close("\n")

    def _close(self, operator: str) -> None:
        if not self.now.words and not self.now.outputs:
            if self.found and self.found[-1].then in ("\n", ")"):
                self.found[-1].then = operator or self.found[-1].then
            self.now.after = operator or self.now.after
        else:
            self.now.then = operator
            self.found.append(self.now)
            self.now = Program([], after=operator)
        self.depth = max(self.depth + (operator == "(") - (operator == ")"), 0)
        self.now.depth = self.depth

    def _redirect(self, node: "Node") -> "list[Node]":
        """Record the output file and return the arguments after it, which the grammar puts inside the redirection."""
        operator = next((child.type for child in node.children if not child.is_named), "")
        rest = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
        target, end = "", rest[0].start_byte if rest else 0
        while rest and rest[0].start_byte == end:
            target, end = target + self._text(rest[0]), rest[0].end_byte
            rest = rest[1:]
        if ">" in operator and target and not (operator.endswith("&") and target.isdigit()):
            self.now.outputs.append(target)
        return rest

    def _word(self, node: "Node") -> None:
        text, gap = self._text(node), self.source[self.end : node.start_byte]
        if b"\n" in _plain_gap(gap):
            self._begin()
        if self.now.words and not gap:
            self.now.words[-1] += text
        else:
            self.now.words.append(text)
        self.end = node.end_byte

    def _text(self, node: "Node") -> str:
        """A word without its quotes; expansions and substitutions stay as written."""
        if node.type == "concatenation":
            return "".join(map(self._text, node.children))
        raw = self._raw(node)
        if node.type == "word":
            return re.sub(r"\\(.?)", lambda found: found[1].strip("\n"), raw, flags=re.DOTALL)
        if node.type == "raw_string":
            return raw[1:-1]
        if node.type == "ansi_c_string":
            return raw[2:-1]
        return self._double(node) if node.type == "string" else raw

    def _double(self, node: "Node") -> str:
        parts, at = list[str](), node.start_byte + 1
        for child in node.children[1:-1]:
            raw = self._raw(child, at)
            parts.append(re.sub(r'\\(["\\$`])', r"\1", raw) if child.type == "string_content" else raw)
            at = child.end_byte
        return "".join(parts) + self.source[at : node.end_byte - 1].decode("utf-8", "replace")

    def _raw(self, node: "Node", start: int | None = None) -> str:
        return self.source[node.start_byte if start is None else start : node.end_byte].decode("utf-8", "replace")
