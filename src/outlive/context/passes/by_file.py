"""Lines of one file from several results, put together: a reader wants the file, not the order of looking at it.

Only results with line numbers are joined, and only while nobody wrote the file in between: the numbers of an older
version would lie.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from outlive.context.passes.select import Choice
from outlive.context.passes.stubs import gap_before
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
    results = (piece for piece in choice.pieces() if piece.kind == "result" and piece.file)
    numbered = [piece for piece in results if _is_numbered(piece, choice.of(piece))]
    times = Counter(piece.file for piece in numbered)
    groups: dict[str, list[Piece]] = {file: [] for file, count in times.items() if count > 1}
    joined = Joined()
    if not groups:
        return joined
    parts = {piece.key for piece in numbered if piece.file in groups}
    bases = {_base(file) for file in groups}
    for piece in (piece for unit in units for piece in unit.pieces):
        if piece.kind == "call":
            if piece.file in groups or not bases.isdisjoint(_spelled(piece)):
                for file in _changed_by(piece, groups):
                    _close(joined, groups[file])
                    groups[file] = []
        elif piece.file in groups and piece.key in parts:
            groups[piece.file].append(piece)
    for group in groups.values():
        _close(joined, group)
    return joined


def _changed_by(call: Piece, groups: dict[str, list[Piece]]) -> list[str]:
    """The files that a call may have changed: all that it spells, unless it is another look by the same tool."""
    return [
        file
        for file, group in groups.items()
        if group and call.tool != group[-1].tool and (file == call.file or _base(file) in _spelled(call))
    ]


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _spelled(call: Piece) -> tuple[str, ...]:
    """The names in a call without their folders; each call is asked at every pass."""
    if call.spelled is None:
        call.spelled = tuple(dict.fromkeys(_base(name) for named in call.named for name in named))
    return call.spelled


def _close(joined: Joined, group: list[Piece]) -> None:
    if len(group) > 1:
        joined.hosts[group[-1].key] = group
        joined.guests.update(piece.key for piece in group[:-1])


def _is_numbered(piece: Piece, kept: Sequence[Line]) -> bool:
    """A part of a listing; what is shown whole stays as it is."""
    return 0 < len(kept) < len(piece.named) and all(_NUMBER.match(line.text) for line in kept)


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
