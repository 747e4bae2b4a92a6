"""What the fleet does now, as data: workers, tasks in work, what waits for a person, queue, money."""

from datetime import datetime, timedelta

from msgspec import Struct

from outlive.stores.tasks.protocol import TaskQuery
from outlive.stores.tasks.records import Task
from outlive.tasks.graph import TaskGraph
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.budgets import today
from outlive.work.shared.records import (
    ATTACHED,
    PERSON,
    DailySpending,
    FleetBudget,
    Pace,
    Schedule,
    TaskRun,
    WorkerRecord,
)

MAX_READY = 1000
"""Ready tasks that are looked at for the oldest one."""
_OPEN = frozenset({"pending", "in_progress"})


class WorkerView(Struct, frozen=True):
    name: str
    machine: str
    pid: int
    slots: int
    busy: int
    alive: bool
    draining: bool
    seconds_left: float
    """Until it counts as gone; negative if it does."""


class TaskView(Struct, frozen=True):
    """A task that was claimed, or that a person has taken over, with what is known of the work on it."""

    id: int
    subject: str
    worker: str
    machine: str
    phase: str
    session: str
    activity: str
    attempts: int
    dollars: float
    requests: int
    seconds: float
    """Since this attempt began."""
    seconds_left: float | None
    """Until its lease runs out; negative if it has; None without a lease."""


class QuestionView(Struct, frozen=True):
    """A task that waits for a person."""

    id: int
    subject: str
    question: str
    why: str


class SpendingView(Struct, frozen=True):
    today: float
    last_hour: float
    total: float
    budgets: dict[str, float]


class ScheduleView(Struct, frozen=True):
    id: int
    subject: str
    seconds: float
    due: datetime


class FleetOverview(Struct, frozen=True):
    """One look at everything."""

    at: datetime
    workers: tuple[WorkerView, ...]
    working: tuple[TaskView, ...]
    waiting: tuple[QuestionView, ...]
    ready: int
    blocked: int
    oldest_ready_seconds: float | None
    expired: tuple[int, ...]
    """Tasks whose lease has run out and that nobody has taken yet."""
    spending: SpendingView
    slowed: dict[str, float]
    """Providers that asked to slow down: seconds between two requests of the fleet."""
    schedules: tuple[ScheduleView, ...]


def overview(graph: TaskGraph, board: FleetBoard) -> FleetOverview:
    """Look at the graph and at what workers have written."""
    now = board.now()
    held = graph.find(TaskQuery(statuses=frozenset({"in_progress"})))
    runs = {int(id): run for id, run in board.all(TaskRun).items()}
    ready, expired = graph.store.read(lambda tx: (tx.ready(limit=MAX_READY), tuple(tx.expired())))
    pending = graph.count(TaskQuery(statuses=frozenset({"pending"})))
    blocked = graph.count(TaskQuery(statuses=frozenset({"pending"}), blocked=True))
    known = [(task, runs.get(task.id, TaskRun())) for task in held]
    working = tuple(_task(task, run, now) for task, run in known if task.lease or run.phase == ATTACHED)
    return FleetOverview(
        at=now,
        workers=tuple(_workers(board, working, now)),
        working=working,
        waiting=tuple(_question(task, run) for task, run in known if task.owner == PERSON),
        ready=pending - blocked,
        blocked=blocked,
        oldest_ready_seconds=max(((now - task.created_at).total_seconds() for task in ready), default=None),
        expired=expired,
        spending=_spending(board, now),
        slowed={name: pace.interval for name, pace in board.all(Pace).items() if pace.until > now or pace.interval},
        schedules=tuple(
            ScheduleView(int(id), plan.subject, plan.seconds, plan.due) for id, plan in board.all(Schedule).items()
        ),
    )


def _workers(board: FleetBoard, working: tuple[TaskView, ...], now: datetime) -> list[WorkerView]:
    return [
        WorkerView(
            name=name,
            machine=each.machine,
            pid=each.pid,
            slots=each.slots,
            busy=sum(task.worker == name for task in working),
            alive=each.expires > now,
            draining=each.drain_by is not None,
            seconds_left=(each.expires - now).total_seconds(),
        )
        for name, each in board.all(WorkerRecord).items()
    ]


def _task(task: Task, run: TaskRun, now: datetime) -> TaskView:
    lease = task.lease
    ours = lease is None or run.token == lease.token
    return TaskView(
        id=task.id,
        subject=task.subject,
        worker=task.owner or "",
        machine=run.machine if ours else "",
        phase=run.phase if ours else "",
        session=run.session,
        activity=run.activity if ours else "",
        attempts=run.attempts,
        dollars=run.dollars,
        requests=run.requests,
        seconds=(now - lease.claimed_at).total_seconds() if lease else 0.0,
        seconds_left=(lease.expires_at - now).total_seconds() if lease else None,
    )


def _question(task: Task, run: TaskRun) -> QuestionView:
    return QuestionView(task.id, task.subject, run.question, run.endings[-1].why if run.endings else "")


def _spending(board: FleetBoard, now: datetime) -> SpendingView:
    days = board.all(DailySpending)
    hours = {f"{day}T{hour}": spent for day, each in days.items() for hour, spent in each.hours.items()}
    recent = [now, now - timedelta(hours=1)]
    share = 1 - now.minute / 60  # of the hour before this one
    last_hour = sum(hours.get(f"{at:%Y-%m-%dT%H}", 0.0) * part for at, part in zip(recent, (1.0, share), strict=True))
    return SpendingView(
        today=days.get(today(now), DailySpending()).dollars,
        last_hour=last_hour,
        total=sum(each.dollars for each in days.values()),
        budgets={name: each.dollars for name, each in board.all(FleetBudget).items()},
    )
