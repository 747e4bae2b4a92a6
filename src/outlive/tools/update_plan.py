"""`update_plan`: the session's plan, its goal and how far it has come. It is in every request."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from outlive.context.stateblock import plan_text
from outlive.events import GoalSet, PlanChanged, StateChanged, Step
from outlive.tools.protocol import Desk, Outcome, Tool, ToolError

MOST_STEPS = 50
LONGEST = 2000
"""Characters of one text: all of it is sent with every request."""


class UpdatePlanInput(Struct, frozen=True, forbid_unknown_fields=True):
    steps: Annotated[
        tuple[str, ...] | None,
        Meta(description="All steps of the plan, in order; those that stay with the same words stay done."),
    ] = None
    done: Annotated[tuple[int, ...], Meta(description="Numbers of steps that are finished; 1 is the first.")] = ()
    current_step: Annotated[int | None, Meta(description="Number of the step you work on now; 0 for none.")] = None
    progress: Annotated[str | None, Meta(description="Where things stand, in a line or two.")] = None
    blocked_on: Annotated[str | None, Meta(description="What you wait for; empty when nothing.")] = None
    goal: Annotated[str | None, Meta(description="The goal of this run. It is set once and does not change.")] = None
    criteria: Annotated[
        tuple[str, ...] | None, Meta(description="How one will know that the goal is reached, one condition each.")
    ] = None


class UpdatePlan(Tool[UpdatePlanInput]):
    name = "update_plan"
    description = (
        "Keep the plan of this session: only what is given changes. It is shown to you in every request and survives "
        "compaction. It is your own; work that others should see belongs into tasks (task_create)."
    )
    input = UpdatePlanInput
    effect = "state"

    async def run(self, given: UpdatePlanInput, desk: Desk) -> Outcome:
        events = _events(given)
        if not events:
            raise ToolError(
                "nothing to change: give steps, done, current_step, progress, blocked_on, goal or criteria"
            )
        for kind, fields in events:  # all of it makes sense, or nothing is logged
            desk.session.state.check(kind(id=0, time=0.0, **fields))
        for kind, fields in events:
            desk.session.log(kind, **fields)
        state = desk.session.state
        about = f"goal: {state.goal}" if given.goal is not None else ""
        return Outcome("\n".join(filter(None, [about, plan_text(state)])) or "noted")


def _events(given: UpdatePlanInput) -> list[tuple[Any, dict[str, Any]]]:
    _check(given)
    events: list[tuple[Any, dict[str, Any]]] = []
    if given.goal is not None:
        events.append((GoalSet, {"goal": given.goal.strip()}))
    if given.criteria is not None:
        events.append((StateChanged, {"criteria": given.criteria}))
    plan = {
        "steps": None if given.steps is None else tuple(Step(text.strip()) for text in given.steps),
        "done": given.done,
        "current_step": given.current_step,
        "progress": given.progress,
        "blocked_on": given.blocked_on,
    }
    if any(value not in (None, ()) for value in plan.values()) or given.steps == ():
        events.append((PlanChanged, plan))
    return events


def _check(given: UpdatePlanInput) -> None:
    if given.goal is not None and not given.goal.strip():
        raise ToolError("the goal is blank")
    if given.steps is not None and len(given.steps) > MOST_STEPS:
        raise ToolError(f"the plan has {len(given.steps)} steps, at most {MOST_STEPS} fit; make tasks of the detail")
    texts = (*(given.steps or ()), *(given.criteria or ()), given.progress, given.blocked_on, given.goal)
    for text in filter(None, texts):
        if len(text) > LONGEST:
            raise ToolError(
                f"{text[:40]!r}… has {len(text):,} characters, at most {LONGEST:,} fit: it is in every request"
            )
