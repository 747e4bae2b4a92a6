"""One pass: from a view that is too large to one at the low-water mark.

The tail stays whole; before it, results shrink to their bones (`micro`), long old texts are shortened (`snip`); what
is older still is folded into the digest (`collapse`). All of it shares one budget of lines.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain

from outlive.context.passes.budget import Budget
from outlive.context.passes.digest import LABELLED, fixed_cost, opening_cost, write_digest
from outlive.context.passes.name_index import NameIndex
from outlive.context.passes.protect import Guarded, Pinned, preserved, recalled, weigher
from outlive.context.passes.select import Choice, Scored, best, score, take
from outlive.context.passes.stubs import header, stub
from outlive.context.passes.user_words import allowances, shorten
from outlive.context.pieces import Line, Piece
from outlive.context.tokens import IMAGE_TOKENS, estimate
from outlive.context.units import Unit
from outlive.context.view import Projection

Cap = Callable[[Piece], float]

ANSWER, REMARK, SPOKEN = 60.0, 24.0, 0.015
"""Tokens that the beginning of an answer to the user keeps, and of any other remark; all of them: of the window."""
POOL = 2.0
"""Folded lines worth looking at again, as a multiple of what a pass keeps."""
LONG_SAID = 700.0
"""Tokens from which on an old answer is shortened."""
STUB_GAIN = 0.85
"""A result is only replaced when its stub is at most this part of it."""
LARGEST_TAIL = 0.6
"""Of what the window has left: one more unit must not make the tail larger than this."""
FEWEST_LINES = 0.03
"""Of the window: what chosen lines get however crowded it is."""
SAFE = 0.985
"""Of the hard limit: a squeezed view stays below this, because a plan is an estimate."""
SHORTENED = 14.0
"""Tokens that a shortened text of the user takes besides its own."""


@dataclass(frozen=True, slots=True)
class PassDepth:
    """How far a pass goes: tokens to aim for, to keep whole, to keep in place, and to spend on lines at most."""

    rung: str
    target: float
    tail: float
    skeleton: float
    lines: float
    depth: float = float("inf")
    """Lines may fill the view up to this, however many there may be."""
    squeeze: bool = False
    """Give up lines first, then the user's older words, as far as it takes to stay under the hard limit."""


@dataclass(slots=True)
class PassInput:
    """All a pass may look at. Tokens are estimates; the budget is scaled to them."""

    units: list[Unit]
    index: NameIndex
    projection: Projection
    folded: int
    """How many units are folded already."""
    pool: list[Line]
    overhead: float
    """System prompt, tools and state block."""
    budget: Budget
    guard: Guarded
    """What goes last."""
    facts: str = ""
    summary: str = ""


@dataclass(slots=True)
class PassPlan:
    """What a pass would do."""

    projection: Projection
    tail_start: int
    folded: int
    rungs: tuple[str, ...]
    shrunk: int = 0
    lines: int = 0
    problems: list[str] = field(default_factory=list)


def tail_start(units: list[Unit], folded: int, tail: float, most: float) -> int:
    """The first unit of the tail: whole recent units of at least `tail` tokens, at most `most`.

    What the model has not answered yet is always in it, and so is the answer that it belongs to.
    """
    start = len(units)
    while start > folded and units[start - 1].kind == "user":
        start -= 1
    start = max(start - 1, folded)
    size = sum(unit.tokens for unit in units[start:])
    while start > folded and size < tail:
        size += units[start - 1].tokens
        if size > most:
            break
        start -= 1
    return start


def tail_of(scene: PassInput, tail: float) -> int:
    """The first unit of the tail that a pass leaves."""
    most = max(tail, (scene.budget.hard - scene.overhead) * LARGEST_TAIL)
    return tail_start(scene.units, scene.folded, tail, most)


def fold_boundary(scene: PassInput, start: int, skeleton: float) -> int:
    """The first unit that is not folded: as many before the tail as the skeleton's share holds."""
    boundary = start
    room = skeleton
    while boundary > scene.folded:
        room -= bare_tokens(scene.units[boundary - 1])
        if room < 0:
            break
        boundary -= 1
    return boundary


def bare_tokens(unit: Unit) -> float:
    """A unit whose results are only headers."""
    results = sum(min(piece.tokens, estimate(header(piece))) for piece in unit.pieces if piece.kind == "result")
    rest = sum(min(piece.tokens, LONG_SAID) for piece in unit.pieces if piece.kind == "said")
    return unit.extra + results + rest + sum(p.tokens for p in unit.pieces if p.kind not in ("result", "said"))


def held_tokens(scene: PassInput, start: int, boundary: int) -> float:
    """What is shown whatever lines and words of the user are chosen."""
    fixed = scene.overhead + sum(unit_tokens(unit, scene.projection) for unit in scene.units[start:])
    fixed += sum(bare_tokens(unit) for unit in scene.units[boundary:start])
    return fixed + fixed_cost(scene.units[:boundary]) + estimate(scene.facts) + estimate(scene.summary)


def tokens_before(scene: PassInput, start: int) -> float:
    """Tokens of all that was said and done before a unit."""
    return next((unit.pieces[0].at for unit in scene.units[start:] if unit.pieces), scene.index.tokens)


def request_tokens(scene: PassInput, boundary: int) -> float:
    """The current request, when it stands in the digest."""
    current = current_request(scene.units)
    if current is None or current.event >= _first_event(scene.units, boundary):
        return 0.0
    return current.tokens + IMAGE_TOKENS * len(pictures_of(scene.units[:boundary], current))


def floor_tokens(scene: PassInput) -> float:
    """The least that a pass can come to: the newest unit whole, all else as handles, the user's words cut short."""
    start = tail_start(scene.units, scene.folded, 0.0, 0.0)
    least = words_caps(scene, start, 0.0)
    kept = sum(min(piece.tokens, least(piece) + SHORTENED) + 3 for piece in _words(scene.units[:start]))
    pinned = sum(piece.tokens for piece in pinned_pieces(scene, start, squeeze=True).values())
    return held_tokens(scene, start, start) + kept + pinned


def plan_pass(scene: PassInput, reach: PassDepth) -> PassPlan:
    """Plan one pass down to the low-water mark."""
    budget = scene.budget
    start = tail_of(scene, reach.tail)
    boundary = fold_boundary(scene, start, reach.skeleton)
    pinned = pinned_pieces(scene, start, squeeze=reach.squeeze)
    folding = scene.units[:boundary]
    fixed = held_tokens(scene, start, boundary) + sum(piece.tokens for piece in pinned.values())
    limit = SAFE * budget.hard if reach.squeeze else float("inf")
    cap = words_caps(scene, start, min(budget.words, max(limit - fixed - request_tokens(scene, boundary), 0.0)))
    shrinkable = [piece for piece in _shrinkable(scene, boundary, start, cap) if piece.key not in pinned]
    fixed += sum(min(piece.tokens, cap(piece) + SHORTENED) + 3 for piece in _words(folding))
    worth = min(reach.lines, budget.lines_of_past * tokens_before(scene, start))
    spoken = {} if reach.squeeze else spoken_lines(scene.units[:boundary], SPOKEN * budget.window)
    fixed += sum(line.cost for lines in spoken.values() for line in lines)
    least = min(FEWEST_LINES * budget.window, max(limit - fixed, 0.0))
    room = max(reach.target - fixed, min(worth, reach.depth - fixed), least)
    goal = max(reach.target, fixed + room)
    fresh = (piece for unit in scene.units[scene.folded : boundary] for piece in unit.pieces)
    scored = score(scene.index, candidates(scene, fresh, shrinkable, cap, pinned), weigher(scene.guard))
    for _ in range(2):
        choice = take(scored, room, opening_cost, budget.price)
        choice.by_piece.update((key, piece.lines) for key, piece in pinned.items())
        for key, lines in spoken.items():
            kept = {line.id: line for line in (*lines, *choice.by_piece.get(key, ()))}
            choice.by_piece[key] = [kept[number] for number in sorted(kept)]
        plan = _render(scene, boundary, start, cap, shrinkable, choice, labels=0 if reach.squeeze else LABELLED)
        excess = view_tokens(scene, plan) - goal
        if excess < 0.02 * goal or room <= least:
            break
        room = max(room - excess, least)
    return plan


def spoken_lines(units: list[Unit], room: float) -> dict[tuple[int, int], list[Line]]:
    """How what the assistant said began, newest first: what it found and decided. Answers to the user get more."""
    found: dict[tuple[int, int], list[Line]] = {}
    answer = False
    for unit in reversed(units):
        for piece in unit.pieces:
            if piece.kind == "said" and piece.lines:
                found[piece.key] = _beginning(piece, ANSWER if answer else REMARK)
                room -= sum(line.cost for line in found[piece.key])
        answer = unit.kind == "user"
        if room <= 0:
            break
    return found


def _beginning(piece: Piece, room: float) -> list[Line]:
    kept: list[Line] = []
    for line in piece.lines:
        room -= line.cost
        if room < 0 and kept:
            break
        kept.append(line)
    return kept


def candidates(
    scene: PassInput, fresh: Iterable[Piece], shrinkable: Iterable[Piece], cap: Cap, pinned: Pinned
) -> Iterable[Line]:
    """Every line that could be kept: of what was folded before, is folded now, or shrinks in place."""

    def open_to_choice(piece: Piece) -> bool:
        return piece.tokens > cap(piece) if piece.kind == "user" else not pinned or piece.key not in pinned

    pieces = chain(filter(open_to_choice, fresh), shrinkable)
    pool = (line for line in scene.pool if open_to_choice(line.piece))
    return chain(pool, chain.from_iterable(piece.lines for piece in pieces))


def pinned_pieces(scene: PassInput, start: int, *, squeeze: bool) -> Pinned:
    """Results before the tail that stay whole: what is preserved and, unless it is tight, what was just recalled."""
    pinned = preserved(scene.units[:start], scene.guard, scene.budget.words)
    if not squeeze:
        fresh = max(len(scene.units) - scene.budget.recalled_units, 0)
        pinned.update(recalled(scene.units[fresh:start], scene.budget.recalled))
    return pinned


def words_caps(scene: PassInput, start: int, room: float) -> Cap:
    """How long each text of the user may be; the current request is never cut."""
    current = current_request(scene.units)
    caps = allowances((piece for piece in _words(scene.units[:start]) if piece is not current), room)
    return lambda piece: float("inf") if piece is current else caps(piece)


def _words(units: Iterable[Unit]) -> Iterable[Piece]:
    """What the user said in them."""
    return (piece for unit in units if unit.kind == "user" for piece in unit.pieces if piece.kind == "user")


def current_request(units: list[Unit]) -> Piece | None:
    """What the user asked for last: the last text that no harness put there (what stands before it is context)."""
    newest: Piece | None = None
    for unit in reversed(units):
        for piece in reversed(tuple(_words([unit]))):
            if piece.origin in ("user", "parent"):
                return piece
            newest = newest or piece
    return newest


def pictures_of(units: Iterable[Unit], request: Piece | None) -> tuple[tuple[int, int], ...]:
    """What belongs to the request and is no text."""
    asked = (unit for unit in units if request is not None and unit.event == request.event)
    return tuple(piece.key for unit in asked for piece in unit.pieces if piece.attached)


def _shrinkable(scene: PassInput, boundary: int, start: int, cap: Cap) -> Iterable[Piece]:
    limits = {"result": 0.0, "said": LONG_SAID}
    for unit in scene.units[boundary:start]:
        for piece in unit.pieces:
            limit = cap(piece) if piece.kind == "user" else limits.get(piece.kind, piece.tokens)
            if piece.tokens > limit:
                yield piece


def _render(
    scene: PassInput, boundary: int, start: int, cap: Cap, shrinkable: list[Piece], choice: Choice, *, labels: int
) -> PassPlan:
    edits = {
        key: text for key, text in scene.projection.edits.items() if key[0] >= _first_event(scene.units, boundary)
    }
    shrunk: list[Piece] = []
    for piece in shrinkable:
        text = _short(piece, choice, cap)
        if estimate(text) < STUB_GAIN * piece.tokens:
            edits[piece.key] = text
            shrunk.append(piece)
        else:
            edits.pop(piece.key, None)
    digest, fold_to = "", 0
    pictures: tuple[tuple[int, int], ...] = ()
    if boundary:
        folding = scene.units[:boundary]
        current = current_request(scene.units)

        def words(piece: Piece) -> str:
            if piece is current:
                return scene.projection.edits.get(piece.key, piece.text)
            return piece.text if piece.tokens <= cap(piece) else shorten(piece, cap(piece), choice.of(piece))

        digest = write_digest(
            folding, choice, words, scene.facts, scene.summary, labels=labels, stale=scene.index.is_stale
        )
        fold_to = folding[-1].event
        pictures = pictures_of(folding, current)
    kinds = {piece.kind for piece in shrunk}
    used = {"snip": bool(kinds & {"said", "user"}), "micro": "result" in kinds, "collapse": boundary > 0}
    rungs = tuple(rung for rung, was_used in used.items() if was_used)
    projection = Projection(0, fold_to, digest, edits, scene.summary, pictures)
    return PassPlan(projection, start, boundary, rungs, len(shrunk), choice.count)


def _first_event(units: list[Unit], boundary: int) -> int:
    return units[boundary].event if boundary < len(units) else 1 << 62


def _short(piece: Piece, choice: Choice, cap: Cap) -> str:
    if piece.kind == "result":
        return stub(piece, choice.of(piece))
    return shorten(piece, cap(piece) if piece.kind == "user" else LONG_SAID * 0.6, choice.of(piece))


def view_tokens(scene: PassInput, plan: PassPlan) -> float:
    """Tokens of the request under a plan."""
    total = scene.overhead + digest_tokens(plan.projection)
    for unit in scene.units[plan.folded :]:
        total += unit_tokens(unit, plan.projection)
    return total


def digest_tokens(projection: Projection) -> float:
    """Tokens of the digest with the pictures beside it."""
    return estimate(projection.digest) + IMAGE_TOKENS * len(projection.pictures)


def unit_tokens(unit: Unit, projection: Projection) -> float:
    """Tokens of a unit as it is shown."""
    return unit.extra + sum(shown_tokens(piece, projection) for piece in unit.pieces)


def shown_tokens(piece: Piece, projection: Projection) -> float:
    """Tokens of a piece as it is shown."""
    text = projection.edits.get(piece.key)
    return piece.tokens if text is None else estimate(text)


def next_pool(scene: PassInput, boundary: int) -> list[Line]:
    """The folded lines that later passes choose from again."""
    fresh = (piece for unit in scene.units[scene.folded : boundary] for piece in unit.pieces)
    scored: Scored = score(scene.index, candidates(scene, fresh, (), lambda _: 0.0, {}), lambda _: 1.0)
    return best(scored, POOL * max(scene.budget.lines, scene.budget.target))
