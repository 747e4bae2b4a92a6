"""From units to messages: what the model is shown under a projection.

A projection says which units are folded into a digest and which blocks read differently. It comes from the newest
pass in the log that was not undone, so the same log always gives the same view.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from outlive.context.units import Unit
from outlive.events import Compacted
from outlive.messages import Block, Message, Text, ToolResult

INTERRUPTED = "[no result: the call was interrupted]"
OPENING = "[the session starts here]"
EMPTY = "[nothing]"

Edits = Mapping[tuple[int, int], str]


@dataclass(frozen=True, slots=True)
class Projection:
    """How the log is shown."""

    event: int = 0
    """The pass it comes from; 0 when there was none."""
    fold_to: int = 0
    digest: str = ""
    edits: Edits = field(default_factory=dict)
    summary: str = ""
    pictures: tuple[tuple[int, int], ...] = ()
    """Pictures of the current request, if the request is in the digest."""


def projection_of(event: Compacted) -> Projection:
    """The projection that a pass put in force."""
    edits = {(edit.event, edit.block): edit.text for edit in event.edits}
    return Projection(event.id, event.fold_to, event.digest, edits, event.summary, event.pictures)


def unit_messages(unit: Unit, edits: Edits) -> list[Message]:
    """One unit as messages: the user's words, or an answer and the results of its calls."""
    shown = (_shown(unit.event, number, block, edits) for number, block in enumerate(unit.blocks))
    blocks = tuple(block for block in shown if block is not None)
    if unit.kind == "user":
        return [Message("user", blocks or (Text(EMPTY),))]
    messages = [Message("assistant", blocks or (Text(EMPTY),))]
    if unit.calls:
        messages.append(Message("user", tuple(_result(unit, call_id, edits) for call_id in unit.calls)))
    return messages


def _shown(event: int, number: int, block: Block, edits: Edits) -> Block | None:
    if isinstance(block, Text):
        text = edits.get((event, number), block.text)
        return Text(text) if text.strip() else None  # providers refuse blank text
    return block


def _result(unit: Unit, call_id: str, edits: Edits) -> ToolResult:
    if call_id not in unit.results:
        return ToolResult(call_id, INTERRUPTED, is_error=True)
    event, _ = unit.results[call_id]
    text = edits.get((event.id, 0))
    if text is None:
        return ToolResult(call_id, event.text, event.is_error, event.images)
    return ToolResult(call_id, text, event.is_error)


def join(messages: list[Message], new: Iterable[Message]) -> None:
    """Append, merging neighbours of the same role, which providers want to alternate."""
    for message in new:
        if not messages and message.role == "assistant":
            messages.append(Message("user", (Text(OPENING),)))
        if messages and messages[-1].role == message.role:
            messages[-1] = Message(message.role, (*messages[-1].blocks, *message.blocks))
        else:
            messages.append(message)


def opening(units: Sequence[Unit], projection: Projection) -> list[Message]:
    """The digest, with the pictures of the current request."""
    if not projection.digest:
        return []
    wanted = set(projection.pictures)
    pictures = (
        block
        for unit in (units if wanted else ())
        for number, block in enumerate(unit.blocks)
        if (unit.event, number) in wanted
    )
    return [Message("user", (Text(projection.digest), *pictures))]


def conversation(units: Sequence[Unit], projection: Projection) -> list[Message]:
    """All messages under a projection, without the state block."""
    messages = opening(units, projection)
    for unit in units:
        if unit.event > projection.fold_to:
            join(messages, unit_messages(unit, projection.edits))
    return messages


def with_state(messages: list[Message], block: str) -> tuple[Message, ...]:
    """The request: the history and, as its last words, the state block."""
    if not block:
        block = EMPTY if not messages or messages[-1].role == "assistant" else ""
    request = list(messages)
    if block:
        join(request, [Message("user", (Text(block),))])
    return tuple(request)
