"""The edges of a picture: those among the given tasks, separated into acyclic and cycle-closing ones."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from outlive.printable import one_line
from outlive.stores.tasks.records import Task
from outlive.tasks import shape
from outlive.tasks.drawing.marks import mark

Edge = tuple[int, int]
"""A dependency and the task that waits for it."""


@dataclass(frozen=True, slots=True)
class Diagram:
    """Tasks by id. `needs` and `frees` are acyclic; `closing` are the edges left out for that."""

    tasks: dict[int, Task]
    needs: dict[int, list[int]]
    frees: dict[int, list[int]]
    closing: list[Edge]

    def edges(self) -> list[Edge]:
        """Return all edges, cycle-closing ones included."""
        return sorted([*((before, task) for task, nexts in self.needs.items() for before in nexts), *self.closing])

    def layers(self) -> list[list[int]]:
        found, _ = shape.layers(self.needs)
        return [sorted(layer) for layer in found]

    def groups(self) -> list[list[list[int]]]:
        """Return the layers of each connected group of tasks."""
        depth = {number: step for step, layer in enumerate(self.layers()) for number in layer}
        neighbours = {number: [*self.needs[number], *self.frees[number]] for number in self.tasks}
        for before, task in self.closing:
            neighbours[before].append(task)
            neighbours[task].append(before)
        seen: set[int] = set()
        result = []
        for number in self.tasks:
            if number not in seen:
                group = shape.reachable(number, neighbours)
                seen.update(group)
                layers: dict[int, list[int]] = {}
                for other in sorted(group, key=lambda other: (depth[other], other)):
                    layers.setdefault(depth[other], []).append(other)
                result.append(list(layers.values()))
        return result

    def cycles(self) -> dict[int, list[int]]:
        """Map tasks to their dependencies that close a cycle."""
        result: dict[int, list[int]] = {}
        for before, number in self.closing:
            result.setdefault(number, []).append(before)
        return result

    def hidden(self, number: int) -> list[int]:
        """Return the blockers of a task that are not in the picture."""
        task = self.tasks[number]
        return [] if task.finished else sorted({other for other in task.blocked_by if other not in self.tasks})


def diagram(tasks: Iterable[Task]) -> Diagram:
    known = {task.id: task for task in sorted(tasks, key=lambda task: task.id)}
    needs = {
        number: sorted({other for other in task.depends_on if other in known and other != number})
        for number, task in known.items()
    }
    closing = sorted(_closing(needs))
    for before, number in closing:
        needs[number].remove(before)
    return Diagram(known, needs, _turned(needs), closing)


def label(task: Task) -> str:
    """Mark, id and subject: a task in one line."""
    return f"{mark(task)} {task.id} {one_line(task.subject)}".rstrip()


def _turned(needs: dict[int, list[int]]) -> dict[int, list[int]]:
    result: dict[int, list[int]] = {number: [] for number in needs}
    for number, nexts in needs.items():
        for other in nexts:
            result[other].append(number)
    return result


def _closing(needs: dict[int, list[int]]) -> Iterator[Edge]:
    """Yield the back edges of a depth-first walk from small ids to large, the order in which plans are written."""
    _, stuck = shape.layers(needs)
    inside = set(stuck)
    frees = {number: [other for other in nexts if other in inside] for number, nexts in _turned(needs).items()}
    done: set[int] = set()
    for start in stuck:
        if start in done:
            continue
        path = {start: iter(frees[start])}
        while path:
            number, following = next(reversed(path.items()))
            other = next(following, None)
            if other is None:
                done.add(number)
                del path[number]
            elif other in path:
                yield number, other
            elif other not in done:
                path[other] = iter(frees[other])
