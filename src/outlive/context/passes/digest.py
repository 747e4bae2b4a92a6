"""The digest: whole old turns folded into one message. The user's own words stand verbatim and apart; what was done
keeps a label, the handles and the lines that were chosen over everything that was ever folded."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from outlive.context.log.pieces import Line, Piece, describe_object
from outlive.context.log.unit_pages import UnitPages
from outlive.context.log.units import Unit
from outlive.context.passes.lines.select import Choice
from outlive.context.passes.rows import RowWriter
from outlive.context.passes.stubs import attached, outcome, render_lines
from outlive.context.passes.user_words import is_own
from outlive.context.policy import OBJECT_ROW
from outlive.context.tokens import estimate

_SPEAKER = re.compile(r"^(?:User|Assistant|Harness|Hook|Memory|Stdin)\b|^\[(?:The user's own words|What was done)")
"""Beginnings of rows of our own: a kept line that begins like this is set in by a space."""
LABEL = 56
"""Characters: the whole call is behind the handle, and worth showing only as a line of its own."""
CURRENT = "User: (the current request, below)"
SINCE_CHANGED = "(changed since)"
WORDS_HEAD = "[The user's own words in log events {first} to {last}, verbatim, oldest first.]"
HEAD = (
    "[What was done in log events {first} to {last}, condensed by rule. For reference; it contains no new "
    "instructions. Kept lines are verbatim, … marks a gap. @hN before an entry holds the full text from there up to "
    "the next @hN: recall it.]"
)
NEXT_HEAD = "[Log events {first} to {last}, condensed in the same way.]"


@dataclass(frozen=True, slots=True)
class Folding:
    """The units that a digest is of: those from number `first` up to, and without, number `stop`."""

    units: Sequence[Unit]
    users: Sequence[Unit]
    """Those in which the user speaks."""
    pages: UnitPages
    first: int
    stop: int

    def with_lines(self, choice: Choice) -> set[int]:
        """Units of which lines are kept."""
        return {lines[0].piece.unit for lines in choice.by_piece.values() if lines}

    def told(self, with_lines: set[int], labels: int) -> list[int]:
        """Units of which the digest may show more than handles: those with kept lines, words of the user or objects,
        and the last `labels`."""
        said = {unit.number for unit in self.users}
        numbers = {number for number in with_lines | said if self.first <= number < self.stop}
        last = range(max(self.first, self.stop - labels), self.stop)
        return sorted(numbers.union(last, self.pages.odd(self.first, self.stop)))


def write_digest(
    folding: Folding,
    choice: Choice,
    words: Callable[[Piece], str],
    stale: Callable[[Piece], bool],
    *,
    labels: int,
    summary: str = "",
    asked: Piece | None = None,
    current: Piece | None = None,
) -> tuple[str, str]:
    """The user's own words in these units, and the digest of the rest, oldest first, below a `summary`.

    `asked` is an older request that no other part of the digest tells; the `current` one stands below the digest.
    In the last `labels` units each handle has its call beside it. A look at a file that was changed later is `stale`
    and marked.
    """
    units, at, stop = folding.units, folding.first, folding.stop
    span = {"first": units[at].event, "last": units[stop - 1].last_event}
    said: list[str] = [f"User, event {asked.event}: {words(asked)}"] if asked else []
    out = RowWriter()
    out.add(filter(None, ((NEXT_HEAD if at else HEAD).format(**span), summary)))
    with_lines = folding.with_lines(choice)
    for number in folding.told(with_lines, labels):
        unit = units[number]
        out.point_all(folding.pages.of_steps(at, number))
        at = number + 1
        if unit.kind == "user":
            said += _asked(out, unit, words, current)
        elif number < stop - labels and not unit.objects and number not in with_lines:
            out.point(unit.pages)
        else:
            _worked(out, unit, choice, stale, named=number >= stop - labels)
    out.point_all(folding.pages.of_steps(at, stop))
    return "\n".join([WORDS_HEAD.format(**span), *said]) if said else "", out.finish()


def _worked(out: RowWriter, unit: Unit, choice: Choice, stale: Callable[[Piece], bool], *, named: bool) -> None:
    headed = len(unit.calls) == 1 and any(kept and not kept[0].start for kept in map(choice.of, unit.calls.values()))
    for piece in unit.pieces:
        kept = choice.of(piece)
        if piece.attached:
            what = filter(None, [short_label(piece), *map(describe_object, piece.attached)])
            out.add([f"→ {' · '.join(what)}: {attached(piece)}"])
        if kept:
            _did(out, piece, kept, SINCE_CHANGED if stale(piece) else "", labelled=not headed)
        else:
            label = f"→ {short_label(piece)}" if named and piece.kind == "result" and not headed else ""
            new = out.point(piece.pages)
            if label and new:
                out.row(label, piece.pages, bare=True)


def _asked(out: RowWriter, unit: Unit, words: Callable[[Piece], str], current: Piece | None) -> list[str]:
    """Write where the user spoke and what a harness put there; return the user's own words."""
    said = []
    for piece in unit.pieces:
        if piece is current:
            out.row(CURRENT)
            continue
        text = f"[{piece.text}: {attached(piece)}]" if piece.attached else words(piece)
        if not text.strip():
            continue
        if is_own(piece):
            said.append(f"User, event {piece.event}: {text}")
        else:
            out.row(f"{piece.origin.capitalize()}: {text}")
    if said:
        out.row(f"User: (event {unit.event}, above)")
    return said


def _did(out: RowWriter, piece: Piece, kept: Sequence[Line], mark: str, *, labelled: bool) -> None:
    out.point(piece.pages)
    rows = piece.text.split("\n") if len(kept) == len(piece.named) else render_lines(kept)
    if piece.kind == "said":
        rows[0] = f"Assistant: {rows[0]}"
    elif piece.kind == "result":
        label = short_label(piece) if labelled else ""
        rows.insert(0, " ".join(filter(None, ("→", label, outcome(piece), mark))))
    elif kept[0].start:
        rows.insert(0, short_label(piece))
    out.row(rows[0], piece.pages, bare=len(rows) == 1 and piece.kind == "call")
    if len(rows) > 1:
        out.add(_SPEAKER.sub(r" \g<0>", row) for row in rows[1:])


def short_label(piece: Piece) -> str:
    """A label without the folders that all paths of a project share."""
    label = piece.label
    if len(label) <= LABEL:
        return label
    tool, _, target = label.partition(" ")
    room = LABEL - len(tool) - 2
    shortened = f"…{target[-room:]}" if piece.file and target.endswith(piece.file[-room:]) else f"{target[:room]}…"
    return f"{tool} {shortened}"


def opening_cost(piece: Piece) -> float:
    """Tokens that the first kept line of a piece adds besides itself."""
    if piece.opening < 0:
        piece.opening = estimate(short_label(piece)) + 1 if piece.kind in ("result", "call") else 4.0
    return piece.opening


def fixed_cost(pages: UnitPages, stop: int) -> float:
    """Tokens of the head and of the handles of all units before `stop`, which are always shown."""
    heads = estimate(WORDS_HEAD) + estimate(HEAD) + estimate(CURRENT) + 2
    return heads + 1.9 * pages.count(stop) + OBJECT_ROW * len(pages.objects(stop))
