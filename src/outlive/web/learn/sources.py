"""The code that decided an answer of the quiz. Only the functions named here can be read."""

import inspect
from collections.abc import Callable
from pathlib import Path

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
SOURCES: dict[str, Callable[..., object] | type] = {
    "asked": Ladder.asked,
    "cancel": TaskGraph.cancel,
    "claim": TaskGraph.claim,
    "complete": TaskGraph.complete,
    "create": TaskGraph.create_many,
    "cycles": edges.refuse_cycles,
    "fates": player.fates,
    "keeps_front": Compacted,
    "ladder": Ladder.relieve,
    "lease": Lease,
    "may_act": rules.may_act,
    "may_finish": rules.may_finish,
    "may_start": rules.may_start,
    "pages": Page,
    "ready": Task,
    "refused": Ladder.refused,
    "reopen": TaskGraph.reopen,
    "resume": Session.resume.__func__,  # type: ignore[attr-defined] # a class method
    "spool": spool.spool,
    "state": render_state,
    "undo": Session.undo_pass,
    "words": user_words.allowances,
}


def source_of(key: str) -> dict[str, object]:
    """Where some code is, and its text. Raises HttpProblem for a key that is not in the list."""
    if key not in SOURCES:
        raise HttpProblem(404, "there is no such piece of code in the list", code="unknown_source")
    found = SOURCES[key]
    lines, first = inspect.getsourcelines(found)
    path = Path(inspect.getfile(found)).relative_to(PACKAGE)
    return {
        "path": f"src/outlive/{path.as_posix()}",
        "line": first,
        "name": found.__qualname__,
        "text": "".join(lines),
    }
