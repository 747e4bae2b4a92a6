"""The view as it was at any request, from the engine: a pure function of the log.

One engine a session follows its log. Units and the projections that were in force tell every earlier view that was
not taken back; for one that was, an engine of its own is replayed up to it.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from outlive.context.engine import Engine
from outlive.context.log.pages import Page
from outlive.context.log.pieces import Piece
from outlive.context.log.units import Unit
from outlive.context.projection import Projection
from outlive.context.rendering import digest_messages, opening, result_blocks, said_blocks
from outlive.context.tokens import IMAGE_TOKENS, estimate
from outlive.events import Compacted, Event, StateShown, Undone
from outlive.messages import Block, Image, Opaque, Text, Thinking, ToolCall, ToolResult
from outlive.web.sessions.past.pairs import REQUEST
from outlive.web.sessions.past.rows import ViewRow, row_of

WINDOW = 200_000
"""No pass is planned here, so its size does not matter."""
WORDS_BLOCK = 1_000
"""Number of the row with the user's words of a pass: beside its digest, which is 0, and what follows that."""


class Prompt(Struct, frozen=True):
    """What stands before all messages."""

    system: str = ""
    tools: tuple[dict[str, object], ...] = ()


def prompt_of(engine: Engine) -> Prompt:
    """What is in force."""
    return Prompt(engine.history.system, engine.history.tools)


class ReaderEngine(Engine):
    """An engine that plans no pass."""

    def __init__(self) -> None:
        super().__init__(WINDOW)


class ReplayedPast:
    """The engine of one log and the projections that were in force. Use it under its lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._engine = ReaderEngine()
        self._seen = 0
        """Events that were taken in."""
        self._projections: list[tuple[int, Projection]] = [(0, Projection())]
        """With the event that put each in force."""
        self._prompts: list[tuple[int, Prompt]] = [(0, Prompt())]
        """System prompts and tools, likewise."""
        self.views: OrderedDict[int, object] = OrderedDict()
        self.comparisons: OrderedDict[int, object] = OrderedDict()
        self.kept: OrderedDict[int, object] = OrderedDict()
        """What was computed last, by event (`answers`)."""

    def follow(self, events: Sequence[Event]) -> None:
        """Take in what is new of all events of a log."""
        for event in events[self._seen :]:
            self._take(event)
        self._seen = len(events)

    def _take(self, event: Event) -> None:
        if isinstance(event, Undone) and event.what != "pass":
            self._projections = [one for one in self._projections if one[0] <= event.target]
            self._prompts = [one for one in self._prompts if one[0] <= event.target]
        self._engine.append(event)
        prompt = prompt_of(self._engine)
        if prompt != self._prompts[-1][1]:
            self._prompts.append((event.id, prompt))
        if self._engine.projection is not self._projections[-1][1] and not _is_rewind(event):
            self._projections.append((event.id, self._engine.projection))

    def page(self, ref: str) -> Page:
        """What a handle gives back. Raises UnknownHandle."""
        return self._engine.recall(ref)

    def units_before(self, event: int) -> list[Unit]:
        return [unit for unit in self._engine.history.units if unit.event < event]

    def projection_before(self, event: int) -> Projection:
        """What was in force just before an event."""
        return next(projection for at, projection in reversed(self._projections) if at < event)

    def prompt_before(self, event: int) -> Prompt:
        """The system prompt and the tools that were in force just before an event."""
        return next(prompt for at, prompt in reversed(self._prompts) if at < event)

    def rows_before(self, event: int) -> list[ViewRow]:
        """The view just before an event."""
        units, prompt = self._engine.history.units, self.prompt_before(event)
        return list(view_rows(units, prompt, self.projection_before(event), event))

    @property
    def newest_pass(self) -> int:
        """The pass that undo would take back, 0 when there is none."""
        event = self._engine.projection.event
        return event if any(isinstance(one, Compacted) and one.id == event for one in self._engine.events) else 0


def _is_rewind(event: Event) -> bool:
    return isinstance(event, Undone) and event.what != "pass"


def replayed(events: Iterable[Event], before: int) -> Engine:
    """An engine that has seen all events before one, with everything that a pass looks at."""
    engine = Engine(WINDOW)
    for event in events:
        if event.id >= before:
            break
        engine.append(event)
    return engine


def rows_before(log: Sequence[Event], before: int) -> list[ViewRow]:
    """The view just before an event, replayed for it alone: the event may have been taken back since."""
    engine = ReaderEngine()
    for event in log:
        if event.id >= before:
            break
        engine.append(event)
    return list(view_rows(engine.history.units, prompt_of(engine), engine.projection, before))


def view_rows(units: list[Unit], prompt: Prompt, projection: Projection, before: int) -> Iterator[ViewRow]:
    """The blocks of a view before an event, in their order, each with the event that it comes from."""
    yield row_of("system", 0, 0, prompt.system, label="system prompt")
    if prompt.tools:
        text = json.dumps(prompt.tools, ensure_ascii=False, indent=1)
        tokens = estimate(json.dumps(prompt.tools, ensure_ascii=False)) - estimate(text)
        yield row_of("system", 0, 1, text, label=f"{len(prompt.tools)} tools", extra=tokens)
    units = [unit for unit in units if unit.event < before]
    yield from _front(units, projection)
    shown = [unit for unit in units if unit.event > projection.fold_to]
    after = projection.digest_after
    if after:
        early = [unit for unit in shown if unit.event <= after]
        for unit in early:
            yield from _unit_rows(unit, projection, before, states_to=after)
        yield from _digest_rows(units, projection)
        for unit in early:
            yield from _state_rows(unit, projection, before, states_from=after)
        shown = shown[len(early) :]
    for unit in shown:
        yield from _unit_rows(unit, projection, before)


def _front(units: list[Unit], projection: Projection) -> Iterator[ViewRow]:
    """What stands before all units."""
    if projection.provider_summary is not None:
        summary = opening(units, projection)[0].blocks[0]
        yield _block_row("digest", projection.event, 0, summary, label="the provider's summary")
    if not projection.digest_after:
        yield from _digest_rows(units, projection)


def _digest_rows(units: list[Unit], projection: Projection) -> Iterator[ViewRow]:
    segments = projection.segments
    for message in digest_messages(units, projection):
        for number, block in enumerate(message.blocks):
            if number < len(segments):
                own = segments[number].origin == "user"
                kind, at, label = ("user", WORDS_BLOCK, "the user's words") if own else ("digest", 0, "digest")
                yield _block_row(kind, segments[number].event, at, block, label=label)
            elif isinstance(block, Text):
                own = block.origin == "user"
                label, role = ("the current request", REQUEST) if own else ("what was done", "done")
                kind = "user" if own else "digest"
                yield _block_row(kind, projection.event, number + 1, block, label=label, role=role)
            else:
                role = f"picture {number - len(segments)} of the request"
                yield _block_row(
                    "user", projection.event, number + 1, block, label="picture of the request", role=role
                )


def _unit_rows(unit: Unit, projection: Projection, before: int, states_to: int = 1 << 62) -> Iterator[ViewRow]:
    pieces = {piece.key: piece for piece in unit.pieces}
    for number, block in said_blocks(unit, projection.edits):
        yield _block_row(
            _kind(unit, block),
            unit.event,
            number,
            block,
            piece=pieces.get((unit.event, number)),
            projection=projection,
        )
    for call_id, result in result_blocks(_as_of(unit, before), projection.edits, projection.shown_to):
        event = unit.results.get(call_id)
        id = event.id if event is not None and event.id < before else 0
        yield _block_row("results", id, 0, result, piece=pieces.get((id, 0)), projection=projection)
    yield from _state_rows(unit, projection, before, states_to=states_to)


def _as_of(unit: Unit, before: int) -> Unit:
    """The unit without results that came later."""
    if unit.last_event < before:
        return unit
    results = {call: event for call, event in unit.results.items() if event.id < before}
    return replace(unit, results=results)


def _state_rows(
    unit: Unit, projection: Projection, before: int, states_to: int = 1 << 62, states_from: int = 0
) -> Iterator[ViewRow]:
    def is_shown(state: StateShown) -> bool:
        return max(projection.shown_to, states_from) < state.id < min(before, states_to)

    for state in filter(is_shown, unit.states):
        yield row_of("state", state.id, 0, state.text, label="state block")


def _kind(unit: Unit, block: Block) -> str:
    if unit.kind == "user":
        return "user"
    return "calls" if isinstance(block, ToolCall) else "assistant"


def _block_row(
    kind: str,
    event: int,
    number: int,
    block: Block,
    *,
    label: str = "",
    role: str = "",
    piece: Piece | None = None,
    projection: Projection | None = None,
) -> ViewRow:
    short = projection is not None and (event, number) in projection.edits
    pages = piece.pages if piece is not None else ()
    match block:
        case Text() | Thinking():
            label = label or ("thinking" if isinstance(block, Thinking) else "")
            return row_of(kind, event, number, block.text, label=label, short=short, pages=pages, role=role)
        case ToolCall():
            text = piece.text if piece else block.name
            return row_of(kind, event, number, text, label=piece.label if piece else block.name, pages=pages)
        case ToolResult():
            label = piece.label if piece else ""
            extra = IMAGE_TOKENS * len(block.images)
            return row_of(kind, event, number, block.text, label=label, short=short, pages=pages, extra=extra)
        case Image():
            return row_of(kind, event, number, "", label=label or "picture", extra=IMAGE_TOKENS, role=role)
        case Opaque():
            return row_of(
                kind, event, number, "", label=label or f"block of {block.provider}", extra=estimate(str(block.data))
            )
