"""One pass: from a view that is too large to one at the low-water mark.

The tail stays whole; before it, results shrink to stubs (`micro`), long old texts are shortened (`snip`); what
is older still is folded into the digest (`collapse`). All of it shares one budget of lines.
"""

from itertools import chain

from outlive.context import policy
from outlive.context.log.pieces import Piece
from outlive.context.passes.digest import Folding, fixed_cost, opening_cost, write_digest
from outlive.context.passes.lines.select import Choice
from outlive.context.passes.pass_input import PassDepth, PassInput, PassPlan, first_event, pictures_of, request_below
from outlive.context.passes.protect import Pinned
from outlive.context.passes.stubs import stub
from outlive.context.passes.survey import Cap, Survey, survey_pass, words_tokens
from outlive.context.passes.user_words import TextFinder, shorten
from outlive.context.projection import Projection, Segment, digest_tokens, segment_tokens, unit_tokens
from outlive.context.tokens import estimate

FACTS = "[What was done until now, by the log. For reference.]"


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


def _render(given: PassInput, survey: Survey, first: int, choice: Choice, *, labels: int) -> PassPlan:
    boundary, cap, old = survey.boundary, survey.cap, given.projection
    shown_from = first_event(given.units, boundary)
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
            return piece.text if piece.tokens <= cap(piece) else shorten(piece, cap(piece), choice.of(piece))

        asked = request_below(given) if first else None
        folding = Folding(given.units, given.users, given.pages, first, boundary)
        said, text = write_digest(
            folding,
            choice,
            words,
            given.index.is_stale,
            labels=labels,
            summary="" if first else given.summary,
            asked=None if asked is current else asked,
            current=current,
        )
        segments = (*segments, *([Segment(0, said, "user")] if said else []), Segment(0, text))
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
