"""An HTTP reply, with its faults."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class WireReply:
    """A status with a body or the events of a stream; perhaps slow, perhaps cut off."""

    status: int
    body: bytes = b""
    events: tuple[bytes, ...] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    """Close the connection after so many events (a body: after half of it)."""
    within_line: bool = False
    """Close it in the middle of the next event."""
