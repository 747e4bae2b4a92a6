"""What a pass can keep and what that would cost, before anything is written."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter

from outlive.context import policy
from outlive.context.log.pieces import Line, Piece
from outlive.context.log.units import Unit
from outlive.context.passes.digest import fixed_cost, opening_cost
from outlive.context.passes.lines.reuse_score import price_factor
from outlive.context.passes.lines.select import Choice, Scored, score, take
from outlive.context.passes.lines.shapes import telling_lines
from outlive.context.passes.pass_input import PassDepth, PassInput, first_event, pictures_of
from outlive.context.passes.protect import Pinned, preserved, recalled, weigher
from outlive.context.passes.stubs import header
from outlive.context.passes.user_words import allowances
from outlive.context.projection import unit_tokens
from outlive.context.tokens import IMAGE_TOKENS, estimate

Cap = Callable[[Piece], float]
_piece = attrgetter("piece")


@dataclass(slots=True)
class Survey:
    """What can be kept at a pass and what it would cost: the same whether the digest is written again or not."""

    start: int
    """The first unit of the tail."""
    boundary: int
    """The first unit that is not folded."""
    pinned: Pinned
    cap: Cap
    shrinkable: list[Piece]
    scored: Scored
    telling: list[Line]
    """These are kept at any price."""
    price: float
    room: float
    """For lines."""
    least: float
    """Room for lines however crowded it is."""
    goal: float
    first_choice: Choice | None = None
    """Cached: the choice with all of the room."""

    def choose(self, room: float) -> Choice:
        """The lines to keep."""
        if room == self.room and self.first_choice is not None:
            return self.first_choice
        choice = take(self.scored, room, opening_cost, self.price, self.telling)
        choice.by_piece.update((key, piece.lines) for key, piece in self.pinned.items())
        if room == self.room:
            self.first_choice = choice
        return choice


def survey_pass(given: PassInput, depth: PassDepth) -> Survey:
    """See what a pass of this depth has to choose from."""
    budget = given.budget
    start = tail_of(given, depth.tail) if depth.fold is None else depth.fold
    boundary = fold_boundary(given, start, depth.skeleton)
    pinned = pinned_pieces(given, start, squeeze=depth.squeeze)
    fixed = held_tokens(given, start, boundary) + sum(piece.tokens for piece in pinned.values())
    limit = policy.SAFE * budget.hard if depth.squeeze else float("inf")
    cap = words_caps(given, start, min(budget.words, max(limit - fixed - request_tokens(given, boundary), 0.0)))
    shrinkable = [piece for piece in _shrinkable(given, boundary, start, cap) if piece.key not in pinned]
    fixed += words_tokens(given.words_before(boundary), cap)
    worth = min(depth.lines, budget.lines_of_past * tokens_before(given, start))
    least = min(policy.FEWEST_LINES * budget.window, max(limit - fixed, 0.0))
    room = max(depth.target - fixed, min(worth, depth.fill_to - fixed), least)
    fresh = (piece for unit in given.units[given.folded : boundary] for piece in unit.pieces)
    price = budget.price * price_factor(given.index)
    scored = score(given.index, candidates(given, fresh, shrinkable, cap, pinned), weigher(given.guard), price)
    telling = [] if depth.squeeze else telling_lines(_newest_first(given.units[:boundary], pinned))
    goal = max(depth.target, fixed + room)
    return Survey(start, boundary, pinned, cap, shrinkable, scored, telling, price, room, least, goal)


def tail_of(given: PassInput, tail: float) -> int:
    """The first unit of the tail that a pass leaves: whole recent units of at least `tail` tokens.

    What the model has not answered yet is always in it, and so is the answer that it belongs to.
    """
    units, folded = given.units, given.folded
    start = len(units)
    while start > folded and units[start - 1].kind == "user":
        start -= 1
    start = max(start - 1, folded)
    size = sum(unit.tokens for unit in units[start:])
    most = max(policy.TAIL_MOST * tail, size)
    while start > folded and size < tail:
        size += units[start - 1].tokens
        if size > most:
            break
        start -= 1
    return start


def fold_boundary(given: PassInput, start: int, skeleton: float) -> int:
    """The first unit that is not folded: as many before the tail as the skeleton's share holds."""
    boundary = start
    room = skeleton
    while boundary > given.folded:
        room -= bare_tokens(given.units[boundary - 1])
        if room < 0:
            break
        boundary -= 1
    return boundary


def bare_tokens(unit: Unit) -> float:
    """A unit whose results are only headers."""
    results = sum(min(piece.tokens, estimate(header(piece))) for piece in unit.pieces if piece.kind == "result")
    rest = sum(min(piece.tokens, policy.LONG_ANSWER) for piece in unit.pieces if piece.kind == "said")
    return unit.extra + results + rest + sum(p.tokens for p in unit.pieces if p.kind not in ("result", "said"))


def held_tokens(given: PassInput, start: int, boundary: int) -> float:
    """Tokens that are shown whichever lines and user words are chosen."""
    fixed = given.overhead + sum(unit_tokens(unit, given.projection) for unit in given.units[start:])
    fixed += sum(bare_tokens(unit) for unit in given.units[boundary:start])
    fixed += given.provider_summary.tokens if given.provider_summary else 0
    return fixed + fixed_cost(given.pages, boundary) + estimate(given.facts) + estimate(given.summary)


def tokens_before(given: PassInput, start: int) -> float:
    """Tokens of all that was said and done before a unit."""
    return next((unit.pieces[0].at for unit in given.units[start:] if unit.pieces), given.index.tokens)


def request_tokens(given: PassInput, boundary: int) -> float:
    """Tokens of the current request if it is in the digest, else 0."""
    current = given.current
    if current is None or current.event >= first_event(given.units, boundary):
        return 0.0
    return current.tokens + IMAGE_TOKENS * len(pictures_of(given, boundary))


def floor_tokens(given: PassInput) -> float:
    """The least that a pass can come to: the newest unit whole, all else as handles, the user's words cut short."""
    start = tail_of(given, 0.0)
    least = words_caps(given, start, 0.0)
    kept = words_tokens(given.words_before(start), least)
    pinned = sum(piece.tokens for piece in pinned_pieces(given, start, squeeze=True).values())
    return held_tokens(given, start, start) + kept + pinned


def words_tokens(words: Iterable[Piece], cap: Cap) -> float:
    """Tokens of these texts of the user in a digest."""
    return sum(min(piece.tokens, cap(piece) + policy.SHORTENED_ROW) + policy.WORDS_ROW for piece in words)


def words_caps(given: PassInput, start: int, room: float) -> Cap:
    """How long each text of the user may be; the current request is never cut."""
    return allowances(given.words_before(start), room, whole=given.current)


def pinned_pieces(given: PassInput, start: int, *, squeeze: bool) -> Pinned:
    """Results before the tail that stay whole: what is preserved and, unless it is tight, what was just recalled."""
    pinned = preserved(given.units[:start], given.guard, given.budget.words)
    if not squeeze:
        fresh = max(len(given.units) - given.budget.recalled_units, 0)
        pinned.update(recalled(given.units[fresh:start], given.budget.recalled))
    return pinned


def candidates(
    given: PassInput, fresh: Iterable[Piece], shrinkable: Iterable[Piece], cap: Cap, pinned: Pinned
) -> Iterable[Line]:
    """Every line that could be kept: of what was folded before, is folded now, or shrinks in place."""

    def open_to_choice(piece: Piece) -> bool:
        return piece.tokens > cap(piece) if piece.kind == "user" else not pinned or piece.key not in pinned

    pieces = chain(filter(open_to_choice, fresh), shrinkable)
    pool = (lines for piece, lines in groupby(given.pool(), _piece) if open_to_choice(piece))
    return chain.from_iterable(chain(pool, map(given.lines.of, pieces)))


def _newest_first(units: Sequence[Unit], pinned: Pinned) -> Iterable[Piece]:
    """The pieces of these units that are not whole anyway."""
    return (p for unit in reversed(units) for p in reversed(unit.pieces) if p.key not in pinned)


def _shrinkable(given: PassInput, boundary: int, start: int, cap: Cap) -> Iterable[Piece]:
    limits = {"result": 0.0, "said": policy.LONG_ANSWER}
    for unit in given.units[boundary:start]:
        for piece in unit.pieces:
            limit = cap(piece) if piece.kind == "user" else limits.get(piece.kind, piece.tokens)
            if piece.tokens > limit:
                yield piece
