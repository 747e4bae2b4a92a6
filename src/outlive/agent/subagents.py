"""Sub-agents: a fresh context for one job, with its own log, a subset of the tools, and a report at the end."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from outlive.agent.commands.started import SUBAGENT_LABEL
from outlive.agent.runtime import Runtime
from outlive.agent.session import Session
from outlive.agent.spending import Spending
from outlive.events import AssistantSaid, Checkpointed, Event, ModeChanged, UsageReported
from outlive.limits import Limit, Repetition, Thrashing, Turns
from outlive.messages import Text, call_label, tool_calls
from outlive.models.errors import ModelError
from outlive.origin import tagged
from outlive.stores.logs.names import subagent_id
from outlive.stream import StreamEvent, SubagentActed
from outlive.tools.protocol import ToolOutcome

MAX_TURNS = 60  # more than one errand takes; nobody watches a sub-agent
MAX_CONCURRENT = 8
"""Concurrent sub-agents; the rest of a larger batch waits."""
MAIN_AGENT_TOOLS = ("subagent", "add_directive")
"""A sub-agent starts no others. Its prompt has the origin `parent`, so it cannot give standing instructions."""


@dataclass(slots=True)
class Subagents:
    """Starts the sub-agents of one agent. `begin` opens a session with an id."""

    parent: Runtime
    begin: Callable[[str], Session]
    room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT))

    async def __call__(self, prompt: str, *, tools: tuple[str, ...] | None, description: str) -> ToolOutcome:
        async with self.room:
            return await self._run(prompt, tools, description)

    async def _run(self, prompt: str, tools: tuple[str, ...] | None, description: str) -> ToolOutcome:
        session = self.begin(subagent_id(self.parent.session.id))
        link = {"parent": self.parent.session.id, "session": session.id, "description": description}
        self.parent.session.log(Checkpointed, label=SUBAGENT_LABEL, data=link)
        session.log(Checkpointed, label=SUBAGENT_LABEL, data=link)
        session.log(ModeChanged, mode=self.parent.mode)
        parts = self.parent.parts
        box = parts.toolbox.narrowed(tools).without(*MAIN_AGENT_TOOLS)
        child = Runtime(session, replace(parts, toolbox=box, limits=self._limits, mcp=None))
        child.watch(lambda happened: self._pass_on(session.id, happened))
        try:
            ending = await child.ask((Text(tagged("task", prompt), "parent"),))
        except ModelError as error:
            return ToolOutcome(f"[sub-agent {session.id} stopped: {error}]", is_error=True)
        finally:
            self.parent.denied += child.denied
            await child.close()
        about = f"[sub-agent {session.id}: {ending.stop_reason}{f', {ending.detail}' if ending.detail else ''}]"
        return ToolOutcome(f"{about}\n{ending.text}".rstrip(), is_error=ending.stop_reason != "done")

    def _limits(self, spending: Spending) -> list[Limit]:
        """The sub-agent's own turns, within the remaining budget of the parent."""
        shared = [limit for limit in self.parent.limits if limit.shared]
        return [Turns(MAX_TURNS), Repetition(), Thrashing(), *shared]

    def _pass_on(self, session: str, happened: Event | StreamEvent) -> None:
        """Count its spending for the parent, and show its activity."""
        if isinstance(happened, UsageReported):
            self.parent.spending.take(happened)
        elif isinstance(happened, AssistantSaid):
            for call in tool_calls(happened.blocks):
                self.parent.tell(SubagentActed(session, call_label(call)))
