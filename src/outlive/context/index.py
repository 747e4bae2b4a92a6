"""The index: every name of the log with its last mention, kept up to date as pieces arrive.

Adding a piece costs by its own size. Nothing here decides anything; `choose` does.
"""

from dataclasses import dataclass

from outlive.context.pieces import Line, Piece

REPORTING_TOOLS = ("task", "agent", "subagent", "sub_agent", "delegate")


@dataclass(slots=True)
class Seen:
    """What is known about one name."""

    line: int = -1
    """The line of its last mention."""
    times: int = 0
    used: int = 0
    """How often a tool call spelled it."""
    used_at: float = 0.0
    typed: bool = False
    reported: bool = False
    """It stood in a sub-agent's report."""


class Index:
    """Names and lines of a session."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.names: dict[str, Seen] = {}
        self.file_used: dict[str, float] = {}
        self.file_written: dict[str, float] = {}
        self.tokens = 0.0

    def add(self, piece: Piece) -> None:
        """Read the names of a new piece."""
        piece.at = self.tokens
        self.tokens += piece.tokens
        if piece.kind == "call" and piece.file:
            self.file_used[piece.file] = piece.at
            if piece.writes:
                self.file_written[piece.file] = piece.at
        is_call, is_user = piece.kind == "call", piece.kind == "user"
        is_report = piece.kind == "result" and piece.tool.lower() in REPORTING_TOOLS
        known = self.names
        for line in piece.lines:
            line.id = len(self.lines)
            self.lines.append(line)
            for name in line.names:
                seen = known.get(name)
                if seen is None:
                    seen = known[name] = Seen()
                seen.line = line.id
                seen.times += 1
                if is_call:
                    seen.used += 1
                    seen.used_at = piece.at
                elif is_user:
                    seen.typed = True
                elif is_report:
                    seen.reported = True

    def live(self, line: Line) -> list[Seen]:
        """The names of which this line is the last mention."""
        known = self.names
        return [known[name] for name in line.names if known[name].line == line.id]
