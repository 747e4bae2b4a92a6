"""The working state after some events."""

from collections.abc import Iterable
from functools import reduce

from outlive.events import Event
from outlive.state import WorkingState


def state_of(events: Iterable[Event]) -> WorkingState:
    """The state after these events."""
    return reduce(WorkingState.apply, events, WorkingState())
