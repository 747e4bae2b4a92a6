"""What a converter between the messages of a client and ours does."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from outlive.messages import Block, Message

Form = dict[str, Any]
"""A message as the client has it."""


class ClientShape(Protocol):
    """How one client writes its messages."""

    def read(self, message: Form, *, parent: bool) -> list[Message] | None:
        """The message as ours: an answer, then results. Empty if a model reads nothing in it, None if the client does
        not send it. `parent`: the words are those of another agent, not the user's."""

    def time(self, message: Form) -> float | None:
        """When it was said, in seconds since 1970."""

    def prompt_tokens(self, message: Form) -> int:
        """What the provider counted for the request that this answers; 0 if unknown."""

    def changed(self, message: Form, texts: Mapping[int, str], results: Mapping[str, str], *, thinking: bool) -> Form:
        """The message with other texts, by block of ours and by call, and without thinking unless it may be sent. The
        very same object if nothing differs."""

    def words(self, blocks: Sequence[Block], like: Form) -> Form:
        """A new message in the user's turn, of the same session as `like`."""
