"""Builds the parts of a worker from a workspace and options."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from outlive.agent.factory import AgentFactory
from outlive.config import Workspace
from outlive.models.protocol import Model
from outlive.stores import open_stores
from outlive.stores.machine import machine_name
from outlive.tasks.graph import TaskGraph
from outlive.work.log_lines import WorkLog
from outlive.work.metrics import Metrics
from outlive.work.parts import WorkerParts
from outlive.work.repository.repository import Repository
from outlive.work.settings import WorkOptions
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.budgets import WorkerBudget
from outlive.work.shared.keys import ConcurrencyKeys
from outlive.work.shared.pace import PacedModel


@contextmanager
def worker_parts(
    workspace: Workspace, options: WorkOptions, log: WorkLog, *, model: Model | None = None
) -> Iterator[WorkerParts]:
    """The parts of a worker; its stores are closed on exit. Raises ConfigError if one of them cannot be used."""
    repository = Repository(workspace.project, branch=options.branch, remote=options.remote)
    with closing(AgentFactory(workspace, options.agent, model=model)) as factory:
        chosen = model or factory.resolve_model()
        with open_stores(**workspace.store) as stores:
            board, metrics = FleetBoard(stores.fleet), Metrics()
            log.observers.append(metrics.saw)
            yield WorkerParts(
                workspace=workspace,
                options=options,
                machine=machine_name(),
                stores=stores,
                graph=TaskGraph(stores.tasks, actor=options.owner),
                board=board,
                logs=stores.logs,
                keys=ConcurrencyKeys(board, options.keys, options.lease),
                repository=repository,
                model=PacedModel(chosen, board),
                budget=WorkerBudget(options.budget),
                log=log,
                metrics=metrics,
            )
