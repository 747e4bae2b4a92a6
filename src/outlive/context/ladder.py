"""The ladder: which rung is due, from cheap to expensive, and how far it goes.

`spool` when something too large arrives; one pass of `micro`, `snip` and `collapse` above the high-water mark (or
earlier, when the cache is cold anyway); `auto` on request; `reactive` when the provider refuses. Two attempts.
"""

from outlive.context.budget import Budget
from outlive.context.contract import broken
from outlive.context.errors import BrokenContract
from outlive.context.past import Past
from outlive.context.plan import Plan, Reach, Scene, plan_pass, view_tokens
from outlive.context.receipts import make_receipt
from outlive.context.spool import spool
from outlive.context.view import Projection, history
from outlive.events import Compacted, Edit

SOON = 3
"""Units within which a second pass shows that the first was not deep enough."""
SHALLOW, DEEP = 0.92, 0.82
"""Of the high-water mark: chosen lines may fill the view up to there."""


def usual(budget: Budget, since: int) -> Reach:
    """Under pressure, or with a cold cache; deeper when the last pass was only `since` units ago."""
    depth = SHALLOW if since > SOON else DEEP
    return Reach("", budget.target, budget.tail, budget.skeleton, budget.lines, depth=depth * budget.engage)


def deep(budget: Budget, rung: str) -> Reach:
    """All but the tail is folded."""
    return Reach(rung, budget.target, budget.tail, 0.0, budget.lines)


def floor(rung: str = "reactive") -> Reach:
    """The newest unit and nothing else stays whole."""
    return Reach(rung, 0.0, 0.0, 0.0, 0.0, squeeze=True)


def due(budget: Budget, total: float, since: float, grown: int, tried: int, *, cold: bool) -> str:
    """Why a pass is due, or nothing.

    `since` is what came since the last pass: where little can leave (a long tail, many words of the user), passes
    keep a distance from each other, because each one writes the cache anew. `grown` counts the same in steps of the
    smallest worthwhile gain; `tried` is where it stood at the last answer. Without a new step no pass is tried again,
    so one that cannot help is not planned each turn.
    """
    if total > budget.hard:
        return "limit"
    if not grown:
        return ""
    if cold and total > budget.cold:
        return "cold"
    return "pressure" if total > high_water(budget, total - since) and grown > tried else ""


def high_water(budget: Budget, after_pass: float) -> float:
    """Where the next pass engages, when the last one left that much."""
    return max(budget.engage, min(after_pass + budget.gap, budget.engage_at_most))


def attempt(past: Past, scene: Scene, reach: Reach, before: float) -> tuple[Plan, float]:
    """Plan a pass and hold it to its contract."""
    plan = plan_pass(scene, reach)
    if reach.rung:
        plan.rungs = (*plan.rungs, reach.rung)
    after = view_tokens(scene, plan)
    messages = history(scene.units, plan.projection)
    if problems := broken(scene, plan, messages, past.unseen(), before, after):
        raise BrokenContract(problems)
    return plan, after


def compacted(
    past: Past, scene: Scene, plan: Plan, reason: str, before: float, after: float, focus: str
) -> Compacted:
    """The event that commits a plan."""
    edits = tuple(Edit(event, block, text) for (event, block), text in sorted(plan.projection.edits.items()))
    return Compacted(
        id=past.last_id + 1,
        time=past.last_time,
        parent=past.last_id,
        fold_to=plan.projection.fold_to,
        digest=plan.projection.digest,
        edits=edits,
        receipt=make_receipt(past, scene, plan, reason, before, after),
        focus=focus,
        summary=plan.projection.summary,
        pages=past.pages.unlogged(),
        pictures=plan.projection.pictures,
    )


def spooled(past: Past, scene: Scene, room: float, spare: float = 0.0, *, again: bool = False) -> Plan | None:
    """Rung 0 for what has just arrived; nothing that was sent before changes."""
    arrived = [piece for piece in past.unseen() if again or piece.key not in scene.projection.edits]
    previews = spool(arrived, room, spare)
    if not previews:
        return None
    old = scene.projection
    projection = Projection(0, old.fold_to, old.digest, {**old.edits, **previews}, old.summary, old.pictures)
    return Plan(projection, len(scene.units), scene.folded, ("spool",), shrunk=len(previews))
