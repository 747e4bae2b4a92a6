"""A tool context with real parts in a folder of its own, and calls that go the way a model's calls go."""

import asyncio
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from msgspec import Struct

from outlive.agent import Session
from outlive.agent.recall import search
from outlive.agent.tool_session import SessionAdapter
from outlive.context.passes.pinning import Kept
from outlive.errors import OutliveError
from outlive.events import KnownEvent
from outlive.messages import Image, Text, ToolCall
from outlive.state import WorkingState
from outlive.stores import open_stores
from outlive.tasks.graph import TaskGraph
from outlive.tools.builtin.standard import standard_tools
from outlive.tools.files.read_tracker import ReadTracker
from outlive.tools.permissions.fence import Fence
from outlive.tools.permissions.sandbox import Sandbox
from outlive.tools.processes.session_commands import Processes
from outlive.tools.protocol import Tool, ToolContext, ToolOutcome
from outlive.tools.runner import HookAnswer, Runner, Verdict
from outlive.tools.skills import Skills
from outlive.tools.toolbox import Toolbox

E_ = TypeVar("E_", bound=KnownEvent)


class RecordingSession:
    """A real session that records what tools ask of it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.said: list[str] = []
        self.asked_to_compact: list[str] = []

    @property
    def id(self) -> str:
        return self.session.id

    @property
    def state(self) -> WorkingState:
        return self.session.state

    def log(self, kind: type[E_], /, **fields: Any) -> E_:
        return self.session.log(kind, **fields)

    def recall(self, handle: str) -> tuple[str, tuple[Image, ...]]:
        return self.session.engine.history.pages.get(handle).text, ()

    def search(self, query: str, limit: int = 10) -> str:
        hits = itertools.islice(search(self.id, self.session.engine.history.pages, query), limit)
        return "\n".join(f"{hit.handle} {hit.what}: {hit.text}" for hit in hits)

    def user_words(self) -> Iterable[str]:
        return reversed(self.said)

    def keep(self, refs: Iterable[str], let_go: Iterable[str]) -> None:
        SessionAdapter(self.session, self.ask_to_compact).keep(refs, let_go)

    def kept(self) -> tuple[tuple[Kept, ...], int]:
        return SessionAdapter(self.session, self.ask_to_compact).kept()

    def ask_to_compact(self, focus: str) -> None:
        self.asked_to_compact.append(focus)


class Open:
    """A gate that lets everything through, after it has looked at the preview as one that asks would."""

    def __init__(self) -> None:
        self.previews: list[str] = []

    async def allows(self, tool: Tool[Any], given: Struct, context: ToolContext) -> Verdict:
        self.previews.append(tool.preview(given, context))
        return Verdict(True)


class NoHooks:
    async def fire(self, event: str, **about: Any) -> HookAnswer:
        return HookAnswer()


class Workbench:
    """Call tools with `call`; close it when done."""

    def __init__(self, root: Path, *, session: str = "s", owner: str = "agent") -> None:
        root.mkdir(exist_ok=True)
        self.root = root.resolve()
        place = {"base": self.root, "durability": "process"}
        self.logs = open_stores(**place).logs  # type: ignore[arg-type]
        self.tasks = open_stores(**place).tasks  # type: ignore[arg-type]
        try:
            self.session = Session.resume(self.logs, session)
        except OutliveError:
            self.session = Session.start(self.logs, id=session)
        self.tool_session = RecordingSession(self.session)
        self.graph = TaskGraph(self.tasks, actor="tester")
        self.streamed: list[tuple[str, str]] = []
        self.context = ToolContext(
            root=self.root,
            session=self.tool_session,
            graph=self.graph,
            fence=Fence(self.root),
            read_tracker=ReadTracker(),
            processes=Processes(),
            sandbox=Sandbox(self.root),
            skills=Skills(self.root),
            output=lambda call, text: self.streamed.append((call, text)),
            owner=owner,
        )
        self._own = uuid4().hex
        self.gate = Open()
        self.toolbox = Toolbox(standard_tools())
        self.runner = Runner(self.toolbox, self.context, self.gate, NoHooks())

    def user(self, words: str) -> None:
        self.tool_session.said.append(words)
        self.session.user_said((Text(words),))

    def call_id(self, name: str) -> str:
        """A command is known by session and call: with the same ones another test would end it."""
        return f"call_{name}_{self._own}"

    async def acall(self, name: str, /, **given: Any) -> ToolOutcome:
        outcome, _ = await self.runner.run(ToolCall(self.call_id(name), name, given))
        return outcome

    def call(self, name: str, /, **given: Any) -> ToolOutcome:
        """The outcome, which is no error."""
        outcome = self.any(name, **given)
        assert not outcome.is_error, outcome.text
        return outcome

    def refused(self, name: str, /, **given: Any) -> str:
        """The words of the refusal."""
        outcome = self.any(name, **given)
        assert outcome.is_error, outcome.text
        assert "failed inside" not in outcome.text, outcome.text
        return outcome.text

    def any(self, name: str, /, **given: Any) -> ToolOutcome:
        return asyncio.run(self.acall(name, **given))

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def close(self) -> None:
        self.context.processes.close()
        self.session.close()
        self.logs.close()
        self.tasks.close()
