"""The graph every engine is measured on: chains of ten, so that a tenth of the tasks is ready."""

from outlive import TaskDraft, TaskGraph

CHAIN = 10
BATCH = 1000


def blockers(number: int) -> list[int]:
    """What task `number` waits for, counting from 1."""
    return [] if number % CHAIN == 1 else [number - 1]


def fill(graph: TaskGraph, size: int) -> None:
    for start in range(1, size + 1, BATCH):
        numbers = range(start, min(start + BATCH, size + 1))
        graph.create_many(
            TaskDraft(
                key=str(number),
                subject=f"Task number {number} of the plan",
                description="What is to be done, in a sentence or two. " * 3,
                blocked_by=tuple(str(other) for other in blockers(number)),
            )
            for number in numbers
        )
