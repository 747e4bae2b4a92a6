"""The code that decided an answer of the quiz, and the section of the documentation about it.

Only what is named here can be read.
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from outlive.agent.session import Session
from outlive.context.log.pages import Page
from outlive.context.passes import spool, user_words
from outlive.context.passes.ladder import Ladder
from outlive.context.state_block import render_state
from outlive.events import Compacted
from outlive.stores.tasks.records import Lease, Task
from outlive.tasks import edges, rules
from outlive.tasks.graph import TaskGraph
from outlive.web.api import HttpProblem
from outlive.web.learn import player

PACKAGE = Path(inspect.getfile(Session)).parents[1]
_SHIPPED = PACKAGE / "docs"
DOCS = _SHIPPED if _SHIPPED.is_dir() else PACKAGE.parents[1] / "docs"
"""In an installed package, or in a checkout."""
FENCE = "```"


class _Section(NamedTuple):
    file: str
    heading: str


TASK, RULES, CLAIMS = (_Section("tasks.md", heading) for heading in ("A task", "Rules", "Claims"))
WINDOW = _Section("sessions.md", "What happens when the window fills up")
STATE = _Section("sessions.md", "What the session knows whatever happens")
DISK = _Section("sessions.md", "On disk")
SOURCES: dict[str, tuple[Callable[..., object] | type, _Section]] = {
    "asked": (Ladder.asked, WINDOW),
    "cancel": (TaskGraph.cancel, TASK),
    "claim": (TaskGraph.claim, CLAIMS),
    "complete": (TaskGraph.complete, RULES),
    "create": (TaskGraph.create_many, TASK),
    "cycles": (edges.refuse_cycles, RULES),
    "fates": (player.fates, WINDOW),
    "keeps_front": (Compacted, WINDOW),
    "ladder": (Ladder.relieve, WINDOW),
    "lease": (Lease, CLAIMS),
    "may_act": (rules.may_act, CLAIMS),
    "may_finish": (rules.may_finish, RULES),
    "may_start": (rules.may_start, RULES),
    "pages": (Page, WINDOW),
    "ready": (Task, TASK),
    "refused": (Ladder.refused, WINDOW),
    "reopen": (TaskGraph.reopen, TASK),
    "resume": (Session.resume.__func__, DISK),  # type: ignore[attr-defined] # a class method
    "spool": (spool.spool, WINDOW),
    "state": (render_state, STATE),
    "undo": (Session.undo_pass, WINDOW),
    "words": (user_words.allowances, WINDOW),
}


def source_of(key: str) -> dict[str, object]:
    """Where some code is, and its text. Raises HttpProblem for a key that is not in the list."""
    found, _ = _listed(key)
    lines, first = inspect.getsourcelines(found)
    path = Path(inspect.getfile(found)).relative_to(PACKAGE)
    return {
        "path": f"src/outlive/{path.as_posix()}",
        "line": first,
        "name": found.__qualname__,
        "text": "".join(lines),
    }


def document_of(key: str) -> dict[str, object]:
    """The section of the documentation about some code, as Markdown. Raises HttpProblem as `source_of` does."""
    _, section = _listed(key)
    lines = (DOCS / section.file).read_text(encoding="utf-8").splitlines()
    text, inside, fenced = [], False, False
    for line in lines:
        fenced ^= line.startswith(FENCE)
        if line.startswith(("# ", "## ")) and not fenced:
            inside = line == f"## {section.heading}"
        elif inside:
            text.append(line)
    return {"path": f"docs/{section.file}", "name": section.heading, "text": "\n".join(text).strip()}


def _listed(key: str) -> tuple[Callable[..., object] | type, _Section]:
    if key not in SOURCES:
        raise HttpProblem(404, "there is no such piece of code in the list", code="unknown_source")
    return SOURCES[key]
