"""Budgets while an agent runs: what a session costs is counted before each request, and at the end of the run."""

from outlive.agent.spending import Spending
from outlive.limits import Limit
from outlive.request import Request
from outlive.work.shared.budgets import TaskCosts


class WorkerBudget:
    """What this worker may spend, all its slots together."""

    def __init__(self, dollars: float | None) -> None:
        self.dollars = dollars
        self.spent = 0.0

    def exceeded(self) -> str:
        if self.dollars is None or self.spent < self.dollars:
            return ""
        return f"the budget of this worker of ${self.dollars:.2f} is spent (${self.spent:.2f})"


class SessionCosts(Limit):
    """Counts what one session costs, and ends its run when a budget is spent.

    A session that goes on brings costs of earlier runs along; those are counted already.
    """

    name = "fleet_budget"
    shared = True

    def __init__(self, spending: Spending, costs: TaskCosts, worker: WorkerBudget) -> None:
        self._spending = spending
        self._costs = costs
        self._worker = worker
        self._counted = spending.dollars
        self._requests = spending.requests

    def settle(self) -> tuple[float, int]:
        """Count what is new; returns dollars and requests."""
        dollars, requests = self._spending.dollars - self._counted, self._spending.requests - self._requests
        if requests:
            self._costs.count(dollars, requests)
            self._counted, self._requests = self._spending.dollars, self._spending.requests
            self._worker.spent += dollars
        return dollars, requests

    def before(self, request: Request) -> str:
        return self.spent()

    def spent(self) -> str:
        self.settle()
        return self._worker.exceeded() or self._costs.exceeded(self._spending.dollars)
