"""What a worker is made of, shared by its attempts."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from outlive.config import Workspace
from outlive.models.protocol import Model
from outlive.stores import Stores
from outlive.stores.logs.protocol import LogStore
from outlive.tasks.graph import TaskGraph
from outlive.work.log_lines import WorkLog
from outlive.work.metrics import Metrics
from outlive.work.repository.repository import Repository
from outlive.work.settings import WorkOptions
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.budgets import WorkerBudget
from outlive.work.shared.keys import ConcurrencyKeys

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """The parts of one worker."""

    workspace: Workspace
    options: WorkOptions
    machine: str
    stores: Stores
    """Shared by all attempts: each thread has one connection to it."""
    graph: TaskGraph
    board: FleetBoard
    logs: LogStore
    keys: ConcurrencyKeys
    repository: Repository
    model: Model
    budget: WorkerBudget
    log: WorkLog
    metrics: Metrics

    @property
    def needs_bundles(self) -> bool:
        """Whether work in progress can only reach other machines through the store."""
        return not self.repository.remote and self.workspace.store_url.startswith("postgres")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking function in a thread. If we are cancelled meanwhile, its end is awaited first."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise
