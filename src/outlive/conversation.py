"""The context engine for your own loop: add each message, ask for the next request."""

import time
from typing import Any, Literal

from outlive.agent.log.session_log import DEFAULT_WINDOW
from outlive.agent.session import Session
from outlive.context.policy import RICH, Policy
from outlive.events import Compacted
from outlive.messages import Message
from outlive.models.anthropic.form import read_blocks
from outlive.models.anthropic.request import request_form as anthropic_form
from outlive.models.openai.form import content_text, read_message
from outlive.models.openai.form import request_form as openai_form
from outlive.replay.player import add_message
from outlive.stores.logs.buffer import Buffer
from outlive.stores.logs.names import new_session_id

Form = dict[str, Any]


class Conversation:
    """Keeps a conversation within a window. Messages and requests are dicts in the shape of a provider's API.

    What leaves a request can be recalled by its handle: offer the model a tool that calls `recall`. The log is kept
    in memory; `Session` keeps one on disk.
    """

    def __init__(
        self,
        shape: Literal["anthropic", "openai"] = "anthropic",
        *,
        window: int = DEFAULT_WINDOW,
        system: str = "",
        tools: tuple[Form, ...] | list[Form] = (),
        policy: Policy = RICH,
    ) -> None:
        """`tools` are definitions in the provider's shape; they count against the window and are sent along."""
        self._shape = shape
        self._session = Session(Buffer(new_session_id(time.time())), window=window, policy=policy)
        self._tools = tuple(_tool(tool) for tool in tools)
        self._session.change_system(system, self._tools)

    def add(self, message: Form, *, prompt_tokens: int = 0) -> None:
        """Add a message of the user, the model or a tool. Raises ValueError for anything else.

        `prompt_tokens`, with an answer of the model, is the provider's count for its request.
        """
        if self._shape == "anthropic":
            if message.get("role") not in ("user", "assistant"):
                raise ValueError(f"not a message of user or assistant: role is {message.get('role')!r}")
            add_message(self._session, Message(message["role"], read_blocks(message.get("content"))), prompt_tokens)
        elif message.get("role") in ("system", "developer"):
            self._session.change_system(content_text(message.get("content")), self._tools)
        else:
            add_message(self._session, read_message(message), prompt_tokens)

    def request(self) -> Form:
        """The next request: `messages`, and `system` and `tools` if there are any. Compacts first if due. Raises
        FloorError if even that does not fit the window."""
        request = self._session.next_request()
        return anthropic_form(request) if self._shape == "anthropic" else openai_form(request)

    def recall(self, handle: str) -> str:
        """The exact text behind a handle such as `@h12`. Raises UnknownHandle."""
        return self._session.engine.recall(handle).text

    def compact(self, focus: str = "") -> Compacted | None:
        """Compact now; returns None if that saves nothing."""
        return self._session.compact(focus)

    def too_long(self, actual: int = 0, limit: int = 0) -> Compacted:
        """The provider refused the request as too long: compact as far as possible. Raises FloorError."""
        return self._session.too_long(actual, limit)


def _tool(form: Form) -> Form:
    """A definition in Anthropic's shape, which the engine uses."""
    function = form.get("function")
    if not isinstance(function, dict):
        return form
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    return {"name": function["name"], "description": function.get("description", ""), "input_schema": schema}
