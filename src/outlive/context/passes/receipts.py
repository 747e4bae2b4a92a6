"""Receipts: what a pass did, so that a person can see it and a dashboard can show it."""

from outlive.context.contract import visible_pages
from outlive.context.history import History
from outlive.context.passes.plan import PassInput, PassPlan
from outlive.context.tokens import estimate
from outlive.context.view import Projection
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
    projection = plan.projection
    around = around_history(history, given)
    shown = visible_pages(projection.digest).union(*map(visible_pages, projection.edits.values()))
    own = {page: page for unit in given.units for page in unit.pages}  # receipts share the numbers that units have
    return Receipt(
        rungs=plan.rungs,
        reason=reason,
        before=round(before),
        after=round(after),
        kinds_before=around | by_kind(given, given.projection, given.folded),
        kinds_after=around | by_kind(given, projection, plan.folded),
        units_shrunk=plan.shrunk,
        units_folded=plan.folded - given.folded,
        lines_kept=plan.lines,
        handles=tuple(own.get(page, page) for page in sorted(shown)),
        cache_cost=0 if reason == "cold" or plan.rungs == ("spool",) else round(after - given.overhead),
    )


def around_history(history: History, given: PassInput) -> dict[str, int]:
    """Tokens of what stands around the history, which no pass changes."""
    system = estimate(history.system)
    parts = {"system": system, "tools": history.overhead - system, "state": given.overhead - history.overhead}
    return {name: round(tokens) for name, tokens in parts.items() if round(tokens)}


def by_kind(given: PassInput, projection: Projection, folded: int) -> dict[str, int]:
    """Tokens of a history by what they are."""
    sums: dict[str, float] = {"digest": estimate(projection.digest)}
    for unit in given.units[folded:]:
        for piece in unit.pieces:
            text = projection.edits.get(piece.key)
            kind = KINDS.get(piece.kind, piece.kind)
            sums[kind] = sums.get(kind, 0.0) + (piece.tokens if text is None else estimate(text))
    return {kind: round(tokens) for kind, tokens in sums.items() if tokens}
