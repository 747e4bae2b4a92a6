"""How an attempt ends before its task is complete, as exceptions."""


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
