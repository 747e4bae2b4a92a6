"""A log writer that keeps events in memory, for those who write them elsewhere or together."""

from collections.abc import Sequence
from typing import Self

from outlive.events import Event


class Buffer:
    """Collects the events of a session."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.epoch = 0
        self.events: list[Event] = []

    def append(self, events: Sequence[Event]) -> None:
        self.events.extend(events)

    def renew(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
