"""Every error that outlive raises on purpose, as a tree. All of them can be imported from `outlive`.

An error has a `message` (what is wrong, and where), a `hint` (the way out), a `code` that programs compare, and
`data`. Messages and hints name no commands: a face adds its own words for a code (`OutliveError.told`).

OutliveError
├── ConfigError              settings or options that cannot be used
├── AgentBusy                an agent was asked for something while it works
├── AgentClosed              an agent was used after it was closed
├── InvalidOutput            a run ended without valid structured output (`.result`)   (agent/output.py)
├── TaskError                a request on the graph that is refused; nothing was changed
│   ├── UnknownTask          no task has that id
│   ├── InvalidTask          a field has a value it may not have
│   ├── DependencyError      the edge cannot exist
│   │   └── CycleError       … because it would close a cycle (`.cycle`)
│   ├── BlockedError         unfinished dependencies are in the way (`.blocked_by`)
│   ├── HasDependents        other tasks depend on it (`.dependents`)
│   ├── ConflictError        the status does not allow it
│   └── LeaseError           someone else holds it, or the fencing token is stale
├── NothingReady             no task can be claimed now
├── MemoryRefused            a request on memories that is refused   (memory/errors.py)
│   ├── UnknownMemory        no memory has that name
│   ├── InvalidMemory        a field has a value it may not have
│   ├── MemoryExists         it is known already, or another has that name
│   ├── NeedsConfirmation    an instruction from a tool or a page: the user has to agree
│   ├── PoisonedMemory       it tries to take over the harness
│   ├── UndoConflict         later steps depend on this one
│   ├── InvalidAnswer        a model's answer is empty, partial or not what was asked for
│   └── ConsolidationBusy    another process consolidates   (memory/consolidate.py)
├── SecretFound              a text contains a secret and was not written   (secrets/)
├── DenseUnavailable         dense search is not installed or cannot be loaded   (memory/retrieval/entry.py)
├── StoreError               the place where state is kept
│   ├── StoreUnavailable     cannot be reached, read or written (permissions, disk full, connection)
│   ├── DamagedRecord        a record exists but cannot be understood
│   ├── FutureVersion        written by a newer outlive
│   ├── OversizedMemory      a memory is too large for its store   (stores/memories/)
│   ├── UnknownSession       no session has that id   (stores/logs/, with those below)
│   ├── SessionExists        the id is taken
│   ├── SessionBusy          another process writes to it
│   ├── SessionReplaced      a log was replaced while it was being followed
│   ├── SessionTooLarge      the log is too large to be read
│   ├── InvalidSession       no session can have that id
│   └── DamagedBlob          a large text beside the log is missing or changed
├── StateError               an invalid change of the working state   (state.py)
├── ContextError             the context engine   (context/errors.py)
│   ├── FloorError           the irreducible part does not fit the window (`.window`, `.breakdown`)
│   ├── BrokenContract       a pass would have lost something and was not made (`.problems`)
│   ├── UnknownHandle        no page has that number
│   ├── InvalidRequest       the view is not a valid request (a bug; never sent)
│   ├── KeepRefused          too much would be kept whole   (context/passes/pinning.py)
│   ├── NothingToUndo        no pass, or no such event   (agent/session.py)
│   └── CannotFork           no such event, or no such name   (agent/log/)
├── InvalidPattern           an invalid pattern or range   (agent/recall.py)
├── ModelError               a model call failed   (models/errors.py)
│   ├── ModelUnavailable     overloaded, rate limited, a broken stream: try again (`.retry_after`)
│   ├── PromptTooLong        the request does not fit (`.actual`, `.limit`)
│   ├── ModelNotSetUp        no key, a wrong key, no such model, no package
│   └── RequestRefused       the provider refuses the request; retrying does not help
├── ToolError                a tool cannot do what it was called for; the model is told   (tools/errors.py)
├── SandboxUnavailable       a sandbox was requested and is not available   (tools/permissions/sandbox.py)
└── ImportRefused            a file is not a recorded session   (replay/importers/)
"""

from collections.abc import Mapping, Sequence


class OutliveError(Exception):
    """Base of all errors that are meant for the caller. `code` is the name of the class unless another is given:
    `unknown_task`."""

    code = "outlive"

    def __init_subclass__(cls) -> None:
        letters = (f"_{letter.lower()}" if letter.isupper() else letter for letter in cls.__name__)
        cls.code = "".join(letters).lstrip("_").removesuffix("_error")

    def __init__(self, message: str = "", *, hint: str = "", code: str = "", **data: str | int) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or self.code
        self.data = data

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def told(self, words: Mapping[str, str]) -> str:
        """The text with a face's own words for this code, such as the option that helps."""
        return f"{self} ({words[self.code]})" if self.code in words else str(self)


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
    def __init__(self, message: str, cycle: Sequence[int | str], *, hint: str = "", code: str = "") -> None:
        super().__init__(message, hint=hint, code=code)
        self.cycle = tuple(cycle)


class BlockedError(TaskError):
    def __init__(self, message: str, blocked_by: Sequence[int], *, hint: str = "", code: str = "") -> None:
        super().__init__(message, hint=hint, code=code)
        self.blocked_by = tuple(blocked_by)


class HasDependents(TaskError):
    def __init__(self, message: str, dependents: Sequence[int], *, hint: str = "", code: str = "") -> None:
        super().__init__(message, hint=hint, code=code)
        self.dependents = tuple(dependents)


class ConflictError(TaskError):
    pass


class LeaseError(TaskError):
    pass


class NothingReady(OutliveError):
    pass


class AgentBusy(OutliveError):
    pass


class AgentClosed(OutliveError):
    pass


class StoreError(OutliveError):
    pass


class StoreUnavailable(StoreError):
    pass


class DamagedRecord(StoreError):
    pass


class FutureVersion(StoreError):
    pass
