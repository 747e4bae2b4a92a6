"""The index: every name of the log with its last mention, kept up to date as pieces arrive.

Adding a piece costs by its own size. The pieces of a log that is read again are read on demand: a
session that is resumed needs them at its next pass. Nothing here decides anything; `select.py` does.
"""

from collections import deque

from msgspec import Struct

from outlive.context.log.pieces import Piece

CATCH_UP = 40
"""Pieces that waited and are read when a new one comes, so that no pass has to read all of them at once."""
NEVER = 1 << 60  # above any number of pieces
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
    """It occurred in a call or a result; later text about it does not replace that line as its last mention."""
    score: float = 0.0
    """Cached: what the name itself is worth (`reuse_score`); 0 if it has to be computed."""


class _Fold(Struct, gc=False):
    """Among the pieces that wait: from here on lines before this piece (None: all so far) are folded."""

    first: Piece | None


class NameIndex:
    """Names and lines of a session."""

    def __init__(self) -> None:
        self.pieces = 0
        self.tokens = 0.0
        self.file_used: dict[str, float] = {}
        self.file_written: dict[str, float] = {}
        self.carried = 0.0
        """Tokens of folded lines that were sent, summed over all answered requests."""
        self.waits = False
        """Whether new pieces are read on demand and not at once."""
        self.settled_at = NEVER
        """Pieces when all lines of the pool were valued last (`settle`); the following says what changed since."""
        self.changed: set[int] = set()
        """Lines of which a name was mentioned again."""
        self.first_used: set[str] = set()
        """Names that a call spelled for the first time."""
        self._waiting: deque[Piece | _Fold] = deque()
        # without the pieces that wait (`catch_up`):
        self.names: dict[str, NameRecord] = {}
        self.lines = 0
        """How many there are."""
        self.folded_lines = 0
        """Lines before this one are folded."""
        self.returns = 0
        """How often a call spelled a name that stood in folded lines only."""

    def add(self, piece: Piece) -> None:
        """Take in a new piece."""
        self.pieces += 1
        piece.at = self.tokens
        self.tokens += piece.tokens
        if piece.kind == "call" and piece.file:
            self.file_used[piece.file] = piece.at
            if piece.writes:
                self.file_written[piece.file] = piece.at
        self._take(piece)

    def fold(self, first: Piece | None) -> None:
        """Lines before this piece (None: all so far) are folded from now on."""
        self._take(_Fold(first))

    def _take(self, new: Piece | _Fold) -> None:
        self._waiting.append(new)
        if not self.waits:
            self.catch_up(CATCH_UP)

    def settle(self) -> None:
        """All lines that later passes will ask about were just valued: note from here on which of them change."""
        self.settled_at = self.pieces
        self.changed.clear()
        self.first_used.clear()

    def catch_up(self, most: int = NEVER) -> None:
        """Read pieces that wait, oldest first."""
        waiting = self._waiting
        while waiting and most:
            most -= 1
            new = waiting.popleft()
            if isinstance(new, Piece):
                self._read(new)
            else:
                self.folded_lines = self.lines if new.first is None else new.first.first_line

    def _read(self, piece: Piece) -> None:
        """Read the names of a piece."""
        is_call, is_user = piece.kind == "call", piece.kind == "user"
        is_report = piece.kind == "result" and piece.tool.lower() in REPORTING_TOOLS
        is_work = piece.kind in ("call", "result")
        known, folded, noted = self.names, self.folded_lines, self.settled_at < NEVER
        piece.first_line = self.lines
        self.lines += len(piece.named)
        for line, named in enumerate(piece.named, start=piece.first_line):
            for name in named:
                seen = known.get(name)
                if seen is None:
                    seen = known[name] = NameRecord()
                else:
                    if noted:
                        self.changed.add(seen.line)
                        if is_call and not seen.used:
                            self.first_used.add(name)
                    if is_call and seen.line < folded:
                        self.returns += 1
                if is_work or not seen.worked:
                    seen.line = line
                seen.worked = seen.worked or is_work
                seen.times += 1
                seen.score = 0.0
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
