"""One pass: from a view that is too large to one at the low-water mark.

The tail stays whole; before it, results shrink to stubs (`micro`), long old texts are shortened (`snip`); what
is older still is folded into the digest (`collapse`). All of it shares one budget of lines.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter

from outlive.context import policy
from outlive.context.passes.digest import Folding, fixed_cost, opening_cost, write_digest
from outlive.context.passes.name_index import NameIndex
from outlive.context.passes.pool import LineCache
from outlive.context.passes.protect import Guarded, Pinned, preserved, recalled, weigher
from outlive.context.passes.reuse_score import price_factor
from outlive.context.passes.select import Choice, Scored, score, take
from outlive.context.passes.shapes import telling_lines
from outlive.context.passes.stubs import header, stub
from outlive.context.passes.user_words import TextFinder, allowances, shorten
from outlive.context.pieces import Line, Piece
from outlive.context.policy import Budget
from outlive.context.projection import Projection, Segment, digest_tokens, segment_tokens, unit_tokens
from outlive.context.tokens import IMAGE_TOKENS, estimate
from outlive.context.unit_pages import UnitPages
from outlive.context.units import Unit, first_from
from outlive.events import ProviderSummary

Cap = Callable[[Piece], float]
_piece = attrgetter("piece")
CURRENT = "(a request: it stands below)"
FACTS = "[What was done until now, by the log. For reference.]"


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
        return self.users[: first_from(self.users, _first_event(self.units, number))]

    def words_before(self, number: int) -> Sequence[Piece]:
        """The user's texts before this unit."""
        return self.words[: first_from(self.words, _first_event(self.units, number))]


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
    """With all of the room, once somebody asked."""

    def choose(self, room: float) -> Choice:
        """The lines to keep."""
        if room == self.room and self.first_choice is not None:
            return self.first_choice
        choice = take(self.scored, room, opening_cost, self.price, self.telling)
        choice.by_piece.update((key, piece.lines) for key, piece in self.pinned.items())
        if room == self.room:
            self.first_choice = choice
        return choice


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
    if current is None or current.event >= _first_event(given.units, boundary):
        return 0.0
    return current.tokens + IMAGE_TOKENS * len(pictures_of(given, boundary))


def floor_tokens(given: PassInput) -> float:
    """The least that a pass can come to: the newest unit whole, all else as handles, the user's words cut short."""
    start = tail_of(given, 0.0)
    least = words_caps(given, start, 0.0)
    kept = words_tokens(given.words_before(start), least)
    pinned = sum(piece.tokens for piece in pinned_pieces(given, start, squeeze=True).values())
    return held_tokens(given, start, start) + kept + pinned


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


def plan_pass(given: PassInput, depth: PassDepth, survey: Survey | None = None) -> PassPlan:
    """Plan one pass down to the low-water mark. A survey of this depth may be there already."""
    survey = survey or survey_pass(given, depth)
    room, appended = survey.room, False
    for _ in range(2):
        choice = survey.choose(room)
        may_append = depth.append and holds(given, survey.pinned, survey.cap)
        appends = may_append and not merge_pays(given, choice, survey.cap)
        labels = 0 if depth.squeeze else policy.LABELLED
        plan = _render(given, survey, given.folded if appends else 0, choice, labels=labels)
        plan.tokens = view_tokens(given, plan)
        appended = plan.appends = appended or appends
        excess = plan.tokens - survey.goal
        if appends or excess < policy.EXCESS * survey.goal or room <= survey.least:
            break
        room = max(room - excess, survey.least)
    return plan


def _newest_first(units: Sequence[Unit], pinned: Pinned) -> Iterable[Piece]:
    """The pieces of these units that are not whole anyway."""
    return (p for unit in reversed(units) for p in reversed(unit.pieces) if p.key not in pinned)


def holds(given: PassInput, pinned: Pinned, cap: Cap) -> bool:
    """Whether the digest shows all that is to be whole in it now: pinned results, the user's words."""
    stands, below = TextFinder(given.projection.digest), request_below(given)
    results = (piece for piece in pinned.values() if piece.unit < given.folded)
    words = (piece for piece in given.words_before(given.folded) if piece.tokens <= cap(piece))
    return all(piece is below or stands.holds(piece.text) for piece in chain(results, words))


def merge_pays(given: PassInput, choice: Choice, cap: Cap) -> bool:
    """Whether to write a digest again that is in the cache, so that later requests read only what is still chosen."""
    last = given.units[given.folded - 1].last_event if given.folded else -1
    chosen = (lines for (event, _), lines in choice.by_piece.items() if event <= last)
    live = sum(opening_cost(lines[0].piece) + sum(line.cost for line in lines) for lines in chosen if lines)
    words = words_tokens(given.words_before(given.folded), cap)
    live += fixed_cost(given.pages, given.folded) + words + estimate(given.summary)
    return pays_to_merge(segment_tokens(given.projection.segments), live)


def pays_to_merge(kept: float, live: float) -> bool:
    """Whether to write `live` tokens in place of the `kept` ones that are read from the cache."""
    return policy.CACHE_WRITE * live - kept < policy.MERGE_REQUESTS * (kept - live)


def words_tokens(words: Iterable[Piece], cap: Cap) -> float:
    """Tokens of these texts of the user in a digest."""
    return sum(min(piece.tokens, cap(piece) + policy.SHORTENED_ROW) + 3 for piece in words)


def candidates(
    given: PassInput, fresh: Iterable[Piece], shrinkable: Iterable[Piece], cap: Cap, pinned: Pinned
) -> Iterable[Line]:
    """Every line that could be kept: of what was folded before, is folded now, or shrinks in place."""

    def open_to_choice(piece: Piece) -> bool:
        return piece.tokens > cap(piece) if piece.kind == "user" else not pinned or piece.key not in pinned

    pieces = chain(filter(open_to_choice, fresh), shrinkable)
    pool = (lines for piece, lines in groupby(given.pool(), _piece) if open_to_choice(piece))
    return chain.from_iterable(chain(pool, map(given.lines.of, pieces)))


def pinned_pieces(given: PassInput, start: int, *, squeeze: bool) -> Pinned:
    """Results before the tail that stay whole: what is preserved and, unless it is tight, what was just recalled."""
    pinned = preserved(given.units[:start], given.guard, given.budget.words)
    if not squeeze:
        fresh = max(len(given.units) - given.budget.recalled_units, 0)
        pinned.update(recalled(given.units[fresh:start], given.budget.recalled))
    return pinned


def words_caps(given: PassInput, start: int, room: float) -> Cap:
    """How long each text of the user may be; the current request is never cut."""
    return allowances(given.words_before(start), room, whole=given.current)


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


def pictures_of(given: PassInput, boundary: int) -> tuple[tuple[int, int], ...]:
    """Pictures that belong to the current request, if that is folded, by key."""
    current = given.current
    if current is None or current.event >= _first_event(given.units, boundary):
        return ()
    unit = given.users[first_from(given.users, current.event)]
    return tuple(piece.key for piece in unit.pieces if piece.attached)


def _shrinkable(given: PassInput, boundary: int, start: int, cap: Cap) -> Iterable[Piece]:
    limits = {"result": 0.0, "said": policy.LONG_ANSWER}
    for unit in given.units[boundary:start]:
        for piece in unit.pieces:
            limit = cap(piece) if piece.kind == "user" else limits.get(piece.kind, piece.tokens)
            if piece.tokens > limit:
                yield piece


def _render(given: PassInput, survey: Survey, first: int, choice: Choice, *, labels: int) -> PassPlan:
    boundary, cap, old = survey.boundary, survey.cap, given.projection
    shown_from = _first_event(given.units, boundary)
    edits = {key: text for key, text in old.edits.items() if key[0] >= shown_from}
    shrunk: list[Piece] = []
    for piece in survey.shrinkable:
        text = _short(piece, choice, cap)
        if estimate(text) < policy.STUB_GAIN * piece.tokens:
            edits[piece.key] = text
            shrunk.append(piece)
        else:
            edits.pop(piece.key, None)
    segments = old.segments if first else ()
    fold_to = given.units[boundary - 1].event if boundary else 0
    current = given.current
    request = ""
    if current is not None and current.event <= fold_to:
        request = old.edits.get(current.key, current.text)
    if boundary > first:

        def words(piece: Piece) -> str:
            if piece is current:
                return CURRENT
            return piece.text if piece.tokens <= cap(piece) else shorten(piece, cap(piece), choice.of(piece))

        head = given.summary
        if first:
            asked = request_below(given)
            head = f"User: {words(asked)}" if asked is not None and asked is not current else ""
        folding = Folding(given.units, given.users, given.pages, first, boundary)
        text = write_digest(folding, choice, words, given.index.is_stale, head, labels=labels)
        segments = (*segments, Segment(0, text))
    kinds = {piece.kind for piece in shrunk}
    used = {"snip": bool(kinds & {"said", "user"}), "micro": "result" in kinds, "collapse": boundary > 0}
    rungs = tuple(rung for rung, was_used in used.items() if was_used)
    pictures = pictures_of(given, boundary)
    facts = f"{FACTS}\n{given.facts}" if segments and given.facts else ""
    projection = Projection(
        0,
        fold_to,
        segments,
        edits,
        given.summary,
        pictures,
        request,
        facts=facts,
        provider_summary=given.provider_summary,
    )
    return PassPlan(projection, boundary, rungs, len(shrunk), choice.count)


def request_below(given: PassInput) -> Piece | None:
    """The request that stands below the digest and not in it."""
    if not given.projection.request:
        return None
    written = given.projection.segments[-1].event
    return current_request(unit for unit in reversed(given.users) if unit.event < written)


def _first_event(units: list[Unit], boundary: int) -> int:
    return units[boundary].event if boundary < len(units) else 1 << 62


def _short(piece: Piece, choice: Choice, cap: Cap) -> str:
    if piece.kind == "result":
        return stub(piece, choice.of(piece))
    return shorten(piece, cap(piece) if piece.kind == "user" else policy.SHORT_ANSWER, choice.of(piece))


def view_tokens(given: PassInput, plan: PassPlan) -> float:
    """Tokens of the request under a plan."""
    total = given.overhead + digest_tokens(plan.projection)
    for unit in given.units[plan.folded :]:
        total += unit_tokens(unit, plan.projection)
    return total
