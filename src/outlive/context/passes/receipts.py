"""Receipts: what a pass did, so that a person can see it and a dashboard can show it."""

from collections.abc import Iterable

from outlive.context.log.history import History
from outlive.context.log.pages import visible_pages
from outlive.context.log.units import Unit
from outlive.context.passes.pass_input import PassInput, PassPlan
from outlive.context.projection import Projection, digest_tokens, segment_tokens, shown_tokens
from outlive.context.tokens import estimate
from outlive.events import Receipt

KINDS = {
    "user": "user",
    "said": "assistant",
    "thought": "thinking",
    "call": "calls",
    "result": "results",
    "object": "pictures",
}


def make_receipt(
    history: History, given: PassInput, plan: PassPlan, reason: str, before: float, after: float
) -> Receipt:
    """The receipt of a plan. A cold cache costs nothing more; a warm one is rewritten from the first change on."""
    kept = segment_tokens(segment for segment in plan.projection.segments if segment.event)
    projection = plan.projection
    system = estimate(history.system)
    parts = {"system": system, "tools": history.overhead - system, "state": given.overhead - history.overhead}
    around = {name: round(tokens) for name, tokens in parts.items() if round(tokens)}
    new = shown_pages(projection) - shown_pages(given.projection)
    return Receipt(
        rungs=plan.rungs,
        reason=reason,
        before=round(before),
        after=round(after),
        kinds_before=around | by_kind(given.units[given.folded :], given.projection),
        kinds_after=around | by_kind(given.units[plan.folded :], projection),
        units_shrunk=plan.shrunk,
        units_folded=plan.folded - given.folded,
        lines_kept=plan.lines,
        handles=tuple(sorted(new)),
        cache_cost=0 if reason == "cold" or plan.rungs == ("spool",) else round(after - given.overhead - kept),
    )


def shown_pages(projection: Projection) -> frozenset[int]:
    """The pages whose handles stand in the view; a receipt names those that a pass added."""
    return projection.visible.union(*map(visible_pages, projection.edits.values()))


def by_kind(units: Iterable[Unit], projection: Projection) -> dict[str, int]:
    """Tokens of a history by what they are."""
    words = segment_tokens(one for one in projection.segments if one.origin == "user") + estimate(projection.request)
    sums: dict[str, float] = {"digest": digest_tokens(projection) - words, "user": words}
    for unit in units:
        for piece in unit.pieces:
            kind = KINDS[piece.kind]
            sums[kind] = sums.get(kind, 0.0) + shown_tokens(piece, projection)
    return {kind: round(tokens) for kind, tokens in sums.items() if tokens}
