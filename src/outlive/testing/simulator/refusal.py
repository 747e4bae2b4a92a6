"""How a request is refused: raised by the rules, written in the form of each provider, kept for the test to read."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RuleBroken(Exception):
    """A request breaks a rule. `kind` is the type of the error where the status alone does not tell it."""

    message: str
    status: int = 400
    kind: str = ""
    param: str | None = None
    code: str | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Refusal:
    """A request that was refused, as `Simulator.refusals` keeps it."""

    provider: str
    path: str
    status: int
    message: str
    code: str | None
    body: Any
