"""The result of a run."""

from typing import Generic, Literal, TypeVar

from msgspec import Struct

from outlive.events import Denial
from outlive.messages import ToolCall
from outlive.models.protocol import Usage

T = TypeVar("T")
StopReason = Literal["done", "limit", "refused", "hook", "interrupted"]
"""Why a run stopped: `done`, `limit`, `refused`, `hook` or `interrupted`."""


class DeniedCall(Struct, frozen=True):
    """A call that was not allowed and did not run, and what the model was told."""

    call: ToolCall
    reason: str
    denial: Denial


class RunResult(Struct, frozen=True):
    """How a run ended: stop reason, the model's last answer, usage, and denied calls."""

    stop_reason: StopReason
    text: str = ""
    detail: str = ""
    limit: str = ""
    """The limit that was reached: `max_turns`, `repetition` …"""
    session: str = ""
    requests: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    """Dollars; None if the model's price is unknown."""
    denied: tuple[DeniedCall, ...] = ()


class OutputResult(RunResult, Generic[T], frozen=True, kw_only=True):
    """The result of a run with structured output, which is valid."""

    output: T
