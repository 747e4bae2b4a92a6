"""Requests as JSON lines, a format that other programs read."""

from collections.abc import Callable

import msgspec

from outlive.messages import Message
from outlive.models.anthropic.form import message_form
from outlive.request import Request

_encode = msgspec.json.Encoder().encode


class RequestWriter:
    """Writes one line a model call; encodes each message once."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._known: dict[int, tuple[Message, bytes]] = {}

    def write(self, turn: int, request: Request) -> None:
        encoded = [self._encoded(message) for message in request.messages]
        self._known = {id(message): (message, raw) for message, raw in encoded}
        body = b",".join(raw for _, raw in encoded)
        head = b'{"turn":%d,"system":%s,"messages":[' % (turn, _encode(request.system))
        self._write(head + body + b'],"extra_calls":[]}\n')

    def _encoded(self, message: Message) -> tuple[Message, bytes]:
        """Return (message, bytes); keeping the message prevents another object from getting its id()."""
        found = self._known.get(id(message))
        return found if found is not None else (message, _encode(message_form(message)))
