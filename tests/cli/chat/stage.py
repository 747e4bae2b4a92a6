"""An agent to talk with, without an API: a scripted model that streams, and tools that are quick to write."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from outlive.agent.parts import AgentParts
from outlive.agent.runtime import Runtime
from outlive.agent.session import Session
from outlive.cli.chat.picker.catalog import CatalogEntry
from outlive.cli.chat.preferences import preferences
from outlive.cli.chat.talk import ChatSetup, OpenAgent
from outlive.events import PlanChanged, PlanStep
from outlive.messages import Thinking, ToolCall
from outlive.models.protocol import Model, Price, Reply
from outlive.request import Request
from outlive.stores import open_stores
from outlive.stores.logs.protocol import LogStore
from outlive.stream import ModelStreamEvent, TextDelta, ThinkingDelta, ToolCallStreaming
from outlive.tasks.graph import TaskGraph
from outlive.testing.scripted import ScriptedModel, Turn
from outlive.tools.permissions.asking import Asker, PermissionQuestion
from outlive.tools.permissions.fence import Fence
from outlive.tools.permissions.sandbox import Sandbox
from outlive.tools.protocol import Tool, ToolContext, ToolOutcome
from outlive.tools.runner import HookAnswer, Verdict
from outlive.tools.skills import Skills
from outlive.tools.toolbox import Toolbox


class StreamedModel(ScriptedModel):
    """Plays its script a few letters at a time, with a pause between."""

    price = Price(3.0, 3.75, 0.3, 15.0)

    def __init__(self, turns: Iterable[Turn], *, pause: float = 0.0, letters: int = 7, **options: Any) -> None:
        super().__init__(turns, **options)
        self.pause = pause
        self.letters = letters

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        async for piece in super().stream(request):
            if isinstance(piece, TextDelta):
                for start in range(0, len(piece.text), self.letters):
                    await asyncio.sleep(self.pause)
                    yield TextDelta(piece.text[start : start + self.letters])
                continue
            if isinstance(piece, Reply):
                for block in piece.blocks:
                    if isinstance(block, Thinking):
                        yield ThinkingDelta(block.text)
                    elif isinstance(block, ToolCall):
                        yield ToolCallStreaming(block.name)
                    await asyncio.sleep(self.pause * 10)
            yield piece


class BashInput(Struct, forbid_unknown_fields=True):
    command: str


class Bash(Tool[BashInput]):
    name = "bash"
    description = "Run a command."
    input = BashInput
    effect: Literal["run"] = "run"
    parallel = True

    async def run(self, given: BashInput, context: ToolContext) -> ToolOutcome:
        process = await asyncio.create_subprocess_shell(
            given.command,
            cwd=context.root,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        text = ""
        try:
            assert process.stdout is not None
            async for line in process.stdout:
                text += line.decode("utf-8", "replace")
                context.output(context.call_id, line.decode("utf-8", "replace"))
            code = await process.wait()
        except asyncio.CancelledError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.communicate()
            raise
        return ToolOutcome(text, is_error=bool(code), exit_code=code)


class EditInput(Struct, forbid_unknown_fields=True):
    path: str
    old_text: str
    new_text: str


class Edit(Tool[EditInput]):
    name = "edit_file"
    description = "Change a file."
    input = EditInput
    effect: Literal["edit"] = "edit"

    async def run(self, given: EditInput, context: ToolContext) -> ToolOutcome:
        path = context.root / given.path
        path.write_text(path.read_text().replace(given.old_text, given.new_text))
        return ToolOutcome(f"edited {given.path}")


class PlanInput(Struct, forbid_unknown_fields=True):
    steps: list[str]
    current: int = 0


class Plan(Tool[PlanInput]):
    name = "update_plan"
    description = "Set the plan."
    input = PlanInput
    effect: Literal["state"] = "state"

    async def run(self, given: PlanInput, context: ToolContext) -> ToolOutcome:
        context.session.log(PlanChanged, steps=tuple(map(PlanStep, given.steps)), current_step=given.current)
        return ToolOutcome("ok")


class AskingGate:
    """Asks the user before edits and commands, in mode `ask`."""

    def __init__(self, ask: Asker, previews: dict[str, str] | None = None) -> None:
        self.ask = ask
        self.asks = True
        self.previews = previews or {}

    async def allows(self, tool: Tool[Any], given: Struct, context: ToolContext) -> Verdict:
        if not self.asks or tool.effect not in ("edit", "run"):
            return Verdict(True)
        subject = str(getattr(given, "command", getattr(given, "path", "")))
        answer = await self.ask(
            PermissionQuestion(tool.name, subject, self.previews.get(tool.name, ""), (f"{tool.name}({subject}*)",))
        )
        return Verdict(answer.choice != "no", f"the user said no: {answer.why}")


class NoHooks:
    async def fire(self, event: str, **about: Any) -> HookAnswer:
        return HookAnswer()


class Stage:
    """A project folder with a store, and agents that play scripts in it."""

    def __init__(self, root: Path, *, asks: bool = False, window: int = 200_000, pause: float = 0.0) -> None:
        self.root = root
        self.asks = asks
        self.window = window
        self.pause = pause
        self.store: LogStore = open_stores(f"files:{root / '.tasks'}", base=root).logs
        self.graph = TaskGraph(open_stores(f"files:{root / '.tasks'}").tasks)
        self.turns: list[Turn] = []
        self.tools: list[Tool[Any]] = [Bash(), Edit(), Plan()]
        self.previews: dict[str, str] = {}
        self.opened: list[Runtime] = []
        self.catalog: list[CatalogEntry] = []

    def open(self, session: str | None, ask: Asker) -> Runtime:
        model = StreamedModel(self.turns, pause=self.pause, window=self.window, name="scripted:sonnet")
        gate = AskingGate(ask, self.previews)
        gate.asks = self.asks
        parts = AgentParts(
            root=self.root,
            model=model,
            toolbox=Toolbox(self.tools),
            graph=self.graph,
            fence=Fence(self.root),
            sandbox=Sandbox(self.root),
            skills=Skills(self.root),
            gate=gate,
            hooks=NoHooks(),
            system=lambda: "You are a careful engineer.",
            limits=lambda spending: (),
        )
        found = (
            Session.resume(self.store, session, window=self.window)
            if session
            else Session.start(self.store, model=model.name, window=self.window)
        )
        agent = Runtime(found, parts)
        if not session:
            agent.set_mode("ask")
        self.opened.append(agent)
        return agent

    def choose(self, spec: str) -> Model:
        return StreamedModel(self.turns, pause=self.pause, window=self.window, name=spec)

    @property
    def opener(self) -> OpenAgent:
        return self.open

    def around(self, **more: Any) -> ChatSetup:
        return ChatSetup(self.open, self.store, self.root, "9.9.9", **more)


def act(stage: Stage, *, session: str | None = None, terminal: Mapping[str, Any] | None = None) -> None:
    """Run the terminal on a stage, in a process of its own; `terminal` are its settings."""
    from outlive.cli.chat import chat

    sys.exit(
        chat(
            stage.open,
            store=stage.store,
            root=stage.root,
            session=session,
            choose=stage.choose,
            catalog=lambda: stage.catalog,
            preferences=preferences(terminal or {}),
        )
    )


Scene = Callable[[Path], Stage]
