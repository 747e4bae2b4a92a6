"""Errors of model calls, by what can be done about them.

ModelError
├── Unavailable      overloaded, rate limited, a broken stream: retry (`.retry_after`)
├── PromptTooLong    the request does not fit (`.actual`, `.limit`; 0 if unknown)
├── NotSetUp         no key, a wrong key, no such model, no package: the message says what to fix
└── RequestRefused   the provider refuses the request; a retry would not help
"""

from outlive.errors import OutliveError
from outlive.secrets import mask


class ModelError(OutliveError):
    """Masks its message: providers may repeat the request in it, including keys."""

    def __init__(self, message: str) -> None:
        super().__init__(mask(message))


class Unavailable(ModelError):
    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PromptTooLong(ModelError):
    def __init__(self, message: str, actual: int = 0, limit: int = 0) -> None:
        super().__init__(message)
        self.actual = actual
        self.limit = limit


class NotSetUp(ModelError):
    pass


class RequestRefused(ModelError):
    pass
