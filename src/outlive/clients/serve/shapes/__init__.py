"""The message lists of pi and opencode, converted to messages of ours and back (`protocol.py`)."""

from outlive.clients.serve.shapes.opencode import OpencodeShape
from outlive.clients.serve.shapes.pi import PiShape
from outlive.clients.serve.shapes.protocol import ClientShape


def shape_of(client: str) -> ClientShape:
    """The converter for a client."""
    return PiShape() if client == "pi" else OpencodeShape()
