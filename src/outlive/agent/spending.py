"""What a session used and what that cost, counted from the provider's own reports in the log."""

from outlive.events import Event, UsageReported
from outlive.models.protocol import Usage

FIELDS = ("requests", "input", "cache_write", "cache_read", "output", "dollars", "unpriced")


class Spending:
    """Tokens and dollars so far. Feed it every event; a resumed session feeds it its log."""

    def __init__(self) -> None:
        self.requests = 0
        self.input = 0
        self.cache_write = 0
        self.cache_read = 0
        self.output = 0
        self.dollars = 0.0
        self.unpriced = 0
        """Requests whose price nobody knows."""

    def take(self, event: Event) -> None:
        if not isinstance(event, UsageReported):
            return
        self.requests += 1
        self.input += event.input
        self.cache_write += event.cache_write
        self.cache_read += event.cache_read
        self.output += event.output
        if event.cost is None:
            self.unpriced += 1
        else:
            self.dollars += event.cost

    def since(self, before: "Spending") -> "Spending":
        """What was spent after a copy was taken."""
        spent = Spending()
        for field in FIELDS:
            setattr(spent, field, getattr(self, field) - getattr(before, field))
        return spent

    @property
    def usage(self) -> Usage:
        return Usage(self.input, self.cache_write, self.cache_read, self.output)

    @property
    def cost(self) -> float | None:
        """Dollars, or None when the price of a request is not known."""
        return None if self.unpriced else round(self.dollars, 6)

    @property
    def tokens(self) -> int:
        """All of them, in and out, cached or not."""
        return self.input + self.cache_write + self.cache_read + self.output
