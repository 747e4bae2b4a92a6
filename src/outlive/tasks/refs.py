"""Task ids. Models like to write a subject instead of an id; the error says which id was probably meant."""

import re
from collections.abc import Callable, Iterable
from itertools import islice

from outlive.errors import UnknownTask
from outlive.printable import some
from outlive.stores.tasks.records import MAX_ID, Task

Ref = int | str
COMPARED, MAX_COMPARED = 100, 1_000
"""Characters of a subject, and number of tasks, that are compared to suggest an id."""

_ID = re.compile(r"(?:#|task[_ ]?)?(\d{1,15})(?:\.json)?", re.IGNORECASE)


def parse_id(ref: Ref, candidates: Callable[[], Iterable[Task]] = lambda: ()) -> int:
    """Parse 12, "12", "#12" or "task_12"; the error for anything else suggests ids with a similar subject."""
    if isinstance(ref, int) and not isinstance(ref, bool):
        number = ref
    elif match := _ID.fullmatch(str(ref).strip()):
        number = int(match[1])
    else:
        raise UnknownTask(f"{str(ref)[:80]!r} is not a task id, which is a number{_meant(str(ref), candidates())}")
    if not 1 <= number <= MAX_ID:
        raise UnknownTask(f"{number} is not a task id: ids start at 1")
    return number


def unknown(ids: Iterable[int]) -> UnknownTask:
    return UnknownTask(f"no task has the id {some(sorted(ids))}", hint="list all tasks to see their ids")


def _meant(text: str, candidates: Iterable[Task]) -> str:
    from difflib import SequenceMatcher

    wanted = text.strip().casefold()[:COMPARED]
    scored = []
    for task in islice(candidates, MAX_COMPARED):
        subject = task.subject.casefold()[:COMPARED]
        score = 2.0 if subject == wanted else SequenceMatcher(None, wanted, subject).ratio()
        if wanted and (wanted in subject or subject in wanted):
            score = max(score, 0.9)
        if score >= 0.6:
            scored.append((-score, task.id, task.subject))
    if not scored:
        return ""
    guesses = ", ".join(f'{number} ("{subject}")' for _, number, subject in sorted(scored)[:3])
    return f". Did you mean {guesses}?"
