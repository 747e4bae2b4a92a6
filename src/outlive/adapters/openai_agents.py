"""A `Session` for openai-agents whose items come back as a view that fits the window.

Items are kept verbatim in the session's log, and come back as they were until a pass edits or folds them.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from agents.memory.session_settings import resolve_session_limit
from agents.run_config import CallModelData, ModelInputData

from agents import SessionSettings, TResponseInputItem, function_tool
from outlive.adapters.native_log import RECALL, NativeLog, Shown, sealed, unsealed
from outlive.adapters.sources import Said
from outlive.agent.log.session_log import DEFAULT_WINDOW
from outlive.agent.session import Session
from outlive.context.policy import RICH, Policy
from outlive.events import Checkpointed
from outlive.messages import Block, Image, Message, Opaque, Text, ToolCall, ToolResult
from outlive.models.openai.form import PROVIDER, arguments_form, image_url
from outlive.models.repair import read_arguments

CLIENT = "openai-agents"
ITEMS = "items"
Item = dict[str, Any]
_TEXT_OUTPUTS = ("function_call_output", "custom_tool_call_output")
"""Results that may be shortened; the others are not text and stay as they are until their whole unit leaves."""
_CALL_FIELDS = ("type", "id", "call_id", "status", "name")


class OutliveSession:
    """A session of openai-agents, kept in outlive's store."""

    session_settings: SessionSettings | None = None

    def __init__(
        self,
        session_id: str,
        *,
        store: str | None = None,
        window: int = DEFAULT_WINDOW,
        reserve: int = 0,
        policy: Policy = RICH,
    ) -> None:
        """`reserve`: tokens of the window that instructions and tools take. `store` is a URL; by default it is the
        store of the current workspace."""
        self.session_id = session_id
        self._log = _ItemLog(CLIENT, session_id, store=store, window=window, policy=policy, reserve=reserve)
        self._given: list[Item] = []
        self._added: list[Item] = []
        self.recall_tool = function_tool(self._log.recall, description_override=RECALL)
        """Give it to the agent, so that the model can read what left the view."""

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The view: all items while they fit the window; else the newest, under a digest of the rest."""
        items = self._view(ask=False)
        most = resolve_session_limit(limit, self.session_settings)
        self._given, self._added = items if most is None else items[-most:] if most > 0 else [], []
        return cast("list[TResponseInputItem]", list(self._given))

    async def add_items(self, items: Sequence[TResponseInputItem]) -> None:
        """Log items in one write."""
        self._add(cast("list[Item]", list(items)))
        self._added += cast("list[Item]", list(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Take back the newest item. The log keeps it."""
        with self._log.open() as session:
            batches = _batches(session)
            if not batches:
                return None
            *rest, last = unsealed(batches[-1].data[ITEMS])
            session.undo_to(batches[-1].id - 1)
            self._add(rest)
        return cast(TResponseInputItem, last)

    async def clear_session(self) -> None:
        """Take back everything. The log keeps it."""
        with self._log.open() as session:
            if batches := _batches(session):
                session.undo_to(batches[0].id - 1)

    def fit(self, data: CallModelData[Any]) -> ModelInputData:
        """`RunConfig(call_model_input_filter=session.fit)` keeps requests within the window during a long run, too.

        An input that is not made of this session's items alone is left as it is.
        """
        asked = data.model_data
        new = asked.input[len(self._given) :]
        if not self._added or len(new) != len(self._added) or not all(map(_same, new, self._added)):
            return asked
        with self._log.open() as session:
            session.change_system(asked.instructions or "", ())
            return ModelInputData(cast("list[TResponseInputItem]", self._view(ask=True)), asked.instructions)

    def close(self) -> None:
        """Close the connection to a database, if there is one."""
        self._log.close()

    def _add(self, items: list[Item]) -> None:
        if items:
            with self._log.open() as session:
                event = session.log(Checkpointed, label=ITEMS, data={ITEMS: sealed(items)})
                for native, message in _groups(unsealed(event.data[ITEMS])):
                    self._log.add(native, message)

    def _view(self, *, ask: bool) -> list[Item]:
        """Instructions, and the view. A call without a result is answered when the model is asked."""
        with self._log.open() as session:
            stored = [form for batch in _batches(session) for form in batch.data[ITEMS] if isinstance(form, dict)]
            kinds = {form.get("call_id"): str(form.get("type")) for form in stored}
            found = [unsealed(form) for form in stored if _is_system(form)]
            for part in self._log.view(ask=ask):
                block = part.blocks[0]
                if part.native is not None or not isinstance(block, ToolResult):
                    found += _items(part)
                elif ask:
                    found.append(_output(kinds[block.call_id], block))
            return found


class _ItemLog(NativeLog):
    """A log that holds the items of each event right before it."""

    def loaded(self, session: Session) -> None:
        groups: Iterator[tuple[Any, Message]] = iter(())
        for event in session.events:
            if isinstance(event, Checkpointed) and event.label == ITEMS:
                groups = _groups(unsealed(event.data[ITEMS]))
            elif isinstance(event, Said) and (group := next(groups, None)):
                self.know(event, *group)


def _batches(session: Session) -> list[Checkpointed]:
    """The events that hold the items which were added, oldest first."""
    return [event for event in session.events if isinstance(event, Checkpointed) and event.label == ITEMS]


def _is_system(item: Item) -> bool:
    """Whether an item is an instruction of the program, which no pass may touch."""
    return item.get("role") in ("system", "developer")


def _same(sent: Any, stored: Item) -> bool:
    """Whether an item of a request is this one; the library leaves out fields that are empty, and ids."""
    keys = {"type", "role", "content", "call_id", "name", "arguments", "output"}
    return all(sent.get(key) == stored.get(key) for key in keys & stored.keys())


# -- items to messages


def _groups(items: Sequence[Item]) -> Iterator[tuple[Any, Message]]:
    """What is one event each: a message of the user, a result, or all items of one answer (as a list)."""
    answer: list[Item] = []
    for item in items:
        if _is_system(item):
            continue
        is_result = str(item.get("type")).endswith("_output") and isinstance(item.get("call_id"), str)
        if item.get("role") != "user" and not is_result:
            answer.append(item)
            continue
        if answer:
            yield answer, _answer(answer)
            answer = []
        yield item, Message("user", (_result(item),) if is_result else _parts(item.get("content")))
    if answer:
        yield answer, _answer(answer)


def _answer(items: list[Item]) -> Message:
    return Message("assistant", tuple(block for item in items for block in _answer_blocks(item)))


def _answer_blocks(item: Item) -> tuple[Block, ...]:
    if item.get("role") == "assistant":
        return _parts(item.get("content"))
    kind, call_id = str(item.get("type")), item.get("call_id")
    if not kind.endswith("_call") or not isinstance(call_id, str):
        return (Opaque(PROVIDER, item),)
    if kind == "function_call":
        return (ToolCall(call_id, str(item.get("name")), read_arguments(item.get("arguments"))),)
    given = {key: value for key, value in item.items() if key not in _CALL_FIELDS}
    return (ToolCall(call_id, str(item.get("name") or kind.removesuffix("_call")), given),)


def _result(item: Item) -> ToolResult:
    output = item.get("output")
    if isinstance(output, list):
        blocks = _parts(output)
        images = tuple(block for block in blocks if isinstance(block, Image))
        text = "\n".join(block.text for block in blocks if isinstance(block, Text))
        return ToolResult(item["call_id"], text, images=images)
    return ToolResult(item["call_id"], output if isinstance(output, str) else json.dumps(output, ensure_ascii=False))


def _parts(content: Any) -> tuple[Block, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple(map(_part, content or ()))


def _part(part: Item) -> Block:
    text = part.get("text") or part.get("refusal")
    if isinstance(text, str):
        return Text(text)
    url = part.get("image_url")
    if part.get("type") != "input_image" or not isinstance(url, str):
        return Opaque(PROVIDER, part)
    kind, found, data = url.removeprefix("data:").partition(";base64,")
    return Image(kind, data) if url.startswith("data:") and found else Image(url=url)


# -- and back


def _items(part: Shown) -> list[Item]:
    """The items of a part of the view: those that were stored, or for what a pass changed, others."""
    if part.whole:
        return part.native if part.role == "assistant" else [part.native]
    if part.role == "assistant":
        calls = {item.get("call_id"): item for native in part.native for item in native}
        return [item for block in part.blocks if (item := _answer_item(block, calls))]
    return [_user_item(block, part.native) for block in part.blocks]


def _answer_item(block: Block, calls: dict[Any, Item]) -> Item | None:
    """Without ids: to the provider they name items that had their reasoning before them."""
    match block:
        case Text():
            return {"role": "assistant", "content": block.text}
        case ToolCall() if (item := calls.get(block.id)) and item["type"] != "function_call":
            return {key: value for key, value in item.items() if key != "id"}
        case ToolCall():
            form = {"call_id": block.id, "name": block.name, "arguments": arguments_form(block)}
            return {"type": "function_call", **form}
    return None


def _output(kind: str, result: ToolResult) -> Item:
    """The result of a call of a kind."""
    return {"type": f"{kind.removesuffix('_output')}_output", "call_id": result.call_id, "output": result.text}


def _user_item(block: Block, native: Item | None) -> Item:
    match block:
        case ToolResult() if native and native["type"] not in _TEXT_OUTPUTS:
            return native
        case ToolResult() if native:
            return {**native, "output": block.text}
        case Image():
            part = {"type": "input_image", "image_url": image_url(block), "detail": "auto"}
            return {"role": "user", "content": [part]}
        case Opaque():
            return {"role": "user", "content": [block.data]}
        case Text():
            return {"role": "user", "content": block.text}
    raise TypeError(f"{type(block).__name__} in the turn of a user")
