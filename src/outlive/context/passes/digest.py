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

    def row(self, text: str, pages: tuple[int, ...] = ()) -> None:
        """A row with its own handles before it, and before those, set apart, the handles of what is not shown."""
        others = [handle(page) for page in self.pending if page not in pages]
        own = [handle(page) for page in self.pending if page in pages]
        self.pending.clear()
        self.rows.append(" ".join([*others, *(["·"] if others and text != "·" else []), *own, text]))

    def flush(self) -> None:
        if self.pending:
            self.row("·")


def write_digest(
    units: Sequence[Unit],
    choice: Choice,
    words: Callable[[Piece], str],
    stale: Callable[[Piece], bool],
    before: str,
    *,
    labels: int,
    first: bool,
) -> str:
    """The digest of `units`, oldest first, below `before`. In the last `labels` of them each handle has its call
    beside it.

    What is `stale`, a look at a file that was changed later, is marked as such.
    """
    head = HEAD if first else NEXT_HEAD
    out = Writer([head.format(first=units[0].event, last=units[-1].last_event)], [])
    out.rows.extend(filter(None, (before,)))
    with_lines = {event for event, _ in choice.by_piece}
    for number, unit in enumerate(units, start=labels - len(units)):
        if unit.kind == "user":
            _asked(out, unit, words)
        elif number < 0 and not unit.objects and not any(piece.event in with_lines for piece in unit.pieces):
            out.point(unit.pages)
        else:
            _worked(out, unit, choice, stale, named=number >= 0)
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
    if piece.kind in ("result", "call"):
        return estimate(short_label(piece)) + 1
    return 4.0


def fixed_cost(units: Sequence[Unit]) -> float:
    """Tokens of the handles, which are shown whatever happens."""
    pages = set[int]().union(*(unit.pages for unit in units if unit.kind != "user"))
    objects = sum(len(unit.objects) for unit in units)
    return estimate(HEAD) + 1.9 * len(pages) + OBJECT_ROW * objects
