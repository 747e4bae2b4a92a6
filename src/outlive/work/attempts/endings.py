"""How an attempt ends before its task is complete, as exceptions."""

from outlive.errors import LeaseError, OutliveError, StoreUnavailable, UnknownTask
from outlive.models.errors import ModelUnavailable
from outlive.stores.logs.protocol import SessionBusy
from outlive.work.repository.git import Fenced, GitUnreachable


class AttemptEnded(Exception):
    """Base. The task goes back, and another attempt may follow."""

    counts = True
    """Whether it is a step towards giving up."""

    def __init__(self, why: str, text: str = "") -> None:
        super().__init__(text or why)
        self.why = why
        self.text = text


class AttemptStopped(AttemptEnded):
    """The worker ends, or somebody stopped it: not the fault of the task."""

    counts = False


class TaskWaits(AttemptEnded):
    """The task waits for a person; `text` is the question."""


class TaskCancelled(AttemptEnded):
    """Somebody has cancelled the task: what was done is stored, and nothing is given back."""

    counts = False


class LeaseLost(AttemptEnded):
    """The task belongs to somebody else now, or is gone: nothing more is written."""


def ending_of(error: Exception) -> AttemptEnded:
    """How an attempt ends in which this was raised."""
    match error:
        case AttemptEnded():
            return error
        case LeaseError() | UnknownTask() | Fenced():
            return LeaseLost("lost", str(error))
        case SessionBusy():
            return TaskWaits("taken_over", f"somebody has taken over its session ({error}); is it done?")
        case ModelUnavailable():
            return AttemptStopped("model", str(error))
        case StoreUnavailable():
            return AttemptStopped("store", str(error))
        case GitUnreachable():
            return AttemptStopped("remote", str(error))
        case OutliveError() | OSError():
            return AttemptEnded("failed", str(error))
    return AttemptEnded("crashed", f"{type(error).__name__}: {error}")
