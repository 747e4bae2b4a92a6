"""What can go wrong with a model call, by what is to be done about it.

ModelError
├── Unavailable      not now: overloaded, rate limited, a broken stream; try again (`.retry_after`)
├── PromptTooLong    the request does not fit (`.actual`, `.limit`; 0 where the provider did not say)
├── NotSetUp         no key, a wrong key, no such model, no package: the message says what to fix
└── Refused          the provider does not take the request as it is; trying again is of no use
"""

from outlive.errors import OutliveError
from outlive.secrets import mask


class ModelError(OutliveError):
    """Providers repeat in their messages what they were sent, keys too."""

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
