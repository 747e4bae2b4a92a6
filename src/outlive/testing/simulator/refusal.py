"""Refused requests: the exception of the rules, and the record for tests."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RuleBroken(Exception):
    """A request breaks a rule. `kind` is the error type if the status does not determine it."""

    message: str
    status: int = 400
    kind: str = ""
    param: str | None = None
    code: str | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Refusal:
    """A refused request in `Simulator.refusals`."""

    provider: str
    path: str
    status: int
    message: str
    code: str | None
    body: Any
