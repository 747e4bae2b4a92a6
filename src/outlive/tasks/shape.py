"""Pure graph algorithms. `edges` always maps a node to the nodes it depends on."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)

Edges = Mapping[Node, Collection[Node]]


def find_path(start: Node, goal: Node, neighbours: Callable[[Collection[Node]], Edges[Node]]) -> list[Node] | None:
    """Find the shortest path from start to goal; `neighbours` is called with a whole frontier at a time."""
    came_from: dict[Node, Node | None] = {start: None}
    frontier = [start]
    while frontier:
        if goal in came_from:
            path = [goal]
            while (step := came_from[path[-1]]) is not None:
                path.append(step)
            return path[::-1]
        reached = []
        for node, nexts in neighbours(frontier).items():
            for other in nexts:
                if other not in came_from:
                    came_from[other] = node
                    reached.append(other)
        frontier = reached
    return None


def explored(
    starts: Iterable[Node], neighbours: Callable[[Collection[Node]], Edges[Node]]
) -> dict[Node, Collection[Node]]:
    """Return all reachable nodes, starts included, with their edges; `neighbours` gets a frontier at a time."""
    found: dict[Node, Collection[Node]] = {}
    frontier = list(dict.fromkeys(starts))
    while frontier:
        edges = neighbours(frontier)
        found |= {node: edges.get(node, ()) for node in frontier}
        frontier = list(dict.fromkeys(other for node in frontier for other in found[node] if other not in found))
    return found


def layers(edges: Edges[Node]) -> tuple[list[list[Node]], list[Node]]:
    """Group nodes by depth: layer 0 depends on nothing, each next layer only on earlier ones.

    The second list holds the nodes in or behind a cycle, which have no depth.
    """
    waiting = {node: {other for other in nexts if other in edges} for node, nexts in edges.items()}
    behind: dict[Node, list[Node]] = {node: [] for node in edges}
    for node, nexts in waiting.items():
        for other in nexts:
            behind[other].append(node)
    result: list[list[Node]] = []
    layer = [node for node, nexts in waiting.items() if not nexts]
    placed = 0
    while layer:
        result.append(layer)
        placed += len(layer)
        following = []
        for node in layer:
            for other in behind[node]:
                waiting[other].discard(node)
                if not waiting[other]:
                    following.append(other)
        layer = following
    done = {node for layer in result for node in layer}
    return result, [node for node in edges if node not in done] if placed < len(edges) else []


def find_cycle(edges: Edges[Node]) -> list[Node] | None:
    """Return a cycle as [a, b, …, a], each depending on the next, or None."""
    _, stuck = layers(edges)
    inside = set(stuck)
    if not stuck:
        return None
    # Every stuck node depends on a stuck node, so a walk must return to a node it has seen.
    path: list[Node] = []
    seen: dict[Node, int] = {}
    node = stuck[0]
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = next(other for other in edges[node] if other in inside)
    return [*path[seen[node] :], node]


def components(edges: Edges[Node]) -> dict[Node, int]:
    """Number the strongly connected components: node to component (Tarjan)."""
    number: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    found: dict[Node, int] = {}
    open_: list[Node] = []
    for start in edges:
        work = [] if start in number else [(start, iter(edges[start]))]
        while work:
            node, nexts = work[-1]
            if node not in number:
                number[node] = lowest[node] = len(number)
                open_.append(node)
            for other in nexts:
                if other not in number:
                    work.append((other, iter(edges.get(other, ()))))
                    break
                if other not in found:
                    lowest[node] = min(lowest[node], number[other])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[node])
                if lowest[node] == number[node]:
                    while open_[-1] != node:
                        found[open_.pop()] = number[node]
                    found[open_.pop()] = number[node]
    return found


def reachable(start: Node, edges: Edges[Node]) -> list[Node]:
    """Return start and all nodes reachable from it, breadth first."""
    return list(explored([start], lambda _: edges))


def longest_chain(edges: Edges[Node]) -> list[Node]:
    """Return the longest chain of nodes, each depending on the one before."""
    ordered, _ = layers(edges)
    before: dict[Node, Node | None] = {}
    length: dict[Node, int] = {}
    for layer in ordered:
        for node in layer:
            best = max((other for other in edges[node] if other in length), key=length.__getitem__, default=None)
            before[node] = best
            length[node] = 1 + (length[best] if best is not None else 0)
    if not length:
        return []
    chain = [max(length, key=length.__getitem__)]
    while (previous := before[chain[-1]]) is not None:
        chain.append(previous)
    return chain[::-1]
