"""A middleware for LangChain agents, which run on LangGraph: each request is a view of the messages that fits.

The messages in the state of the graph stay as they are. The log follows them; the state names its session.
"""

import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Annotated, Any, NotRequired

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain.tools import ToolRuntime
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_function
from langgraph.config import get_config
from langgraph.runtime import Runtime
from msgspec import to_builtins

from outlive.adapters.native_log import RECALL, LogCache, Shown
from outlive.agent.log.session_log import DEFAULT_WINDOW
from outlive.context.policy import RICH, Policy
from outlive.messages import Block, Image, Message, Opaque, Text, ToolCall, ToolResult, tool_calls
from outlive.models.anthropic.form import read_block
from outlive.models.too_long import TooLong, read_too_long
from outlive.stores.logs.names import new_session_id

CLIENT = "langgraph"
_CALLS = ("tool_use", "function_call", "tool_call", "input_json_delta")
"""Content blocks that repeat what `tool_calls` says."""


class OutliveState(AgentState[Any]):
    """The state of an agent, and the session that its messages are logged in."""

    outlive_session: NotRequired[Annotated[str, PrivateStateAttr]]


class OutliveMiddleware(AgentMiddleware[OutliveState, Any, Any]):
    """Keeps every request within the window, and gives the model a tool `recall` for what left it."""

    state_schema = OutliveState

    def __init__(
        self, *, session: str = "", store: str | None = None, window: int = DEFAULT_WINDOW, policy: Policy = RICH
    ) -> None:
        """`session` is the id of the session: by default the `thread_id` of the graph, else a new one for each run.
        `store` is a URL; by default it is the store of the current workspace."""
        super().__init__()
        self._fixed = session
        self._logs = LogCache(CLIENT, store=store, window=window, policy=policy)
        self.tools = [StructuredTool.from_function(self._recall, name="recall", description=RECALL)]

    def before_agent(self, state: OutliveState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Name the session in the state, where a checkpointer keeps it."""
        if state.get("outlive_session"):
            return None
        thread = get_config().get("configurable", {}).get("thread_id")
        return {"outlive_session": self._fixed or (str(thread) if thread else new_session_id(time.time()))}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Send a view that fits; if the provider still finds it too long, the smallest one."""
        try:
            return handler(self._fitted(request))
        except ContextOverflowError as error:
            return handler(self._fitted(request, str(error)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The same for agents that run asynchronously."""
        try:
            return await handler(self._fitted(request))
        except ContextOverflowError as error:
            return await handler(self._fitted(request, str(error)))

    def close(self) -> None:
        """Close connections to a database, if there are any."""
        self._logs.close()

    def _fitted(self, request: ModelRequest[Any], refusal: str = "") -> ModelRequest[Any]:
        state: Mapping[str, Any] = request.state
        log = self._logs.get(state["outlive_session"])
        system = [message for message in request.messages if isinstance(message, SystemMessage)]
        said = [message for message in request.messages if not isinstance(message, SystemMessage)]
        prompts = [request.system_message, *system] if request.system_message else system
        with log.open() as session:
            log.follow(said, _read, _prompt_tokens)
            session.change_system("\n\n".join(prompt.text for prompt in prompts), tuple(map(_tool, request.tools)))
            if refusal:
                counted = read_too_long(refusal) or TooLong()
                session.too_long(counted.actual, counted.limit)
            view = [message for part in log.view() for message in _messages(part)]
        return request.override(messages=[*system, *view])

    def _recall(self, runtime: ToolRuntime[Any, Any], handle: str, first: int = 1, last: int = 0) -> str:
        return self._logs.get(runtime.state["outlive_session"]).recall(handle, first, last)


def _tool(tool: BaseTool | dict[str, Any]) -> dict[str, Any]:
    """A definition as the engine counts it; one that a provider runs itself has a form of its own."""
    if isinstance(tool, dict) and "function" not in tool:
        return tool
    form = convert_to_openai_function(tool)
    return {
        "name": form["name"],
        "description": form.get("description", ""),
        "input_schema": form.get("parameters", {}),
    }


def _prompt_tokens(message: AnyMessage) -> int:
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    return usage["input_tokens"] if usage else 0


# -- messages in


def _read(message: AnyMessage) -> Message:
    blocks = tuple(_blocks(message.content))
    if isinstance(message, AIMessage):
        calls = (ToolCall(call["id"] or "", call["name"], call["args"]) for call in message.tool_calls)
        return Message("assistant", (*blocks, *calls))
    if isinstance(message, ToolMessage):
        text = "\n".join(_words(block) for block in blocks if not isinstance(block, Image))
        images = tuple(block for block in blocks if isinstance(block, Image))
        return Message("user", (ToolResult(message.tool_call_id, text, message.status == "error", images),))
    ours = not isinstance(message, HumanMessage) or message.additional_kwargs.get("lc_source")
    if ours:  # a summary of another middleware, for example
        blocks = tuple(Text(block.text, "harness") if isinstance(block, Text) else block for block in blocks)
    return Message("user", blocks)


def _blocks(content: Any) -> Iterator[Block]:
    for part in content if isinstance(content, list) else [content]:
        form = {"type": "text", "text": part} if isinstance(part, str) else part
        if form.get("type") == "image_url":
            url = form["image_url"]
            yield Image(url=url if isinstance(url, str) else url["url"])
        elif form.get("type") == "image" and ("base64" in form or "url" in form):
            yield Image(form.get("mime_type", "image/png"), form.get("base64", ""), form.get("url", ""))
        elif not isinstance(form.get("type"), str):
            yield Opaque(CLIENT, form)
        elif form["type"] not in _CALLS and form.get("text") != "":
            yield read_block(form)


def _words(block: Block) -> str:
    return block.text if isinstance(block, Text) else json.dumps(to_builtins(block), ensure_ascii=False)


# -- and back


def _messages(part: Shown) -> list[AnyMessage]:
    """The messages of a part of the view: those of the graph, or for what a pass changed, others."""
    if part.whole:
        return [part.native]
    if part.role == "assistant":
        text = "\n\n".join(block.text for block in part.blocks if isinstance(block, Text))
        calls: Any = [{"id": call.id, "name": call.name, "args": call.input} for call in tool_calls(part.blocks)]
        return [AIMessage(text, tool_calls=calls)]
    first = part.blocks[0]
    if isinstance(first, ToolResult):
        if part.native is not None:
            return [part.native.model_copy(update={"content": first.text})]
        return [ToolMessage(first.text, tool_call_id=first.call_id, status="error" if first.is_error else "success")]
    return [HumanMessage([form for block in part.blocks if (form := _form(block))])]


def _form(block: Block) -> dict[str, Any] | None:
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Image() if block.url:
            return {"type": "image", "url": block.url}
        case Image():
            return {"type": "image", "base64": block.data, "mime_type": block.media_type}
        case Opaque():
            return block.data
    return None
