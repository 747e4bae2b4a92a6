"""For pydantic-ai: a store of conversations, and a capability that fits each request into the window.

Both keep a conversation in the session of its `conversation_id`; each works without the other.
"""

from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic_ai import FunctionToolset, RetryModelRequest, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    RetryFeedbackPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import ToolDefinition

from outlive.adapters.native_log import MAX_OPEN_LOGS, RECALL, LogCache, NativeLog, Shown, sealed, unsealed
from outlive.agent.log.session_log import DEFAULT_WINDOW
from outlive.agent.session import Session
from outlive.config import Workspace
from outlive.context.policy import RICH, Policy
from outlive.events import Checkpointed
from outlive.messages import Block, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from outlive.models.too_long import read_too_long
from outlive.stores import open_stores
from outlive.stores.logs.protocol import SessionBusy

CLIENT = "pydantic-ai"
CONVERSATION = "conversation"
Native = ModelRequestPart | ModelResponse
_SAID = (UserPromptPart, ToolReturnPart, RetryFeedbackPart)
"""Parts of the conversation. All others are the program's instructions, which stay in every request."""
_records = TypeAdapter(ConversationRecord)
_contents = TypeAdapter(UserContent)


class OutliveConversationStore(ConversationStore):
    """Conversations in outlive's store. A deleted one no longer loads or lists, but its log is kept."""

    def __init__(self, store: str | None = None) -> None:
        """`store` is a URL; by default it is the store of the current workspace."""
        self._stores = open_stores(**Workspace.find(store=store).store)
        self._logs = LogCache(CLIENT, store=store)
        self._entries: OrderedDict[str, dict[str, ConversationEntry]] = OrderedDict()
        """Of the conversations that were read last."""

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """The newest record of a conversation."""
        events = self._logs.get(conversation_id).everything()
        noted = [event.data for event in events if isinstance(event, Checkpointed) and event.label == CONVERSATION]
        forms = [form for data in noted for form in unsealed(data.get("entries", []))]
        messages = ModelMessagesTypeAdapter.validate_python([form.pop("message") for form in forms])
        self._remember(
            conversation_id,
            [ConversationEntry(**form, message=message) for form, message in zip(forms, messages, strict=True)],
        )
        return _records.validate_python(noted[-1]["record"]) if noted and "record" in noted[-1] else None

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        """All records, the newest first. Reads the log of each."""
        found = [await self.read_record(info.id) for info in self._stores.logs.sessions()]
        records = [record for record in found if record and (scope is None or record.scope == scope)]
        return sorted(records, key=lambda record: record.updated_at, reverse=True)[:limit]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Log the record and its new entries in one write. A fork gets a copy of the entries that it shares."""
        id = record.conversation_id
        before = await self.read_record(id)
        if (before.revision if before else None) != expected_revision:
            raise ConversationConflict(id)
        try:
            shared = await self.read_history(record.head_id) if before is None and record.forked_from else []
            new_entries = [*shared, *new_entries]
            self._remember(id, [*self._entries[id].values(), *new_entries])
            history = [entry.message for entry in await self.read_history(record.head_id)]
        except LookupError:
            raise ConversationConflict(id) from None
        data = {"record": _records.dump_python(record, mode="json"), "entries": sealed(_dumped(new_entries))}
        with self._changing(id, expected_revision) as (log, session):
            session.log(Checkpointed, label=CONVERSATION, data=data)
            log.follow(list(_natives(history)), _read, _prompt_tokens)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Note that the conversation is deleted, and take back what was said."""
        if await self.read_record(conversation_id) is None:
            raise ConversationConflict(conversation_id)
        with self._changing(conversation_id, expected_revision) as (log, session):
            log.follow([], _read)
            session.log(Checkpointed, label=CONVERSATION)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """One entry of a conversation that was read before."""
        found = (entries[entry_id] for entries in reversed(self._entries.values()) if entry_id in entries)
        if (entry := next(found, None)) is None:
            raise LookupError(f"no conversation that was read has an entry {entry_id!r}")
        return entry

    def close(self) -> None:
        """Close connections to a database, if there are any."""
        self._logs.close()
        self._stores.close()

    @contextmanager
    def _changing(self, id: str, revision: str | None) -> Iterator[tuple[NativeLog, Session]]:
        """The session of a conversation, unless another process changed the conversation."""
        log = self._logs.get(id)
        try:
            with log.open() as session:
                if session.checkpoint(CONVERSATION).get("record", {}).get("revision") != revision:
                    raise ConversationConflict(id)
                yield log, session
        except SessionBusy:
            raise ConversationConflict(id) from None

    def _remember(self, id: str, entries: list[ConversationEntry]) -> None:
        self._entries.pop(id, None)
        self._entries[id] = {entry.id: entry for entry in entries}
        if len(self._entries) > MAX_OPEN_LOGS:
            self._entries.popitem(last=False)


def _dumped(entries: Sequence[ConversationEntry]) -> list[dict[str, Any]]:
    messages = ModelMessagesTypeAdapter.dump_python([entry.message for entry in entries], mode="json")
    return [
        {"id": entry.id, "parent_id": entry.parent_id, "message": message}
        for entry, message in zip(entries, messages, strict=True)
    ]


@dataclass
class OutliveHistory(AbstractCapability[Any]):
    """Keeps every request within the window, and gives the model a tool `recall` for what left it.

    The messages of the run stay as they are. `store` is a URL; by default it is the store of the current workspace.
    """

    window: int = DEFAULT_WINDOW
    store: str | None = None
    policy: Policy = RICH
    _logs: LogCache = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._logs = LogCache(CLIENT, store=self.store, window=self.window, policy=self.policy)

    def get_toolset(self) -> FunctionToolset[Any]:
        """The tool `recall`."""

        def recall(ctx: RunContext[Any], handle: str, first: int = 1, last: int = 0) -> str:
            return self._logs.get(ctx.conversation_id or "").recall(handle, first, last)

        toolset: FunctionToolset[Any] = FunctionToolset()
        toolset.add_function(recall, description=RECALL)
        return toolset

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Send a view of the messages that fits, also with another attempt."""
        messages = request_context.messages
        log = self._logs.get(ctx.conversation_id or "")
        standing = list(_standing(messages))
        asked = request_context.model_request_parameters
        prompts = [getattr(part, "content", "") for part in (*standing, *(asked.instruction_parts or ()))]
        tools = tuple(map(_tool, (*asked.function_tools, *asked.output_tools)))
        with log.open() as session:
            log.follow(list(_natives(messages)), _read, _prompt_tokens)
            session.change_system("\n\n".join(map(str, prompts)), tools)
            view = log.view()
        return replace(request_context, messages=_messages(view, messages, standing))

    async def on_model_request_error(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        """If the provider finds the request too long, try once more with the smallest view."""
        counted = read_too_long(str(error))
        if counted is None or request_context.attempt > 1:
            raise error
        with self._logs.get(ctx.conversation_id or "").open() as session:
            session.too_long(counted.actual, counted.limit)
        raise RetryModelRequest from error

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """None: it is made in code."""
        return None


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description or "",
        "input_schema": tool.parameters_json_schema,
    }


# -- messages in


def _natives(messages: Sequence[ModelMessage]) -> Iterator[Native]:
    for message in messages:
        if isinstance(message, ModelResponse):
            yield message
        else:
            yield from (part for part in message.parts if isinstance(part, _SAID))


def _standing(messages: Sequence[ModelMessage]) -> Iterator[ModelRequestPart]:
    for message in messages:
        if isinstance(message, ModelRequest):
            yield from (part for part in message.parts if not isinstance(part, _SAID))


def _prompt_tokens(native: Native) -> int:
    return native.usage.input_tokens if isinstance(native, ModelResponse) else 0


def _read(native: Native) -> Message:
    match native:
        case ModelResponse():
            return Message("assistant", tuple(_answer_blocks(native)))
        case ToolReturnPart():
            failed = native.outcome in ("failed", "retried")
            return Message("user", (ToolResult(native.tool_call_id, native.model_response_str(), failed),))
        case UserPromptPart():
            contents = [native.content] if isinstance(native.content, str) else native.content
            return Message("user", tuple(map(_user_block, contents)))
        case RetryFeedbackPart():
            return Message("user", (Text(native.model_response(), "harness"),))
    raise TypeError(f"{type(native).__name__} is not a part of the conversation")


def _answer_blocks(response: ModelResponse) -> Iterator[Block]:
    (form,) = ModelMessagesTypeAdapter.dump_python([response], mode="json")
    for part, raw in zip(response.parts, form["parts"], strict=True):
        match part:
            case TextPart():
                yield Text(part.content)
            case ThinkingPart():
                yield Thinking(part.content, part.signature or "")
            case ToolCallPart():
                yield ToolCall(part.tool_call_id, part.tool_name, part.args_as_dict())
            case _:
                yield Opaque(CLIENT, raw)


def _user_block(content: UserContent) -> Block:
    match content:
        case str():
            return Text(content)
        case TextContent():
            return Text(content.content)
        case ImageUrl():
            return Image(url=content.url)
        case BinaryContent() if content.is_image:
            return Image(content.media_type, b64encode(content.data).decode())
    return Opaque(CLIENT, _contents.dump_python(content, mode="json"))


# -- and back


def _messages(
    view: list[Shown], messages: Sequence[ModelMessage], standing: list[ModelRequestPart]
) -> list[ModelMessage]:
    """The messages of a view: those of the run, or for what a pass changed, others."""
    owners = {
        id(part): message for message in messages if isinstance(message, ModelRequest) for part in message.parts
    }
    found: list[ModelMessage] = []
    parts = list(standing)
    last = messages[-1]
    for shown in view:
        if shown.role == "user":
            parts.append(_request_part(shown))
            continue
        found.append(_request(parts, owners, ModelRequest(parts=[])))
        found.append(shown.native if shown.whole else ModelResponse(parts=[*_answer_parts(shown.blocks)]))
        parts = []
    found.append(_request(parts, owners, last if isinstance(last, ModelRequest) else ModelRequest(parts=[])))
    return found


def _request(parts: list[ModelRequestPart], owners: dict[int, ModelRequest], otherwise: ModelRequest) -> ModelRequest:
    """The request that these parts are of, with these parts."""
    owner = next((owners[id(part)] for part in reversed(parts) if id(part) in owners), otherwise)
    same = len(parts) == len(owner.parts) and all(map(lambda a, b: a is b, parts, owner.parts))
    return owner if same else replace(owner, parts=parts)


def _request_part(shown: Shown) -> ModelRequestPart:
    first, native = shown.blocks[0], shown.native
    if shown.whole or (native is not None and getattr(native, "tool_kind", None)):
        return cast(ModelRequestPart, native)
    if isinstance(first, ToolResult):
        if isinstance(native, ToolReturnPart):
            return replace(native, content=first.text)
        return ToolReturnPart(first.call_id, first.text, first.call_id, outcome="interrupted")
    return UserPromptPart([_content(block) for block in shown.blocks])


def _content(block: Block) -> UserContent:
    match block:
        case Text():
            return block.text
        case Image() if block.url:
            return ImageUrl(block.url)
        case Image():
            return BinaryContent(b64decode(block.data), media_type=block.media_type)
        case Opaque():
            return _contents.validate_python(block.data)
    raise TypeError(f"{type(block).__name__} in the turn of a user")


def _answer_parts(blocks: tuple[Block, ...]) -> Iterator[TextPart | ToolCallPart]:
    for block in blocks:
        if isinstance(block, Text):
            yield TextPart(block.text)
        elif isinstance(block, ToolCall):
            yield ToolCallPart(block.name, block.input, block.id)
