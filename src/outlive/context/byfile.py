"""Lines of one file from several results, put together: a reader wants the file, not the order of looking at it.

Only results with line numbers are joined, and only while nobody wrote the file in between: the numbers of an older
version would lie.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from outlive.context.bones import gap_before
from outlive.context.choose import Choice
from outlive.context.pieces import Line, Piece
from outlive.context.units import Unit

_NUMBER = re.compile(r"\s*([0-9]+)[→\t|]")

Key = tuple[int, int]


@dataclass(slots=True)
class Joined:
    """Which results are shown with a later one of the same file."""

    hosts: dict[Key, list[Piece]] = field(default_factory=dict)
    """The newest result of a file, and all results whose lines it shows, oldest first."""
    guests: set[Key] = field(default_factory=set)


def join_files(units: Iterable[Unit], choice: Choice) -> Joined:
    """Find the results of `units` that can be shown together."""
    groups: dict[str, list[Piece]] = {}
    joined = Joined()
    for piece in (piece for unit in units for piece in unit.pieces):
        if piece.kind == "call":
            for file in _changed_by(piece, groups):
                _close(joined, groups.pop(file))
        elif piece.kind == "result" and piece.file and _is_numbered(piece, choice.of(piece)):
            groups.setdefault(piece.file, []).append(piece)
    for group in groups.values():
        _close(joined, group)
    return joined


def _changed_by(call: Piece, groups: dict[str, list[Piece]]) -> list[str]:
    """The files that a call may have changed: all that it spells, unless it is another look by the same tool."""
    if not groups:
        return []
    spelled = {name.rpartition("/")[2] for line in call.lines for name in line.names}
    return [
        file
        for file, group in groups.items()
        if call.tool != group[-1].tool and (file == call.file or file.rpartition("/")[2] in spelled)
    ]


def _close(joined: Joined, group: list[Piece]) -> None:
    if len(group) > 1:
        joined.hosts[group[-1].key] = group
        joined.guests.update(piece.key for piece in group[:-1])


def _is_numbered(piece: Piece, kept: Sequence[Line]) -> bool:
    """A part of a listing; what is shown whole stays as it is."""
    return 0 < len(kept) < len(piece.lines) and all(_NUMBER.match(line.text) for line in kept)


def joined_rows(pieces: Iterable[Piece], choice: Choice) -> list[str]:
    """The kept lines of several results in the order of the file, each once."""
    lines = {(_number(line), line.text): line for piece in pieces for line in choice.of(piece)}
    rows: list[str] = []
    last, before = 0, None
    for (number, text), line in sorted(lines.items(), key=lambda item: (item[0][0], item[1].id)):
        if before is None or number > last + 1:
            rows.append(gap_before(line, before if before and before.piece is line.piece else None))
        rows.append(text)
        last, before = number, line
    return rows


def _number(line: Line) -> int:
    found = _NUMBER.match(line.text)
    return int(found[1]) if found else 0
