"""The message lists of pi and opencode, converted to messages of ours and back (`protocol.py`)."""

from outlive.replay.shapes.opencode import OpencodeShape
from outlive.replay.shapes.pi import PiShape
from outlive.replay.shapes.protocol import ClientShape


def shape_of(client: str) -> ClientShape:
    """The converter for a client."""
    return PiShape() if client == "pi" else OpencodeShape()
