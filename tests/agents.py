"""An agent for tests: a real session on disk, a scripted model, tools that are as small as they can be."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from outlive.agent import Session
from outlive.agent.parts import AgentParts
from outlive.agent.runtime import Runtime
from outlive.agent.spending import Spending
from outlive.agent.subagents import Subagents
from outlive.events import Event
from outlive.limits import Limit
from outlive.models.protocol import Model
from outlive.stores import open_stores
from outlive.stream import StreamEvent
from outlive.tasks.graph import TaskGraph
from outlive.tools.permissions.fence import Fence
from outlive.tools.permissions.sandbox import Sandbox
from outlive.tools.protocol import Tool, ToolContext, ToolOutcome
from outlive.tools.runner import HookAnswer, Verdict
from outlive.tools.skills import Skills
from outlive.tools.toolbox import Toolbox

T = TypeVar("T")


class Note(Struct, forbid_unknown_fields=True):
    text: str = ""
    seconds: float = 0.0


class Echo(Tool[Note]):
    name = "echo"
    description = "Say it back."
    input = Note
    parallel = True

    async def run(self, given: Note, context: ToolContext) -> ToolOutcome:
        await asyncio.sleep(given.seconds)
        context.output(context.call_id, given.text)
        return ToolOutcome(f"heard {given.text}")


class Write(Tool[Note]):
    """Appends to a file, alone."""

    name = "write"
    description = "Write it down."
    input = Note
    effect = "edit"

    async def run(self, given: Note, context: ToolContext) -> ToolOutcome:
        with (context.root / "written.txt").open("a") as file:
            file.write(given.text + "\n")
        await asyncio.sleep(given.seconds)
        return ToolOutcome("written")


class Crash(Tool[Note]):
    name = "crash"
    description = "A tool with a bug."
    input = Note

    async def run(self, given: Note, context: ToolContext) -> ToolOutcome:
        raise RuntimeError("boom")


class Compact(Tool[Note]):
    name = "compact"
    description = "Compact."
    input = Note

    async def run(self, given: Note, context: ToolContext) -> ToolOutcome:
        context.session.ask_to_compact(given.text)
        return ToolOutcome("a pass follows")


class Job(Struct, forbid_unknown_fields=True):
    prompt: str
    tools: list[str] | None = None


class Send(Tool[Job]):
    name = "subagent"
    description = "Send somebody."
    input = Job
    parallel = True

    async def run(self, given: Job, context: ToolContext) -> ToolOutcome:
        assert context.subagent is not None
        tools = None if given.tools is None else tuple(given.tools)
        return await context.subagent(given.prompt, tools=tools, description="job")


class Open:
    """A gate that lets all through, but for the tools named."""

    def __init__(self, *closed: str) -> None:
        self.closed = closed

    async def allows(self, tool: Tool[Any], given: Struct, context: ToolContext) -> Verdict:
        return Verdict(tool.name not in self.closed, "the user said no")


class HooksOf:
    """Hooks that answer by event, and remember what they were told."""

    def __init__(self, **answers: HookAnswer) -> None:
        self.answers = answers
        self.fired: list[tuple[str, dict[str, Any]]] = []

    async def fire(self, event: str, **about: Any) -> HookAnswer:
        self.fired.append((event, about))
        return self.answers.get(event, HookAnswer())


def make_agent(
    folder: Path,
    model: Model,
    *,
    session: str = "s",
    resume: bool = False,
    tools: Iterable[Tool[Any]] | None = None,
    gate: Open | None = None,
    hooks: HooksOf | None = None,
    limits: Callable[[Spending], Sequence[Limit]] = lambda spending: (),
    system: Callable[[], str] = lambda: "Be brief.",
    window: int = 200_000,
    **more: Any,
) -> tuple[Runtime, list[Event | StreamEvent]]:
    """An agent in `folder`, and the list that fills with what it does."""
    url = f"files:{folder}/.tasks"
    store = open_stores(url, durability="process").logs
    if resume:
        opened = Session.resume(store, session, window=window, **more)
        opened.settle()
    else:
        opened = Session.start(store, id=session, system=system(), window=window, folder=str(folder), **more)
    box = Toolbox(tools if tools is not None else [Echo(), Write(), Crash(), Compact(), Send()])
    parts = AgentParts(
        root=folder,
        model=model,
        toolbox=box,
        graph=TaskGraph(open_stores(url, durability="process").tasks),
        fence=Fence(folder),
        sandbox=Sandbox.__new__(Sandbox),
        skills=Skills.__new__(Skills),
        gate=gate or Open(),
        hooks=hooks or HooksOf(),
        system=system,
        limits=limits,
    )
    agent = Runtime(opened, parts)
    agent.context.subagent = Subagents(agent, lambda id: Session.start(store, id=id, system=system(), window=window))
    seen: list[Event | StreamEvent] = []
    agent.watch(seen.append)
    return agent, seen


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)
