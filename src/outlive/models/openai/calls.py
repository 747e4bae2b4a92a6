"""Tool calls of an answer while they arrive, and ids for them."""

from typing import Any
from uuid import uuid4

from outlive.messages import ToolCall, tool_calls
from outlive.models.repair import Brackets, read_arguments
from outlive.models.sanitize import MAX_NAME_CHARS, kept_call
from outlive.request import Request


class ArrivingCall:
    """A call while it arrives."""

    def __init__(self, given_id: str) -> None:
        self.given_id = given_id
        self.name = ""
        self._given: Any = None
        """Arguments that a server sent as an object instead of text."""
        self._parts: list[str] = []
        self._brackets = Brackets()

    def take(self, name: str, arguments: Any) -> None:
        if name and name != self.name and len(self.name) <= MAX_NAME_CHARS:
            self.name += name
        if isinstance(arguments, str):
            self._parts.append(arguments)
            self._brackets.take(arguments)
        elif arguments is not None:
            self._given = arguments

    @property
    def arguments(self) -> Any:
        return self._given if self._given is not None else "".join(self._parts)

    def is_complete(self) -> bool:
        """Whether the arguments are an object, or text with all brackets closed."""
        if self._given is not None:
            return isinstance(self._given, dict)
        return self._brackets.closed

    def is_another(self, given_id: str, name: str, arguments: Any) -> bool:
        """Whether a piece with this call's index begins another call: some servers reuse indexes."""
        if given_id and self.given_id and given_id != self.given_id:
            return True
        return bool(name and self.name and arguments and self.is_complete())


class CallIds:
    """Gives each call of an answer an id that no other call of the conversation has."""

    def __init__(self, request: Request) -> None:
        self._used = {call.id for message in request.messages for call in tool_calls(message.blocks)}

    def unique(self, given: str = "") -> str:
        """The given id if it is not used yet, else a new one."""
        fresh = given if given and given not in self._used else f"call_{uuid4().hex[:24]}"
        self._used.add(fresh)
        return fresh

    def made(self, call: ArrivingCall) -> ToolCall:
        """The call, complete."""
        return kept_call(self.unique(call.given_id), call.name, read_arguments(call.arguments))
