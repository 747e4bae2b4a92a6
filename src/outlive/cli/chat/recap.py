"""The header and the recap that are shown when a session opens."""

import time
from pathlib import Path

from rich.console import Group
from rich.table import Table
from rich.text import Text

from outlive.agent.runtime import Runtime
from outlive.cli.chat.render.item import Item
from outlive.cli.chat.render.markdown import Prose
from outlive.cli.chat.words import ago, counted, cut, short_session
from outlive.origin import user_words
from outlive.printable import one_line, some

MAX_SUBJECTS = 3  # of open tasks; the rest is counted
MAX_ANSWER_CHARS = 2000
"""Characters of the last answer that are shown."""


def header(agent: Runtime, version: str) -> Item:
    """Three lines: version and folder; model, mode and session; how to get help."""
    root, home = agent.parts.root, Path.home()
    folder = f"~/{root.relative_to(home)}" if root.is_relative_to(home) and root != home else str(root)
    about = [agent.parts.model.name, f"mode {agent.mode}", f"session {short_session(agent.session.id)}"]
    return Item(
        "block",
        Group(
            Text.assemble(("outlive", "strong"), (f" {version} · ", "quiet"), one_line(folder)),
            Text(" · ".join(map(one_line, about)), "quiet"),
            Text("/help lists the commands · Esc stops · Ctrl-D leaves", "quiet"),
        ),
    )


def recap(agent: Runtime, tasks: list[str], now: float | None = None) -> Item | None:
    """Summarise the state of a resumed session; None for a new one."""
    history = agent.session.engine.history
    if not history.units:
        return None
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="quiet", no_wrap=True)
    rows.add_column(overflow="fold")
    turns = (user_words(unit.blocks) for unit in reversed(history.units) if unit.kind == "user")
    if words := next(filter(None, turns), ""):
        rows.add_row("you", cut(one_line(words), 160))
    if plan := history.state.plan:
        done = sum(step.done for step in plan)
        active = history.state.current_step
        at = f", now: {one_line(plan[active - 1].text)}" if active else ""
        rows.add_row("plan", f"{done} of {counted(len(plan), 'step')} done{at}")
    if tasks:
        rows.add_row("tasks", f"{len(tasks)} open: {some([one_line(task) for task in tasks], MAX_SUBJECTS)}")
    for words in agent.queued:
        rows.add_row("queued", cut(one_line(words), 160))
    if agent.unfinished:
        rows.add_row("", Text("the last run was cut off · /continue goes on with it", "warn"))
    since = ago((now or time.time()) - history.last_time) if history.last_time else ""
    head = f"resumed · {counted(agent.session.last_event, 'event')}" + (f" · {since}" if since else "")
    return Item("block", Group(Text(head, "accent"), rows))


def last_answer(agent: Runtime) -> Item | None:
    """Return the agent's last answer, if it came after the user's last words."""
    for unit in reversed(agent.session.engine.history.units):
        if unit.kind == "user":
            return None
        if words := "\n".join(piece.text for piece in unit.pieces if piece.kind == "said").strip():
            return Item("answer", Prose(words if len(words) <= MAX_ANSWER_CHARS else f"{words[:MAX_ANSWER_CHARS]} …"))
    return None
