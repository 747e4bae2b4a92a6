"""Resources and prompts as text."""

import re

from outlive.mcp.backend import Backend
from outlive.mcp.texts import HANDOVER, READY, RESUME, STATE
from outlive.mcp.tools import BUDGET, ready_text, sent, state_text
from outlive.tools.builtin.tasks import list_text
from outlive.tools.errors import ToolError

_PAGE = re.compile(r"outlive://h/([0-9]{1,12})")


def resource_text(uri: str, backend: Backend) -> str:
    if uri == STATE:
        return sent(state_text(backend), backend)
    if uri == READY:
        return sent(ready_text(backend), backend)
    if page := _PAGE.fullmatch(uri):
        return sent(backend.sessions.page(page[1]), backend, exact=True)
    raise ToolError(f"there is no resource {uri[:200]!r}; there are {STATE}, {READY} and outlive://h/12")


def prompt_text(name: str, session: str, backend: Backend) -> str:
    """The prompt, with the open tasks; `resume` also with the hand-over of a session."""
    if name not in ("handover", "resume"):
        raise ToolError(f"there is no prompt {name[:80]!r}; there are handover and resume")
    tasks = f"Tasks of the project:\n{list_text(backend.graph, everything=False, budget=BUDGET)}"
    if name == "handover":
        return sent(HANDOVER.format(tasks=tasks), backend)
    id, handover = backend.sessions.handover(session.strip())
    return sent(RESUME.format(session=id, handover=handover, tasks=tasks), backend)
