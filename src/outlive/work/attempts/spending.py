"""Budgets while an agent runs: what a request is expected to cost is counted before it, and the difference later."""

import threading

from outlive.agent.spending import Spending
from outlive.limits import Limit
from outlive.models.protocol import Price, Usage
from outlive.request import Request
from outlive.work.attempts.held import HeldTask
from outlive.work.shared.budgets import TaskCosts


class SessionCosts(Limit):
    """Counts what one session costs, and ends its run when a budget is spent.

    A session that goes on brings costs of earlier runs along: the record of the task says what was counted of them.
    A request that was sent by a process that died stays counted as expected, for nobody will know more.
    """

    name = "fleet_budget"
    shared = True

    def __init__(self, held: HeldTask) -> None:
        self.spending = Spending()
        """That of the session, once it is open."""
        self._held = held
        self._costs = TaskCosts(held.parts.board, held.id, held.task.labels)
        self._counting = threading.Lock()
        self._sent = 0
        """Requests without an answer yet: sub-agents send them side by side."""
        self._counted = False
        """Whether this process has counted before."""
        self._why = ""

    def before(self, request: Request) -> str:
        return self._why

    def spent(self) -> str:
        return self._why

    def open(self, request: Request, price: Price | None) -> str:
        """Count a request that is about to be sent; returns why it may not be sent, else empty. Blocks."""
        spent = self.spending
        each = spent.dollars / spent.requests if spent.requests else 0.0
        if not each and price is not None:
            each = price.of(Usage(input=request.tokens))
        with self._counting:
            self._why = self._count(each * (self._sent + 1))
            self._sent += not self._why
        return self._why

    def close(self) -> None:
        """Take note that a request was answered, or failed."""
        self._sent -= 1

    def settle(self) -> None:
        """Count what is new, with no request under way. Blocks."""
        with self._counting:
            self._count(0.0)

    def _count(self, expected: float) -> str:
        """Replace what was expected before by what was spent, and expect more unless that is refused."""
        held, spent, counted = self._held, self.spending, self._held.record
        requests = spent.requests - counted.requests
        died_with_it = not self._counted and not requests
        self._counted = True
        dollars, before = spent.dollars - counted.dollars, 0.0 if died_with_it else counted.expected
        broke = held.parts.budget.count(dollars)
        why = self._costs.count(
            dollars - before, requests, expected=0.0 if broke else expected, on_task=spent.dollars
        )
        why = broke or why
        held.write(dollars=spent.dollars, requests=spent.requests, expected=0.0 if why else expected)
        return why
