"""Tokens and cost of a session, counted from the provider's reports in the log."""

from dataclasses import dataclass, fields

from outlive.events import Event, UsageReported
from outlive.models.protocol import Usage


@dataclass(slots=True)
class Spending:
    """Tokens and dollars so far. Feed it every event; on resume, feed it the log."""

    requests: int = 0
    input: int = 0
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    """Requests of unknown price."""

    def take(self, event: Event) -> None:
        if not isinstance(event, UsageReported):
            return
        self.requests += 1
        self.input += event.input
        self.cache_write += event.cache_write
        self.cache_read += event.cache_read
        self.output += event.output
        self.unpriced += event.cost is None
        self.dollars += event.cost or 0.0

    def since(self, before: "Spending") -> "Spending":
        """The difference to an earlier copy."""
        return Spending(*(getattr(self, field.name) - getattr(before, field.name) for field in fields(self)))

    @property
    def usage(self) -> Usage:
        return Usage(self.input, self.cache_write, self.cache_read, self.output)

    @property
    def cost(self) -> float | None:
        """Dollars; None if the price of a request is unknown."""
        return None if self.unpriced else round(self.dollars, 6)

    @property
    def tokens(self) -> int:
        """All tokens: input and output, cached or not."""
        return self.input + self.cache_write + self.cache_read + self.output
