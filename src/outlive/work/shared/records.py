"""The documents of a fleet. Each is kept as JSON under its kind and an id."""

from datetime import datetime
from typing import ClassVar

from msgspec import Struct

PERSON = "a person"
"""The owner of tasks that wait for a person."""
ATTACHED = "attached"
"""The phase of tasks that a person has taken over."""
OVER = ("done", "cancelled")
"""Phases after which nobody works on a task."""
MAX_ENDINGS = 5
"""Endings of attempts that are kept."""


class FleetDocument(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all documents."""

    kind: ClassVar[str]


class WorkerRecord(FleetDocument, frozen=True, kw_only=True):
    """A running worker. Its id is the worker's name."""

    kind: ClassVar[str] = "worker"
    machine: str
    pid: int
    slots: int
    started: datetime
    expires: datetime
    """It counts as gone after this, by the store's clock."""
    folder: str = ""
    capabilities: tuple[str, ...] | None = None
    drain_by: datetime | None = None
    """It takes no more tasks, and gives up those that are not finished by then."""


class Ending(Struct, frozen=True, omit_defaults=True):
    """How an attempt ended without completing its task."""

    at: datetime
    worker: str
    why: str
    """`expired`, `limit`, `checks` …"""
    text: str = ""


class TaskRun(FleetDocument, frozen=True, kw_only=True):
    """The work on a task, all attempts together. Its id is that of the task, whose status is in the graph."""

    kind: ClassVar[str] = "run"
    session: str = ""
    worker: str = ""
    machine: str = ""
    token: int = 0
    """The lease of the task under which it may be changed."""
    phase: str = ""
    """`working`, `checking`, `landing`; `waiting` for a person; `attached`; empty between attempts; `done`."""
    started: datetime | None = None
    """Of this attempt."""
    attempts: int = 0
    failed: int = 0
    """Attempts that ended without completing the task, since the last word of a person."""
    died: int = 0
    """Attempts that never ended, since then."""
    endings: tuple[Ending, ...] = ()
    worktree: str = ""
    """Its path on `machine`."""
    base: str = ""
    """The commit on which the work began."""
    wip: str = ""
    """The commit that holds the work in progress."""
    bundle: str = ""
    """The blob of the logs that holds that commit, where there is no remote."""
    waits_for: tuple[int, ...] = ()
    """Tasks that the agent has made to be done before it goes on."""
    landing: str = ""
    """The commit that is about to be on the target branch, or is."""
    report: str = ""
    """What the agent said of it."""
    question: str = ""
    answer: str = ""
    dollars: float = 0.0
    requests: int = 0
    expected: float = 0.0
    """Dollars that are counted as spent for requests without an answer yet."""
    activity: str = ""
    """What the agent did last, in a few words."""


class SessionFiles(FleetDocument, frozen=True, kw_only=True):
    """Where the files of a person's session are. The id is the session."""

    kind: ClassVar[str] = "files"
    machine: str
    folder: str
    wip: str
    """The commit that holds them."""


class DailySpending(FleetDocument, frozen=True, kw_only=True):
    """What was spent on one day, in dollars. The id is the day."""

    kind: ClassVar[str] = "spent"
    dollars: float = 0.0
    requests: int = 0
    hours: dict[str, float] = {}
    """By hour of the day, `09`."""
    labels: dict[str, float] = {}


class FleetBudget(FleetDocument, frozen=True, kw_only=True):
    """What may be spent, in dollars. The id is `day`, `total`, `task`, `task:12` or `label:NAME`."""

    kind: ClassVar[str] = "budget"
    dollars: float


class Pace(FleetDocument, frozen=True, kw_only=True):
    """How fast requests may go to a provider, which is the id, after it has asked to slow down."""

    kind: ClassVar[str] = "pace"
    until: datetime
    """No request before this."""
    interval: float = 0.0
    """Seconds between two requests of the whole fleet."""
    following: datetime | None = None
    """When the next request may be sent."""
    eased: datetime | None = None
    """When the interval was changed last."""


class KeyHolders(FleetDocument, frozen=True, kw_only=True):
    """Who works under a concurrency key, which is the id."""

    kind: ClassVar[str] = "key"
    limit: int = 1
    holders: dict[str, datetime] = {}
    """Each until a time, by the store's clock."""


class Schedule(FleetDocument, frozen=True, kw_only=True):
    """A task that comes again. The id is that of its first task."""

    kind: ClassVar[str] = "schedule"
    seconds: float
    due: datetime
    subject: str
    description: str = ""
    priority: int = 2
    labels: tuple[str, ...] = ()
    metadata: dict[str, object] = {}


class Family(FleetDocument, frozen=True, kw_only=True):
    """How many tasks the agents have made out of one task, which is the id."""

    kind: ClassVar[str] = "family"
    tasks: int = 0
