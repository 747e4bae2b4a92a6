"""Plays the recorded session into a real log, and tells what is in the window at any moment."""

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import msgspec
from msgspec import Struct

from outlive.agent.log.session_log import SessionOptions
from outlive.agent.policies import policy_named
from outlive.agent.session import Session
from outlive.context.engine import Engine
from outlive.context.errors import FloorError
from outlive.context.log.pages import handle, visible_pages
from outlive.events import Compacted, OpenTask, TasksSeen
from outlive.messages import Message, Text, ToolCall, ToolResult
from outlive.stores import open_stores
from outlive.stores.tasks.protocol import TaskQuery
from outlive.tasks.graph import TaskGraph
from outlive.web.learn import recording

SECONDS_A_STEP = 5.0  # of the recorded clock, at each look, so that times in the log look real
BEGAN = 1_790_000_000.0
"""The clock of the recording. A fixed one, so that a session is the same each time it is played."""
EVERYTHING = TaskQuery(sort="id")


class Moment(Struct, frozen=True):
    """One request of the session: what filled it, and the passes that were made for it."""

    tokens: int
    kinds: dict[str, int]
    passes: tuple[Compacted, ...]


class Fact(Struct, frozen=True):
    """A text whose fate the lesson follows."""

    key: str
    what: str
    text: str


FACTS = (
    Fact("asked", "What you asked, word for word", recording.ASKED),
    Fact("rule", "Your standing instruction", recording.RULE),
    Fact("later", "What you said on the way", recording.LATER_WORDS),
    Fact("todo", "The to-do list in the agent's words", f"- [ ] {recording.TODO[3]}"),
    Fact("tick", "… and that its third item is done", f"- [x] {recording.TODO[2]}"),
    Fact("decision", "A decision in the agent's words", recording.DECISION),
    Fact("detail", "One line of a file, read early", recording.DETAIL),
    Fact("tasks", "The open tasks", f"#4 {recording.TODO[3]} [pending]"),
    Fact("log", "One line in the middle of a large log", recording.LOG_LINE),
)


def ticking(last: float = BEGAN) -> Callable[[], float]:
    """A clock that goes on by a few seconds with each look."""
    ticks = count(1)
    return lambda: last + SECONDS_A_STEP * next(ticks)


def play(session: Session, graph: TaskGraph, turns: Iterable[recording.Turn]) -> tuple[list[Moment], str]:
    """Play turns; returns each request, and why the session could not go on, or nothing."""
    moments: list[Moment] = []
    for number, turn in enumerate(turns):
        if turn.by_user:
            session.user_said(turn.words)
            continue
        try:
            request = session.next_request()
        except FloorError as error:
            return moments, str(error)
        moments.append(Moment(request.tokens, session.engine.kinds(), request.passes))
        calls = tuple(
            ToolCall(f"call_{session.last_event}_{number}_{at}", call.tool, dict(call.input))
            for at, call in enumerate(turn.calls)
        )
        session.assistant_said((Text(turn.words), *calls))
        for call, recorded in zip(calls, turn.calls, strict=True):
            session.tool_finished(call.id, recorded.result or _really(graph, recorded))
        if any(call.tool.startswith("task_") for call in turn.calls):
            see_tasks(session, graph)
    return moments, ""


@contextmanager
def played(window: int, policy: str) -> Iterator[Session]:
    """The whole recording, played at a window in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="outlive-learn-") as folder:
        options: SessionOptions = {"window": window, "policy": policy_named(policy), "clock": ticking()}
        stores = open_stores("files:.tasks", base=Path(folder), durability="process")
        with stores, Session.start(stores.logs, system=recording.SYSTEM, **options) as session:
            play(session, TaskGraph(stores.tasks, actor="agent"), recording.turns())
            yield session


def see_tasks(session: Session, graph: TaskGraph) -> None:
    """Log the tasks as they are on disk, as a session does after each call of a task tool."""
    tasks = graph.find(EVERYTHING)
    opened = tuple(OpenTask(task.id, task.subject, task.status) for task in tasks if not task.finished)
    done = tuple(task.id for task in tasks if task.status == "completed")
    if (opened, done) != (session.state.tasks, session.state.tasks_done):
        session.log(TasksSeen, tasks=opened, done=done)


def _really(graph: TaskGraph, call: recording.RecordedCall) -> str:
    """Carry out a call of a task tool."""
    if call.tool == "task_create":
        needs = call.input["blockedBy"]
        assert isinstance(needs, list)  # noqa: S101 - our own recording
        return f"created #{graph.create(str(call.input['subject']), blocked_by=needs).id}"
    if call.tool == "task_complete":
        done = graph.complete(int(str(call.input["task_id"])))
        ready = ", ".join(f"#{task.id}" for task in done.unblocked) or "nothing new"
        return f"completed #{done.task.id}; now ready: {ready}"
    rows = [f"#{task.id} {task.subject} [{task.status}]" for task in graph.find(EVERYTHING)]
    return "\n".join(rows)


# -- what is in the window


def texts(messages: Iterable[Message]) -> list[str]:
    """The texts of a request, in order."""
    blocks = (block for message in messages for block in message.blocks)
    return [block.text for block in blocks if isinstance(block, Text | ToolResult)]


def window_text(engine: Engine) -> str:
    """All that a model would read now, with the state block if one is due. Makes no pass."""
    return "\n".join([*texts(engine.shown()), engine.state_due()[0]])


def digest_of(engine: Engine) -> str:
    """SHA-256 of everything that a model would be sent."""
    request = engine.live_request()
    return hashlib.sha256(msgspec.json.encode([request.system, request.messages])).hexdigest()


def fates(engine: Engine) -> list[dict[str, object]]:
    """Each fact and where it is: in the `window`, behind a `handle` that the window shows, in the `log` alone (found
    by a search), or `unsaid`."""
    shown = window_text(engine)
    visible = visible_pages(shown)
    told: list[dict[str, object]] = []
    for fact in FACTS:
        pages = [page.number for page in engine.history.pages if fact.text in page.text]
        left = "handle" if visible.intersection(pages) else "log" if pages else "unsaid"
        where = "window" if fact.text in shown else left
        handles = [handle(number) for number in pages]
        told.append({"key": fact.key, "what": fact.what, "text": fact.text, "where": where, "handles": handles})
    return told


def todo_seen(engine: Engine) -> list[dict[str, object]]:
    """The items of the to-do list as a model reads them in its conversation: ticked, open, or not there any more."""
    shown = window_text(engine)
    marks = {"x": True, " ": False}
    items: list[dict[str, object]] = []
    for text in recording.TODO:
        found = {done: shown.rfind(f"- [{mark}] {text}") for mark, done in marks.items()}
        newest = max(found, key=lambda done: found[done])
        items.append({"text": text, "done": newest if found[newest] >= 0 else None})
    return items
