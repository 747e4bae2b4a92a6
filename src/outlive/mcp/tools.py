"""The answers of the six tools. None of them changes mode, trust or instructions."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from msgspec import UNSET

from outlive.errors import OutliveError
from outlive.mcp.backend import Backend
from outlive.mcp.calls import TOOLS, MemorySearchCall, RecallCall, RememberCall, StateCall, TasksCall, WorkCall
from outlive.mcp.texts import told
from outlive.messages import Image
from outlive.printable import clean, encodable
from outlive.secrets import mask
from outlive.stores.tasks.records import Task
from outlive.tasks import rules
from outlive.tasks.listing import fits, listing
from outlive.tasks.refs import Ref
from outlive.tools.builtin.task_context import LEASE_DURATION, one_line
from outlive.tools.builtin.tasks import completed_text, list_text, task_text
from outlive.tools.errors import ToolError
from outlive.tools.schema import checked_input

BUDGET = 2_000
"""Tokens of a list of tasks."""
MINUTES = round(LEASE_DURATION.total_seconds() / 60)


class CallAnswer(NamedTuple):
    """What a call returns."""

    text: str
    is_error: bool = False
    image: Image | None = None


def recall(given: RecallCall, backend: Backend) -> CallAnswer:
    handle, query = given.handle.strip(), given.query.strip()
    if not handle and not query:
        raise ToolError("give a handle, such as @h12, or a query to search for")
    text, image = backend.sessions.recall(handle, query, given.session.strip(), given.page)
    return CallAnswer(text, image=image)


def tasks(given: TasksCall, backend: Backend) -> CallAnswer:
    graph = backend.graph
    match given.action:
        case "list":
            return CallAnswer(list_text(graph, everything=given.all, budget=BUDGET))
        case "ready":
            return CallAnswer(ready_text(backend))
        case "get":
            return CallAnswer(task_text(graph.get(_id(given.id, "get"))))
        case "create":
            subject = "" if given.subject is UNSET else given.subject
            made = graph.create(subject, blocked_by=given.add_blocked_by, blocks=given.add_blocks, **_fields(given))
            return CallAnswer(f"created {one_line(graph.get(made.id))}")
        case "update":
            return CallAnswer(f"updated {one_line(_updated(given, backend))}")


def ready_text(backend: Backend) -> str:
    """What can be started now, within a token budget."""
    found = backend.graph.ready(limit=fits(BUDGET))
    return listing(found, total=len(found), budget=BUDGET) or "nothing is ready"


def _fields(given: TasksCall) -> dict[str, Any]:
    found = {name: getattr(given, name) for name in ("description", "priority", "labels")}
    return {name: value for name, value in found.items() if value is not UNSET}


def _updated(given: TasksCall, backend: Backend) -> Task:
    edges = ("add_blocked_by", "add_blocks", "remove_blocked_by")
    fields = _fields(given) | {name: refs for name in edges if (refs := getattr(given, name))}
    fields |= {} if given.subject is UNSET else {"subject": given.subject}
    task = backend.graph.get(_id(given.id, "update"))
    if given.status == "in_progress":
        raise ToolError("to start a task, claim it: work with action=claim")
    if given.status is not UNSET:
        holder = backend.owner(claiming=False)
        rules.may_act(task, owner=holder, token=backend.tokens.get(task.id), verb=f"make {given.status}")
        fields["status"] = given.status
    if not fields:
        raise ToolError("nothing to change: give a subject, a description, a status or dependencies")
    changed = backend.graph.update(task.id, **fields)
    if changed.lease is None:
        backend.tokens.pop(task.id, None)
    return backend.graph.get(changed.id)


def _id(given: Ref | None, action: str) -> Ref:
    if given is None:
        raise ToolError(f"{action} needs the id of a task", hint="tasks with action=list shows them")
    return given


def work(given: WorkCall, backend: Backend) -> CallAnswer:
    if given.action == "claim":
        return CallAnswer(_claimed(given, backend))
    graph = backend.graph
    number = graph.get(_id(given.id, given.action)).id
    proof: dict[str, Any] = {"token": given.token}
    if given.token is None:
        proof = {"owner": backend.owner(claiming=False), "token": backend.tokens.get(number)}
    match given.action:
        case "heartbeat":
            task = graph.heartbeat(number, ttl=LEASE_DURATION, **proof)
            return CallAnswer(f"it is yours for another {MINUTES} minutes: {one_line(task)}")
        case "complete":
            text = completed_text(graph.complete(number, result=given.result, **proof))
        case "release":
            text = f"released {one_line(graph.release(number, **proof))}"
    backend.tokens.pop(number, None)
    return CallAnswer(text)


def _claimed(given: WorkCall, backend: Backend) -> str:
    graph = backend.graph
    wanted = None if given.id is None else graph.get(given.id)
    lease = wanted.lease if wanted else None
    if wanted and lease and lease.token in (given.token, backend.tokens.get(wanted.id)):
        task, how = (
            graph.heartbeat(wanted.id, token=lease.token, ttl=LEASE_DURATION),
            "it is yours already, for another",
        )
    else:
        number = wanted.id if wanted else None
        task, how = graph.claim(number, owner=backend.owner(claiming=True), ttl=LEASE_DURATION), "claimed, for"
    token = task.lease.token if task.lease else 0
    backend.holds(task.id, token)
    text = f"{how} {MINUTES} minutes (token {token}): {one_line(task)}"
    return f"{text}\n{task.description}" if task.description else text


def remember(given: RememberCall, backend: Backend) -> CallAnswer:
    """Store a memory as the model's reading: without a log it cannot be checked whether the user said it."""
    from outlive.memory.learning.candidate import Candidate, short_name
    from outlive.memory.learning.keep import keep
    from outlive.stores.memories.records import Provenance

    text = given.text.strip()
    candidate = Candidate(
        name=given.name.strip() or short_name(text), body=text, description=text[:200], provenance=Provenance("model")
    )
    return CallAnswer(keep(candidate, backend.memories, backend.finder))


def memory_search(given: MemorySearchCall, backend: Backend) -> CallAnswer:
    from outlive.memory.search import found_text

    text = found_text(backend.finder, given.query, given.limit)
    if untrusted := len(backend.memories.untrusted()):
        text += f"\n(memories that came with this folder: {untrusted}, not shown before the user runs: outlive trust)"
    return CallAnswer(text)


def state(given: StateCall, backend: Backend) -> CallAnswer:
    return CallAnswer(state_text(backend, given.session.strip()))


def state_text(backend: Backend, session: str = "") -> str:
    """The working state of a session, and the ready tasks of the project."""
    try:
        about = backend.sessions.state(session)
    except OutliveError as error:
        if error.code != "no_sessions":
            raise
        about = error.message
    return f"{about}\nReady tasks:\n{ready_text(backend)}"


ANSWERS: dict[str, Callable[[Any, Backend], CallAnswer]] = {
    "recall": recall,
    "tasks": tasks,
    "work": work,
    "remember": remember,
    "memory_search": memory_search,
    "state": state,
}


def call(name: str, arguments: Mapping[str, Any] | None, backend: Backend) -> CallAnswer:
    """Run a tool. Bad input is answered, not raised."""
    tool = TOOLS.get(name)
    try:
        if tool is None:
            raise ToolError(f"there is no tool {name[:80]!r}; the tools are: {', '.join(TOOLS)}")
        given = checked_input(name, tool.input, arguments or {}, tool.longest)
        answer = ANSWERS[name](given, backend)
        return answer._replace(text=sent(answer.text, backend, exact=name == "recall"))
    except Exception as error:  # noqa: BLE001 - a client gets a message, never a traceback
        return CallAnswer(failure(name, error), is_error=True)


def sent(text: str, backend: Backend, *, exact: bool = False) -> str:
    """The text for the client: secrets are masked, and terminal controls removed unless the text was recalled."""
    text = backend.mask(text)
    return encodable(text) if exact else clean(text)


def failure(what: str, error: Exception) -> str:
    """An error in one sentence, with the way out."""
    if isinstance(error, OutliveError):
        text = told(error)
    elif isinstance(error, OSError):
        text = f"{what}: {error.strerror or error}" + (f": {error.filename}" if error.filename else "")
    else:
        text = f"{what} failed inside: {type(error).__name__}; this is a bug of outlive"
    return clean(mask(text))
