"""Errors of model calls, by what can be done about them."""

from outlive.errors import OutliveError
from outlive.secrets import mask


class ModelError(OutliveError):
    """Masks its message: providers may repeat the request in it, including keys."""

    def __init__(self, message: str, *, hint: str = "", code: str = "", **data: str | int) -> None:
        super().__init__(mask(message), hint=hint, code=code, **data)


class ModelUnavailable(ModelError):
    def __init__(self, message: str, retry_after: float | None = None, *, overloaded: bool = False) -> None:
        """`overloaded`: the provider has asked for fewer requests."""
        super().__init__(message)
        self.retry_after = retry_after
        self.overloaded = overloaded


class PromptTooLong(ModelError):
    def __init__(self, message: str, actual: int = 0, limit: int = 0) -> None:
        super().__init__(message)
        self.actual = actual
        self.limit = limit


class ModelNotSetUp(ModelError):
    pass


class RequestRefused(ModelError):
    pass
