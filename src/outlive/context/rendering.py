"""From units to messages: how a projection shows them. What was shown once is shown the same until the next pass."""

from collections.abc import Iterable, Iterator, Sequence

from outlive.context.log.units import Unit, first_from
from outlive.context.projection import Edits, Projection
from outlive.messages import Block, Message, Text, ToolResult

INTERRUPTED = "[no result: the call was interrupted]"
OPENING = "[the session starts here]"
EMPTY = "[nothing]"


def unit_messages(unit: Unit, edits: Edits, shown_to: int) -> list[Message]:
    """One unit as messages: the user's words, or an answer and the results of its calls."""
    said = tuple(block for _, block in said_blocks(unit, edits)) or (Text(EMPTY),)
    if unit.kind == "user":
        return [Message("user", said)]
    messages = [Message("assistant", said)]
    if unit.calls:
        messages.append(Message("user", tuple(block for _, block in result_blocks(unit, edits, shown_to))))
    return messages


def said_blocks(unit: Unit, edits: Edits) -> Iterator[tuple[int, Block]]:
    """What a unit says as it is shown: blocks with their numbers in its event."""
    for number, block in enumerate(unit.blocks):
        shown = _shown(unit.event, number, block, edits)
        if shown is not None:
            yield number, shown


def result_blocks(unit: Unit, edits: Edits, shown_to: int) -> Iterator[tuple[str, ToolResult]]:
    """The results of a unit as they are shown, by call."""
    for call_id in unit.calls:
        yield call_id, _result(unit, call_id, edits, shown_to)


def _shown(event: int, number: int, block: Block, edits: Edits) -> Block | None:
    if isinstance(block, Text):
        text = edits.get((event, number), block.text)
        return Text(text) if text.strip() else None  # providers refuse blank text
    return block


def _result(unit: Unit, call_id: str, edits: Edits, shown_to: int) -> ToolResult:
    event = unit.results.get(call_id)
    if event is None or (event.id > shown_to and event.id in unit.late):
        return ToolResult(call_id, INTERRUPTED, is_error=True)
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
    """The messages before the units that are shown: the provider's summary, and the digest unless it comes later."""
    summary = projection.provider_summary
    messages = [Message("assistant", (summary.block,))] if summary else []
    return messages if projection.digest_after else messages + digest_messages(units, projection)


def digest_messages(units: Sequence[Unit], projection: Projection) -> list[Message]:
    """The digest, and below it the facts and the current request with its pictures."""
    if not projection.segments:
        return []
    pictures = (
        block
        for event in sorted({event for event, _ in projection.pictures})
        for unit in units[first_from(units, event) : first_from(units, event + 1)]
        for number, block in enumerate(unit.blocks)
        if (event, number) in projection.pictures
    )
    digest = (Text(segment.text, segment.origin) for segment in projection.segments)
    facts = (Text(projection.facts),) if projection.facts else ()
    request = (Text(projection.request, "user"),) if projection.request else ()
    return [Message("user", (*digest, *facts, *request, *pictures))]


def conversation(units: Sequence[Unit], projection: Projection) -> list[Message]:
    """All messages under the projection of a new pass, before its first state block."""
    messages = opening(units, projection)
    for unit in units[first_from(units, projection.fold_to + 1) :]:
        join(messages, unit_messages(unit, projection.edits, unit.last_event))
    if projection.digest_after:
        join(messages, digest_messages(units, projection))
    return messages


def sendable(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, ending with a user message, as providers require."""
    if messages and messages[-1].role == "user":
        return tuple(messages)
    return (*messages, Message("user", (Text(EMPTY if messages else OPENING),)))
