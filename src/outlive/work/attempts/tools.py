"""What agents of the fleet may do to the graph: make parts of their task, within a limit, and ask a person."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from outlive.errors import InvalidTask
from outlive.stores.tasks.records import Task
from outlive.tasks.graph import TaskGraph
from outlive.tools.protocol import SHORT_RESULT_CHARS, Tool, ToolContext, ToolOutcome
from outlive.work.attempts.held import HeldTask
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import Family

WORKERS_ONLY = ("task_claim", "task_complete", "task_update")
"""Tools that an agent of the fleet has not: the worker does this."""
FAMILY = "family"
"""The metadata that names the task out of which a task was made."""


class PartsGraph(TaskGraph):
    """The graph as an agent of the fleet sees it: out of its task, all agents together make a limited number."""

    def __init__(self, graph: TaskGraph, board: FleetBoard, task: Task, limit: int) -> None:
        super().__init__(graph.store, actor=f"task {task.id}")
        self._board = board
        self._family = str(task.metadata.get(FAMILY) or task.id)
        self._limit = limit

    def create(self, subject: str, *, metadata: dict[str, Any] | None = None, **fields: Any) -> Task:
        self._board.change(Family, self._family, self._one_more)
        return super().create(subject, metadata={**(metadata or {}), FAMILY: self._family}, **fields)

    def _one_more(self, old: Family | None, now: datetime) -> Family:
        family = old or Family()
        if family.tasks >= self._limit:
            raise InvalidTask(
                f"agents have made {family.tasks} tasks out of task {self._family}, which is the limit: do the rest "
                "in this task, or ask a person",
                code="too_many_parts",
            )
        return replace(family, tasks=family.tasks + 1)


class AskPersonInput(Struct, frozen=True, forbid_unknown_fields=True):
    question: Annotated[
        str, Meta(description="The question, with all that is needed to answer it, and the choices that you see.")
    ]


class AskPerson(Tool[AskPersonInput]):
    """Keeps the question, also for the case that the process dies now; the attempt ends with it."""

    name = "ask_person"
    description = (
        "Ask a person what only a person can decide. The task waits until somebody answers, perhaps for days, and "
        "this conversation goes on with the answer. Your changes are kept. End your turn after it."
    )
    input = AskPersonInput
    about = "question"
    effect = "state"
    longest = SHORT_RESULT_CHARS

    def __init__(self, held: HeldTask) -> None:
        self.question = ""
        self._held = held

    async def run(self, given: AskPersonInput, context: ToolContext) -> ToolOutcome:
        self.question = context.mask(given.question.strip())
        await self._held.update(question=self.question)
        return ToolOutcome("The question is kept. End now: you go on here with the answer.")
