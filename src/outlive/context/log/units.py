"""Units: what is kept together or dropped together.

A unit is either what the user said at one point, or one answer of the model with all of its tool calls, their
results and the thinking that belongs to them. Nothing in this package ever shows half a unit.
"""

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

from msgspec import Struct

from outlive.context.log.pieces import Piece, call_text, make_piece, object_piece
from outlive.context.tokens import BLOCK_TOKENS, IMAGE_TOKENS
from outlive.events import AssistantSaid, StateShown, SystemChanged, ToolFinished, UserSaid
from outlive.messages import (
    Block,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    call_file,
    call_label,
    is_recall,
    is_writing,
)
from outlive.origin import origin_of


class Unit(Struct, eq=False, gc=False):
    """One atom of the conversation. It points at nothing that could point back, so it is not tracked for cycles."""

    kind: str
    """`user` or `step`."""
    number: int
    """Which unit of the session it is, counted from 0."""
    event: int
    last_event: int
    time: float
    blocks: tuple[Block, ...]
    pieces: list[Piece] = []
    calls: dict[str, Piece] = {}
    results: dict[str, ToolFinished] = {}
    pages: tuple[int, ...] = ()
    """Those of all its pieces, in their order."""
    objects: tuple[int, ...] = ()
    """The handles of its pictures and other objects."""
    late: frozenset[int] = frozenset()
    """Results that came when the model had answered without them."""
    states: tuple[StateShown, ...] = ()
    """State blocks that were shown after it."""
    tools_changed: tuple[SystemChanged, ...] = ()
    """Changes of the tools that hold from it on."""
    extra: float = 0.0
    """Tokens beside its texts: pictures, brackets, signatures."""

    @property
    def tokens(self) -> float:
        return self.extra + sum(piece.tokens for piece in self.pieces)

    def add(self, piece: Piece) -> None:
        """Add a piece; its pages are counted later (`recount`)."""
        piece.unit = self.number
        self.pieces.append(piece)

    def recount(self) -> None:
        """Its pages and objects, after those of a piece have changed."""
        self.pages = tuple(dict.fromkeys(page for piece in self.pieces for page in piece.pages))
        self.objects = tuple(number for piece in self.pieces for number in piece.objects)


_event = attrgetter("event")


def first_from(found: Sequence[Unit] | Sequence[Piece], event: int) -> int:
    """The number of the first of these, which are in order, with this event or a later one."""
    return bisect_left(found, event, key=_event)


def user_unit(event: UserSaid, number: int) -> Unit:
    """What the user said at one point."""
    unit = Unit("user", number, event.id, event.id, event.time, event.blocks)
    for at, block in enumerate(event.blocks):
        unit.extra += BLOCK_TOKENS
        if isinstance(block, Text):
            unit.add(make_piece(event.id, at, "user", block.text))
            unit.pieces[-1].origin = origin_of(block)
        elif isinstance(block, (Image, Opaque)):
            unit.add(object_piece(event.id, at, block))
    return unit


def step_unit(event: AssistantSaid, number: int) -> Unit:
    """One answer of the model; its results follow with `add_result`."""
    unit = Unit("step", number, event.id, event.id, event.time, event.blocks)
    for at, block in enumerate(event.blocks):
        unit.extra += BLOCK_TOKENS
        if isinstance(block, Text):
            unit.add(make_piece(event.id, at, "said", block.text))
        elif isinstance(block, Thinking):
            unit.extra += len(block.signature) / 8
            unit.add(make_piece(event.id, at, "thought", block.text))
        elif isinstance(block, ToolCall):
            unit.add(_call_piece(event.id, at, block))
            unit.calls[block.id] = unit.pieces[-1]
        elif isinstance(block, Opaque) and block.is_unreadable:
            unit.extra += len(str(block.data)) / 8  # as a signature: there is nothing to recall in it
        elif isinstance(block, (Image, Opaque)):
            unit.add(object_piece(event.id, at, block))
    return unit


def _call_piece(event: int, number: int, call: ToolCall) -> Piece:
    piece = make_piece(event, number, "call", call_text(call))
    piece.tool = call.name
    piece.label = call_label(call)
    piece.file = call_file(call)
    piece.writes = is_writing(call)
    piece.recalled = is_recall(call)
    return piece


def add_result(unit: Unit, event: ToolFinished) -> Piece:
    """Attach a result to its call."""
    call = unit.calls[event.call_id]
    piece = make_piece(event.id, 0, "result", event.text)
    piece.tool, piece.label, piece.file, piece.writes = call.tool, call.label, call.file, call.writes
    piece.call_id, piece.recalled = event.call_id, call.recalled and not event.is_error
    piece.is_error, piece.exit_code, piece.attached = event.is_error, event.exit_code, event.images
    unit.add(piece)
    unit.results[event.call_id] = event
    unit.extra += BLOCK_TOKENS + IMAGE_TOKENS * len(event.images)
    unit.last_event = max(unit.last_event, event.id)
    return piece


def steps_shown(units: Sequence[Unit], folded: int, most: int) -> int:
    """How many of the newest `most` answers with calls stand in the view, because they are not folded."""
    shown = 0
    for at in range(len(units) - 1, folded - 1, -1):
        if shown == most:
            break
        shown += bool(units[at].calls)
    return shown
