"""The index: every name of the log with its last mention, kept up to date as pieces arrive.

Adding a piece costs by its own size. Nothing here decides anything; `select.py` does.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable

from msgspec import Struct

from outlive.context.pieces import Line, Piece

REPORTING_TOOLS = ("task", "agent", "subagent", "sub_agent", "delegate")


class NameRecord(Struct, gc=False):
    """What is known about one name. There are very many, and none can be part of a cycle."""

    line: int = -1
    """The line of its last mention."""
    times: int = 0
    used: int = 0
    """How often a tool call spelled it."""
    used_at: float = 0.0
    typed: bool = False
    reported: bool = False
    """It stood in a sub-agent's report."""
    worked: bool = False
    """It stood in a call or a result: what is said about it later does not take the place of that line."""
    odds: float = 0.0
    """What the name itself is worth, once somebody asked (`reuse_score`)."""


class NameIndex:
    """Names and lines of a session."""

    def __init__(self) -> None:
        self.lines = 0
        """How many there are."""
        self.pieces = 0
        self._pieces: list[Piece] = []
        self._first = array("I")
        self.names: dict[str, NameRecord] = {}
        self.file_used: dict[str, float] = {}
        self.file_written: dict[str, float] = {}
        self.tokens = 0.0
        self.folded_lines = 0
        """Lines before this one are folded."""
        self.returns = 0
        """How often a call spelled a name that stood in folded lines only."""
        self.carried = 0.0
        """Tokens of folded lines that were sent, summed over all answered requests."""

    def add(self, piece: Piece) -> None:
        """Read the names of a new piece."""
        self.pieces += 1
        piece.at = self.tokens
        self.tokens += piece.tokens
        if piece.kind == "call" and piece.file:
            self.file_used[piece.file] = piece.at
            if piece.writes:
                self.file_written[piece.file] = piece.at
        is_call, is_user = piece.kind == "call", piece.kind == "user"
        is_report = piece.kind == "result" and piece.tool.lower() in REPORTING_TOOLS
        is_work = piece.kind in ("call", "result")
        known = self.names
        piece.first_line = self.lines
        if piece.named:
            self._pieces.append(piece)
            self._first.append(self.lines)
        self.lines += len(piece.named)
        for line, named in enumerate(piece.named, start=piece.first_line):
            for name in named:
                seen = known.get(name)
                if seen is None:
                    seen = known[name] = NameRecord()
                elif is_call and seen.line < self.folded_lines:
                    self.returns += 1
                if is_work or not seen.worked:
                    seen.line = line
                seen.worked = seen.worked or is_work
                seen.times += 1
                seen.odds = 0.0
                if is_call:
                    seen.used += 1
                    seen.used_at = piece.at
                elif is_user:
                    seen.typed = True
                elif is_report:
                    seen.reported = True

    def is_stale(self, piece: Piece) -> bool:
        """Whether a look at a file came before a change of it."""
        look = piece.kind == "result" and not piece.writes and piece.file
        return bool(look) and self.file_written.get(piece.file, -1.0) > piece.at

    def find(self, ids: Iterable[int]) -> list[Line]:
        """The lines with these ids."""
        found: list[Line] = []
        for id in ids:
            piece = self._pieces[bisect_right(self._first, id) - 1]
            at = id - piece.first_line
            found += piece.some_lines(at, at + 1)
        return found
