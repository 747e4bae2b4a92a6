"""The digest: whole old turns folded into one message. What was asked stands verbatim; what was done keeps a label,
the handles and the lines that were chosen over all that was ever folded."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from outlive.context.pages import handle
from outlive.context.passes.select import Choice
from outlive.context.passes.stubs import attached, outcome, render_lines
from outlive.context.pieces import Line, Piece, describe_object
from outlive.context.policy import OBJECT_ROW
from outlive.context.tokens import estimate
from outlive.context.unit_pages import UnitPages
from outlive.context.units import Unit

LABEL = 56
"""Characters: the whole call is behind the handle, and worth showing only as a line of its own."""
SINCE_CHANGED = "(changed since)"
HEAD = (
    "[Earlier in this session, condensed by rule: log events {first} to {last}. For reference; it contains no new "
    "instructions. Kept lines are verbatim, … marks a gap. @hN before an entry holds the full text from there up to "
    "the next @hN: recall it.]"
)
NEXT_HEAD = "[Log events {first} to {last}, condensed in the same way.]"


@dataclass(slots=True)
class Writer:
    """Collects rows; handles wait for the next row that belongs to them."""

    rows: list[str]
    pending: list[int]
    shown: int = 0

    def point(self, pages: Iterable[int]) -> bool:
        """These pages must be visible from here on; whether one of them was not yet."""
        new = [page for page in pages if page > self.shown]
        self.pending += new
        self.shown = max([self.shown, *new])
        return bool(new)

    def point_all(self, pages: Iterable[int]) -> None:
        """The same for pages in ascending order."""
        shown = self.shown
        for page in pages:
            if page > shown:
                self.pending.append(page)
                shown = page
        self.shown = shown

    def row(self, text: str, pages: tuple[int, ...] = ()) -> None:
        """A row with its own handles before it, and before those, set apart, the handles of what is not shown."""
        others = [handle(page) for page in self.pending if page not in pages]
        own = [handle(page) for page in self.pending if page in pages]
        self.pending.clear()
        self.rows.append(" ".join([*others, *(["·"] if others and text != "·" else []), *own, text]))

    def flush(self) -> None:
        if self.pending:
            self.row("·")


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
        """Units of which the digest may tell more than their pages: these, where the user speaks or there are
        objects, and the last `labels`."""
        said = {unit.number for unit in self.users}
        numbers = {number for number in with_lines | said if self.first <= number < self.stop}
        last = range(max(self.first, self.stop - labels), self.stop)
        return sorted(numbers.union(last, self.pages.odd(self.first, self.stop)))


def write_digest(
    folding: Folding,
    choice: Choice,
    words: Callable[[Piece], str],
    stale: Callable[[Piece], bool],
    before: str,
    *,
    labels: int,
) -> str:
    """The digest of units, oldest first, below `before`. In the last `labels` of them each handle has its call
    beside it.

    What is `stale`, a look at a file that was changed later, is marked as such.
    """
    units, at, stop = folding.units, folding.first, folding.stop
    head = NEXT_HEAD if at else HEAD
    out = Writer([head.format(first=units[at].event, last=units[stop - 1].last_event)], [])
    out.rows.extend(filter(None, (before,)))
    with_lines = folding.with_lines(choice)
    for number in folding.told(with_lines, labels):
        unit = units[number]
        out.point_all(folding.pages.of_steps(at, number))
        at = number + 1
        if unit.kind == "user":
            _asked(out, unit, words)
        elif number < stop - labels and not unit.objects and number not in with_lines:
            out.point(unit.pages)
        else:
            _worked(out, unit, choice, stale, named=number >= stop - labels)
    out.point_all(folding.pages.of_steps(at, stop))
    out.flush()
    return "\n".join(out.rows)


def _worked(out: Writer, unit: Unit, choice: Choice, stale: Callable[[Piece], bool], *, named: bool) -> None:
    headed = len(unit.calls) == 1 and any(kept and not kept[0].start for kept in map(choice.of, unit.calls.values()))
    for piece in unit.pieces:
        kept = choice.of(piece)
        if piece.attached:
            what = filter(None, [short_label(piece), *map(describe_object, piece.attached)])
            out.rows.append(f"→ {' · '.join(what)}: {attached(piece)}")
        if kept:
            _did(out, piece, kept, SINCE_CHANGED if stale(piece) else "", labelled=not headed)
        else:
            label = f"→ {short_label(piece)}" if named and piece.kind == "result" and not headed else ""
            new = out.point(piece.pages)
            if label and new:
                out.row(label, piece.pages)


def _asked(out: Writer, unit: Unit, words: Callable[[Piece], str]) -> None:
    out.flush()
    for piece in unit.pieces:
        if piece.attached:
            out.rows.append(f"User: [{piece.text}: {attached(piece)}]")
        elif piece.text.strip():
            out.rows.append(f"User: {words(piece)}")


def _did(out: Writer, piece: Piece, kept: Sequence[Line], mark: str, *, labelled: bool) -> None:
    out.point(piece.pages)
    rows = piece.text.split("\n") if len(kept) == len(piece.named) else render_lines(kept)
    if piece.kind == "said":
        rows[0] = f"Assistant: {rows[0]}"
    elif piece.kind == "result":
        label = short_label(piece) if labelled else ""
        rows.insert(0, " ".join(filter(None, ("→", label, outcome(piece), mark))))
    elif kept[0].start:
        rows.insert(0, short_label(piece))
    out.row(rows[0], piece.pages)
    out.rows.extend(rows[1:])


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
    """Tokens of the handles of all before unit `stop`, which are shown whatever happens."""
    return estimate(HEAD) + 1.9 * pages.count(stop) + OBJECT_ROW * len(pages.objects(stop))
