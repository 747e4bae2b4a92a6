"""`task_list`: the open tasks, or all, in a line each."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.stores.tasks.protocol import TaskQuery
from outlive.tasks.drawing.marks import MARKS, words
from outlive.tasks.listing import DEFAULT_BUDGET, fits, listing
from outlive.tasks.lookup import OPEN
from outlive.tools.builtin.task_context import asked
from outlive.tools.protocol import SHORT, Tool, ToolContext, ToolOutcome

LARGEST_BUDGET = 50_000


class TaskListInput(Struct, frozen=True, forbid_unknown_fields=True):
    all: Annotated[bool, Meta(description="Finished and cancelled tasks as well.")] = False
    budget: Annotated[
        int,
        Meta(
            ge=50, le=LARGEST_BUDGET, description=f"Tokens that the list may take; {DEFAULT_BUDGET} when not given."
        ),
    ] = DEFAULT_BUDGET


class TaskList(Tool[TaskListInput]):
    name = "task_list"
    description = (
        "List the tasks of the project, most urgent first, one line each: state, id, subject, @owner, and after ← "
        "the unfinished tasks it waits for. Does not show descriptions (use task_get)."
    )
    input = TaskListInput
    longest = SHORT
    effect = "look"

    async def run(self, given: TaskListInput, context: ToolContext) -> ToolOutcome:
        query = TaskQuery(sort="priority") if given.all else OPEN
        total = asked(lambda: context.graph.count(query))
        if not total:
            return ToolOutcome("there are no tasks" if given.all else "there are no open tasks")
        limited = TaskQuery(statuses=query.statuses, sort=query.sort, limit=fits(given.budget))
        tasks = asked(lambda: context.graph.find(limited))
        legend = ", ".join(f"{mark} {words(state)}" for state, mark in MARKS.items())
        damaged = [f"(cannot be read: {what})" for what in context.graph.store.left_out()[:5]]
        return ToolOutcome("\n".join([listing(tasks, total=total, budget=given.budget), f"[{legend}]", *damaged]))
