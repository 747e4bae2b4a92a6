"""What a pass starts from and what it comes to: its input, how far it goes, and the plan."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from outlive.context.log.pieces import Line, Piece
from outlive.context.log.unit_pages import UnitPages
from outlive.context.log.units import Unit, first_from
from outlive.context.passes.lines.name_index import NameIndex
from outlive.context.passes.lines.pool import LineCache
from outlive.context.passes.protect import Guarded
from outlive.context.policy import Budget
from outlive.context.projection import Projection
from outlive.events import ProviderSummary


@dataclass(frozen=True, slots=True)
class PassDepth:
    """How far a pass goes: tokens to aim for, to keep whole, to keep in place, and to spend on lines at most."""

    rung: str
    target: float
    tail: float
    skeleton: float
    lines: float
    fill_to: float = float("inf")
    """Lines may fill the view up to this, however many there may be."""
    append: bool = False
    """Leave the digest as it is and write a segment below it, unless it pays to write all of it again."""
    fold: int | None = None
    """Fold exactly so many units."""
    squeeze: bool = False
    """Give up lines first, then the user's older words, as far as it takes to stay under the hard limit."""


@dataclass(slots=True)
class PassInput:
    """All a pass may look at. Tokens are estimates; the budget is scaled to them."""

    units: list[Unit]
    users: list[Unit]
    """Those in which the user speaks."""
    words: list[Piece]
    """The user's texts."""
    pages: UnitPages
    index: NameIndex
    projection: Projection
    folded: int
    """How many units are folded already."""
    pool: Callable[[], Sequence[Line]]
    """Folded lines to choose from again."""
    lines: LineCache
    overhead: float
    """System prompt, tools and state block."""
    budget: Budget
    guard: Guarded
    """What goes last."""
    current: Piece | None
    """What the user asked for last (`current_request`)."""
    facts: str = ""
    summary: str = ""
    provider_summary: ProviderSummary | None = None

    def users_before(self, number: int) -> Sequence[Unit]:
        """The units before this one in which the user speaks."""
        return self.users[: first_from(self.users, first_event(self.units, number))]

    def words_before(self, number: int) -> Sequence[Piece]:
        """The user's texts before this unit."""
        return self.words[: first_from(self.words, first_event(self.units, number))]


@dataclass(slots=True)
class PassPlan:
    """What a pass would do."""

    projection: Projection
    folded: int
    rungs: tuple[str, ...]
    shrunk: int = 0
    lines: int = 0
    tokens: float = 0.0
    """Of the request after it."""
    appends: bool = False
    """Whether the digest stays as it is, and a segment is written below it."""


def current_request(newest_first: Iterable[Unit]) -> Piece | None:
    """What the user asked for last: the last text that no harness put there (what precedes it is context)."""
    newest: Piece | None = None
    for unit in newest_first:
        for piece in reversed(unit.pieces if unit.kind == "user" else ()):
            if piece.kind != "user":
                continue
            if piece.origin in ("user", "parent"):
                return piece
            newest = newest or piece
    return newest


def request_below(given: PassInput) -> Piece | None:
    """The request that is shown below the digest now."""
    if not given.projection.request:
        return None
    written = given.projection.segments[-1].event
    return current_request(unit for unit in reversed(given.users) if unit.event < written)


def pictures_of(given: PassInput, boundary: int) -> tuple[tuple[int, int], ...]:
    """Pictures that belong to the current request, if that is folded, by key."""
    current = given.current
    if current is None or current.event >= first_event(given.units, boundary):
        return ()
    unit = given.users[first_from(given.users, current.event)]
    return tuple(piece.key for piece in unit.pieces if piece.attached)


def first_event(units: list[Unit], boundary: int) -> int:
    return units[boundary].event if boundary < len(units) else 1 << 62
