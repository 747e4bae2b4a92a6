"""Budgets while an agent runs: what a session costs is counted before each request, and at the end of the run."""

from outlive.agent.spending import Spending
from outlive.limits import Limit
from outlive.request import Request
from outlive.work.attempts.held import HeldTask
from outlive.work.shared.budgets import TaskCosts


class SessionCosts(Limit):
    """Counts what one session costs, and ends its run when a budget is spent.

    A session that goes on brings costs of earlier runs along. What was counted of them is in the record of the task,
    and the rest, of a process that died, is counted now.
    """

    name = "fleet_budget"
    shared = True

    def __init__(self, spending: Spending, held: HeldTask) -> None:
        self._spending = spending
        self._held = held
        self._costs = TaskCosts(held.parts.board, held.id, held.task.labels)
        self._worker = held.parts.budget

    def settle(self) -> None:
        """Count what is new."""
        counted, spent = self._held.record, self._spending
        dollars, requests = spent.dollars - counted.dollars, spent.requests - counted.requests
        if requests > 0:
            self._costs.count(dollars, requests)
            self._worker.spent += dollars
            self._held.write(dollars=spent.dollars, requests=spent.requests)

    def before(self, request: Request) -> str:
        return self.spent()

    def spent(self) -> str:
        self.settle()
        return self._worker.exceeded() or self._costs.exceeded(self._spending.dollars)
