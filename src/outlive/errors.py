"""Every error outlive raises on purpose. The message names the thing, the place and the way out.

OutliveError
├── ConfigError            settings that cannot be used (outlive.toml, environment, --store)
├── TaskError              a request on the graph that is refused; nothing was changed
│   ├── UnknownTask        no task has that id
│   ├── InvalidTask        a field has a value it may not have
│   ├── DependencyError    the edge cannot exist
│   │   └── CycleError     ... because it would close a cycle (`.cycle`)
│   ├── BlockedError       unfinished dependencies stand in the way (`.blocked_by`)
│   ├── HasDependents      other tasks depend on it (`.dependents`)
│   ├── ConflictError      the status does not allow it
│   └── LeaseError         someone else holds it, or the fencing token is stale
├── NothingReady           no task can be claimed now
├── AgentBusy              an agent was asked for something while it works
└── StoreError             the place where state is kept
    ├── StoreUnavailable   cannot be reached, read or written (permissions, disk full, connection)
    ├── DamagedRecord      a record exists but cannot be understood
    └── FutureVersion      written by a newer outlive
"""

from collections.abc import Sequence


class OutliveError(Exception):
    """Base of all errors that are meant for the caller, not bugs."""


class ConfigError(OutliveError):
    pass


class TaskError(OutliveError):
    pass


class UnknownTask(TaskError):
    pass


class InvalidTask(TaskError):
    pass


class DependencyError(TaskError):
    pass


class CycleError(DependencyError):
    def __init__(self, message: str, cycle: Sequence[int | str]) -> None:
        super().__init__(message)
        self.cycle = tuple(cycle)


class BlockedError(TaskError):
    def __init__(self, message: str, blocked_by: Sequence[int]) -> None:
        super().__init__(message)
        self.blocked_by = tuple(blocked_by)


class HasDependents(TaskError):
    def __init__(self, message: str, dependents: Sequence[int]) -> None:
        super().__init__(message)
        self.dependents = tuple(dependents)


class ConflictError(TaskError):
    pass


class LeaseError(TaskError):
    pass


class NothingReady(OutliveError):
    pass


class AgentBusy(OutliveError):
    pass


class StoreError(OutliveError):
    pass


class StoreUnavailable(StoreError):
    pass


class DamagedRecord(StoreError):
    pass


class FutureVersion(StoreError):
    pass
