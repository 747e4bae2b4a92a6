"""Opens the agent of a task: its session, in its worktree, with the tools and limits of the fleet."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec.structs import replace as with_fields

from outlive.agent.factory import AgentFactory
from outlive.agent.runtime import Runtime
from outlive.agent.spending import Spending
from outlive.config import Workspace
from outlive.limits import Limit
from outlive.messages import Text
from outlive.origin import tagged
from outlive.result import RunResult
from outlive.stores.logs.protocol import UnknownSession
from outlive.work.attempts.held import HeldTask
from outlive.work.attempts.keeping import KeepingHooks, WorkInProgress
from outlive.work.attempts.model import AttemptModel
from outlive.work.attempts.spending import SessionCosts
from outlive.work.attempts.tools import WORKERS_ONLY, AskPerson, PartsGraph


@dataclass(slots=True)
class TaskAgent:
    """The agent that works on a task."""

    runtime: Runtime
    factory: AgentFactory
    person: AskPerson
    costs: SessionCosts
    is_new: bool
    """Whether its session is still empty."""

    async def say(self, words: str) -> RunResult:
        """Run to the end of the turn; with empty `words`, continue where the last run stopped.

        The words do not count as the user's: an agent may have created the task, or it came with a cloned folder.
        """
        self.person.question = ""
        if not words:
            return await self.runtime.go_on()
        return await self.runtime.ask((Text(tagged("task", f"\n{words}\n"), "parent"),))

    @asynccontextmanager
    async def closing(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            try:
                await self.runtime.close()
            finally:
                await asyncio.to_thread(self.factory.close)


def open_agent(held: HeldTask, keeping: WorkInProgress, root: Path) -> TaskAgent:
    """Open the agent in the session of the task: a new one, or the existing one, taken over. Blocks."""
    parts, options, session = held.parts, held.parts.options, held.record.session
    ours = parts.workspace
    workspace = Workspace.read(
        root, store=ours.store_url, project=ours.project, linked=f"a worktree of {ours.project}"
    )
    person, costs = AskPerson(held), SessionCosts(held)
    deny = (*options.agent.deny, *WORKERS_ONLY)
    factory = AgentFactory(
        workspace,
        with_fields(options.agent, deny=deny),
        model=AttemptModel(parts.model, keeping, costs),
        tools=[person],
        stores=parts.stores,
    )
    try:
        factory.settings = replace(factory.settings, agent={**factory.settings.agent, "checkpoints": False})
        factory.graph = PartsGraph(factory.graph, parts.board, held.task, options.split)
        try:
            factory.logs.info(session)
            runtime = factory.open(session, take_over=True)
        except UnknownSession:
            runtime = factory.open(begin=session)
    except BaseException:
        factory.close()
        raise
    runtime.watch(keeping.saw)
    costs.spending = runtime.spending
    usual = runtime.parts.limits

    def limits(spending: Spending) -> Sequence[Limit]:
        return [*usual(spending), costs]

    hooks = KeepingHooks(runtime.parts.hooks, keeping, runtime.parts.toolbox)
    runtime.parts = replace(runtime.parts, limits=limits, hooks=hooks)
    return TaskAgent(runtime, factory, person, costs, is_new=not runtime.session.engine.history.units)
