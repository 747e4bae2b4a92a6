"""Tasks as text for people and models: one line each, within a token budget."""

from collections.abc import Callable, Sequence

from outlive.printable import some
from outlive.stores.tasks.records import DEFAULT_PRIORITY, Task
from outlive.tasks.drawing.marks import mark, state

DEFAULT_BUDGET_TOKENS = 4000
"""Tokens. A list goes into a model's context, so it is bounded."""

Paint = Callable[[str, str], str]
"""Styles a text by its role: a state of a task, "dim" or "label"."""


def plain(text: str, role: str) -> str:
    return text


def line(task: Task, paint: Paint = plain) -> str:
    """`○ 12 Write the parser P1 [docs] @alice ← 3, 4`"""
    parts = [paint(f"{mark(task)} {task.id}", state(task)), task.subject]
    if task.priority != DEFAULT_PRIORITY:
        parts.append(paint(f"P{task.priority}", "dim"))
    if task.labels:
        parts.append(paint(f"[{', '.join(task.labels)}]", "label"))
    if task.owner:
        parts.append(paint(f"@{task.owner}", "dim"))
    if task.blocked_by and not task.finished:
        parts.append(paint(f"← {some(task.blocked_by, 5)}", "dim"))
    if task.archived_at:
        parts.append(paint("(archived)", "dim"))
    return " ".join(parts)


def listing(tasks: Sequence[Task], *, total: int, budget: int = DEFAULT_BUDGET_TOKENS, paint: Paint = plain) -> str:
    """Format as many tasks as the budget holds (0: all), and the number of those left out."""
    lines: list[str] = []
    spent = 0
    for task in tasks:
        spent += tokens(line(task))
        if budget and spent > budget and lines:
            break
        lines.append(line(task, paint))
    if (more := total - len(lines)) > 0:
        lines.append(paint(f"… and {more:,} more", "dim"))
    return "\n".join(lines)


def fits(budget: int) -> int | None:
    """Return how many tasks a list of this budget can hold at most, to limit the query."""
    return budget // 3 + 1 if budget else None


def tokens(text: str) -> int:
    """Estimate tokens on the high side: three Latin characters a token, one for any other character."""
    wide = sum(ord(char) > 0x24F for char in text)
    return (len(text) - wide) // 3 + wide + 1
