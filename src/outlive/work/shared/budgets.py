"""What the fleet has spent and what it may spend: counted and checked in one step before each request."""

import threading
from collections.abc import Collection
from datetime import datetime

from msgspec.structs import replace

from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import DailySpending, FleetBudget

KINDS = ("day", "total", "task")
"""Budgets besides `task:ID` and `label:NAME`: of each day, of all days, and of each task."""


_LABEL = "label:"


class TaskCosts:
    """What one task costs the fleet."""

    def __init__(self, board: FleetBoard, task: int, labels: Collection[str]) -> None:
        self._board = board
        self._task = task
        self._labels = tuple(labels)

    def count(self, dollars: float, requests: int = 0, *, expected: float = 0.0, on_task: float = 0.0) -> str:
        """Count what was spent, and what is expected of the next request unless a budget is spent; says which."""
        budgets = self._board.all(FleetBudget)
        days = self._board.all(DailySpending) if budgets else {}
        id, why = today(self._board.now()), ""

        def work(old: DailySpending | None, now: datetime) -> DailySpending:
            nonlocal why
            day = self._plus(old or DailySpending(), now, dollars, requests)
            why = self._reached(budgets, {**days, id: day}, id, on_task)
            return day if why else self._plus(day, now, expected)

        self._board.change(DailySpending, id, work)
        return why

    def exceeded(self, on_task: float) -> str:
        """Why no more may be spent, after so many dollars on the task; else empty."""
        if not (budgets := self._board.all(FleetBudget)):
            return ""
        return self._reached(budgets, self._board.all(DailySpending), today(self._board.now()), on_task)

    def _plus(self, day: DailySpending, now: datetime, dollars: float, requests: int = 0) -> DailySpending:
        hour = f"{now:%H}"
        return replace(
            day,
            dollars=day.dollars + dollars,
            requests=day.requests + requests,
            hours={**day.hours, hour: day.hours.get(hour, 0.0) + dollars},
            labels={**day.labels, **{name: day.labels.get(name, 0.0) + dollars for name in self._labels}},
        )

    def _reached(
        self, budgets: dict[str, FleetBudget], days: dict[str, DailySpending], id: str, on_task: float
    ) -> str:
        spent = {
            "day": days.get(id, DailySpending()).dollars,
            "total": sum(each.dollars for each in days.values()),
            "task": on_task,
            f"task:{self._task}": on_task,
            **{f"{_LABEL}{name}": sum(each.labels.get(name, 0.0) for each in days.values()) for name in self._labels},
        }
        for name, budget in budgets.items():
            if name in spent and spent[name] >= budget.dollars:
                return f"the budget {name} of ${budget.dollars:.2f} is spent (${spent[name]:.2f})"
        return ""


class WorkerBudget:
    """What this worker may spend, all its slots together."""

    def __init__(self, dollars: float | None) -> None:
        self.dollars = dollars
        self.spent = 0.0
        self._counting = threading.Lock()

    def count(self, dollars: float) -> str:
        """Count what was spent; returns why no more may be, else empty."""
        with self._counting:
            self.spent += dollars
        return self.exceeded()

    def exceeded(self) -> str:
        if self.dollars is None or self.spent < self.dollars:
            return ""
        return f"the budget of this worker of ${self.dollars:.2f} is spent (${self.spent:.2f})"


def today(now: datetime) -> str:
    """The id of the day, by the store's clock in UTC."""
    return f"{now:%Y-%m-%d}"


def spent_labels(board: FleetBoard) -> list[str]:
    """Labels whose budget is spent: their tasks are not begun."""
    budgets = {
        id.removeprefix(_LABEL): each.dollars for id, each in board.all(FleetBudget).items() if id.startswith(_LABEL)
    }
    if not budgets:
        return []
    days = board.all(DailySpending).values()
    return [name for name, most in budgets.items() if sum(day.labels.get(name, 0.0) for day in days) >= most]
