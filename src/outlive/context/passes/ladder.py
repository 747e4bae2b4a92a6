"""The ladder: which rung is due, from cheap to expensive, and how far it goes.

`spool` when something too large arrives; one pass of `micro`, `snip` and `collapse` above the high-water mark (or
earlier, when the cache is cold anyway); `auto` on request; `reactive` when the provider refuses. Two attempts.
"""

from collections.abc import Callable

from outlive.context.contract import broken
from outlive.context.errors import BrokenContract
from outlive.context.history import History
from outlive.context.passes.break_even import left_by_pass, mark
from outlive.context.passes.budget import Budget
from outlive.context.passes.plan import PassDepth, PassInput, PassPlan, plan_pass, view_tokens
from outlive.context.passes.receipts import make_receipt
from outlive.context.passes.spool import spool
from outlive.context.view import Projection, conversation
from outlive.events import Compacted, ViewEdit

SOON = 3
"""Units within which a second pass shows that the first was not deep enough."""
SHALLOW, DEEP = 0.92, 0.82
"""Of the high-water mark: chosen lines may fill the view up to there."""


def usual(budget: Budget, since: int) -> PassDepth:
    """Under pressure, or with a cold cache; deeper when the last pass was only `since` units ago."""
    depth = SHALLOW if since > SOON else DEEP
    return PassDepth("", budget.target, budget.tail, budget.skeleton, budget.lines, fill_to=depth * budget.engage)


def deep(budget: Budget, rung: str) -> PassDepth:
    """All but the tail is folded."""
    return PassDepth(rung, budget.target, budget.tail, 0.0, budget.lines)


def floor(rung: str = "reactive") -> PassDepth:
    """The newest unit and nothing else stays whole."""
    return PassDepth(rung, 0.0, 0.0, 0.0, 0.0, squeeze=True)


def due(budget: Budget, total: float, grown: int, tried: int, engage: Callable[[], float], *, cold: bool) -> str:
    """Why a pass is due, or nothing.

    `grown` counts what came since the last pass in steps of the smallest worthwhile gain; `tried` is where it stood
    at the last answer. Without a new step no pass is tried again, so one that cannot help is not planned each turn,
    and nobody has to find out where a pass would `engage`.
    """
    if total > budget.hard:
        return "limit"
    if not grown:
        return ""
    if cold and total > budget.cold:
        return "cold"
    return "pressure" if grown > tried and total > engage() else ""


def time_to_pay(budget: Budget, answers: int) -> float:
    """How many requests a pass has to pay for itself: at most half as many as were answered since the last one.

    At an even growth it is cheapest to pass where carrying the rest along has cost as much as the pass will.
    """
    return min(budget.payback, answers / 2)


def high_water(given: PassInput, fixed: float, arrived: float, requests: float) -> float:
    """Where a pass engages: at its share of the window, or where it pays (`payback.mark`) if that is earlier."""
    budget = given.budget
    if not requests:
        return budget.engage
    left = left_by_pass(given)
    return min(budget.engage, max(mark(left, fixed, arrived, requests), left + budget.gain))


def attempt(history: History, given: PassInput, depth: PassDepth, before: float) -> tuple[PassPlan, float]:
    """Plan a pass and hold it to its contract."""
    plan = plan_pass(given, depth)
    if depth.rung:
        plan.rungs = (*plan.rungs, depth.rung)
    after = view_tokens(given, plan)
    messages = conversation(given.units, plan.projection)
    if problems := broken(given, plan, messages, history.unseen(), before, after):
        raise BrokenContract(problems)
    return plan, after


def compacted(
    history: History, given: PassInput, plan: PassPlan, reason: str, before: float, after: float, focus: str
) -> Compacted:
    """The event that commits a plan."""
    edits = tuple(ViewEdit(event, block, text) for (event, block), text in sorted(plan.projection.edits.items()))
    return Compacted(
        id=history.last_id + 1,
        time=history.last_time,
        parent=history.last_id,
        fold_to=plan.projection.fold_to,
        digest=plan.projection.digest,
        edits=edits,
        receipt=make_receipt(history, given, plan, reason, before, after),
        focus=focus,
        summary=plan.projection.summary,
        pages=history.pages.unlogged(),
        pictures=plan.projection.pictures,
    )


def spooled(
    history: History, given: PassInput, room: float, spare: float = 0.0, *, again: bool = False
) -> PassPlan | None:
    """Rung 0 for what has just arrived; nothing that was sent before changes."""
    arrived = [piece for piece in history.unseen() if again or piece.key not in given.projection.edits]
    previews = spool(arrived, room, spare)
    if not previews:
        return None
    old = given.projection
    projection = Projection(0, old.fold_to, old.digest, {**old.edits, **previews}, old.summary, old.pictures)
    return PassPlan(projection, len(given.units), given.folded, ("spool",), shrunk=len(previews))
