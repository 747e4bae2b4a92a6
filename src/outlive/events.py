"""The event vocabulary: what is in the log is what is streamed and what a dashboard shows.

An event has an `id` (1, 2, 3 … within its session; a fork goes on counting), a `time` (seconds since 1970,
UTC) and a `parent` (the event before it, 0 for the first). Events are never changed; later ones alter how
earlier ones are seen.

Version 1: the first.
Version 2: nothing here; in the lines of a log, large texts and pictures of what the user said, and pictures of
results, may stand elsewhere (`stores/logs/blobs.py`), and the digest of a pass may stand as the rows in which it
differs from the one before (`stores/logs/digests.py`).
Version 3: what the user said while the agent worked is logged when it is queued (`user_queued`, `unqueued`);
`tool_started` may name the process of a command.
Version 4: a text in the user's turn says who it is from (`origin`).
Version 5: a state block is logged when it is shown (`state_shown`); a pass may hold the current request beside its
digest.
Version 6: a pass may leave the digests of earlier passes as they are (`keeps`) and hold facts beside its own.
Version 7: a pass may use a summary that a provider wrote (`provider_summary`, `digest_after`); another system prompt
may wait for the next pass (`told`).

A reader that meets a type or a field layout it does not know keeps the event as `Unknown`, raw, and writes it back as
it was.
"""

from typing import Any

import msgspec
from msgspec import Struct

from outlive.messages import Block, Image, Opaque

VERSION = 7


class Base(Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """What every event carries."""

    id: int
    time: float
    parent: int = 0


# -- the session itself


class SessionStarted(Base, frozen=True, kw_only=True, tag="session_started"):
    """First event of a log: what does not change while the session lives."""

    session: str
    version: int = 1
    """The newest that the program knew which began the session; later events may be of a later one."""
    system: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    model: str = ""
    folder: str = ""


class SystemChanged(Base, frozen=True, kw_only=True, tag="system_changed"):
    """From here on another system prompt and other tools: instructions were edited, a skill came, a model changed."""

    system: str
    tools: tuple[dict[str, Any], ...] = ()
    told: str = ""
    """What the state block tells of the change until the next pass uses the prompt; empty if it is used at once."""


class Forked(Base, frozen=True, kw_only=True, tag="forked"):
    """This log goes on from event `at` of another session."""

    session: str
    at: int


class Renewed(Base, frozen=True, kw_only=True, tag="renewed"):
    """A new sprint: history before this event leaves the view, the handoff note takes its place."""

    handoff: str


# -- what was said and done


class UserSaid(Base, frozen=True, kw_only=True, tag="user_said"):
    """The user's turn: the user's words, and what others put beside them, each text with its origin."""

    blocks: tuple[Block, ...]
    queued: tuple[int, ...] = ()
    """The `UserQueued` events whose words these are."""


class UserQueued(Base, frozen=True, kw_only=True, tag="user_queued"):
    """Words of the user that wait. They enter the view as the `UserSaid` that names this event."""

    text: str


class Unqueued(Base, frozen=True, kw_only=True, tag="unqueued"):
    """The user took back words that waited."""

    events: tuple[int, ...]


class AssistantSaid(Base, frozen=True, kw_only=True, tag="assistant_said"):
    """One answer of the model: text, thinking, tool calls."""

    blocks: tuple[Block, ...]
    stop_reason: str = ""
    model: str = ""


class Process(Struct, frozen=True, omit_defaults=True):
    """A process group, so that it can be known again: `started` and `machine` are as the system tells them."""

    group: int
    started: str
    machine: str


class ToolStarted(Base, frozen=True, kw_only=True, tag="tool_started"):
    """These calls are about to run. A call that started and has no result may or may not have done its work.

    Of a command it comes a second time, with its process, which does nothing before this event is on disk.
    """

    calls: tuple[str, ...]
    process: Process | None = None


class Denial(Struct, frozen=True, omit_defaults=True):
    """Why a call was not run, and what the user could set so that it runs."""

    by: str = "user"
    """`user` (answered no), `unasked` (nobody to ask), `rule` (a deny rule), `mode` (plan mode), `hook`, `fence`."""
    rules: tuple[str, ...] = ()
    """Allow rules that would cover the call."""
    mode: str = ""
    """A permission mode in which it would run."""


class ToolFinished(Base, frozen=True, kw_only=True, tag="tool_finished"):
    """A tool call came back. A store may keep `text` elsewhere (`blob`) and put it back on reading."""

    call_id: str
    text: str
    is_error: bool = False
    exit_code: int | None = None
    images: tuple[Image, ...] = ()
    blob: str = ""
    seconds: float = 0.0
    denied: Denial | None = None
    """Set when the call was not allowed and did not run."""


# -- working state


class GoalSet(Base, frozen=True, kw_only=True, tag="goal_set"):
    """The goal of the run and how one will know that it is reached."""

    goal: str
    criteria: tuple[str, ...] = ()


class PlanStep(Struct, frozen=True, omit_defaults=True):
    """One step of the plan."""

    text: str
    done: bool = False


class PlanChanged(Base, frozen=True, kw_only=True, tag="plan_changed"):
    """A partial update: what is None stays as it is. Steps that stay keep their `done`.

    Numbers are those of the plan after the update; 1 is the first.
    """

    steps: tuple[PlanStep, ...] | None = None
    done: tuple[int, ...] = ()
    not_done: tuple[int, ...] = ()
    current_step: int | None = None
    progress: str | None = None
    blocked_on: str | None = None


class StateChanged(Base, frozen=True, kw_only=True, tag="state_changed"):
    """The rest of the working state that the model itself keeps; what is None stays as it is."""

    scratchpad: str | None = None
    preserved_refs: tuple[str, ...] | None = None
    criteria: tuple[str, ...] | None = None


class DirectiveGiven(Base, frozen=True, kw_only=True, tag="directive_given"):
    """A standing instruction in the user's own words, and the event it came from."""

    text: str
    source: int = 0
    pinned: bool = False


class DirectiveDropped(Base, frozen=True, kw_only=True, tag="directive_dropped"):
    """A standing instruction was withdrawn, or fell out of the bounded window."""

    text: str
    reason: str = ""


class OpenTask(Struct, frozen=True, omit_defaults=True):
    """A task of the shared graph as the state block shows it."""

    id: int
    subject: str
    status: str = "pending"


class TasksSeen(Base, frozen=True, kw_only=True, tag="tasks_seen"):
    """Snapshot of the open tasks that concern this session; replaces the previous one."""

    tasks: tuple[OpenTask, ...]
    done: tuple[int, ...] = ()
    """Those that are completed."""


class ModeChanged(Base, frozen=True, kw_only=True, tag="mode_changed"):
    """The user changed the permission mode."""

    mode: str


# -- the view


class StateShown(Base, frozen=True, kw_only=True, tag="state_shown"):
    """A state block entered the view here; it stays there unchanged until a pass."""

    text: str
    """As it reads: the whole state, or what changed since the block before."""
    sections: dict[str, str]
    """The state that the model knows from here on, by section."""
    whole: bool = True


class ViewEdit(Struct, frozen=True, omit_defaults=True):
    """In the view, block `block` of event `event` reads `text` instead."""

    event: int
    block: int
    text: str


class Receipt(Struct, frozen=True, omit_defaults=True):
    """What a pass did, for people and for the compression log. Tokens are the session meter's estimate."""

    rungs: tuple[str, ...]
    reason: str
    before: int
    after: int
    kinds_before: dict[str, int] = {}
    kinds_after: dict[str, int] = {}
    units_shrunk: int = 0
    units_folded: int = 0
    lines_kept: int = 0
    handles: tuple[int, ...] = ()
    cache_cost: int = 0
    seconds: float = 0.0


SPOOLED = ("spool",)
"""The rungs of a pass that changes only what no model has seen yet."""


class ProviderSummary(Struct, frozen=True):
    """A summary in a form that only its provider reads; it is sent back as it came."""

    block: Opaque
    tokens: int


class Compacted(Base, frozen=True, kw_only=True, tag="compacted"):
    """A pass. Says how the log is shown from now on; undoing it means using the pass before.

    Units up to event `fold_to` are replaced by the digests of the passes that it `keeps`, oldest first, and its own
    `digest`; `edits` alter what is left of them.
    """

    fold_to: int
    digest: str
    edits: tuple[ViewEdit, ...]
    receipt: Receipt
    focus: str = ""
    summary: str = ""
    pages: tuple[int, ...] = ()
    """Event, block and first page of what has got its pages since the pass before, so that handles outlive damage."""
    pictures: tuple[tuple[int, int], ...] = ()
    """Blocks of the current request that are no text and are shown beside the digest: event and number."""
    request: str = ""
    """The current request, if it is older than what stays: shown below the digest, as the user's words."""
    keeps: tuple[int, ...] = ()
    """Passes whose digests stand before this one, unchanged, so that a provider's cache still holds them."""
    facts: str = ""
    """What was changed, checked and failed until now: shown below the digest."""
    provider_summary: ProviderSummary | None = None
    """Stands before everything else."""
    digest_after: int = 0
    """The digest stands after what was said before this event, which so follows the provider's summary unchanged; 0
    if it stands before all that is not folded."""

    @property
    def keeps_front(self) -> bool:
        """Whether what was sent stays as it was, but for what this pass folds."""
        return bool(self.digest_after) or self.receipt.rungs == SPOOLED


class Undone(Base, frozen=True, kw_only=True, tag="undone"):
    """Takes back a pass (`target` is a `Compacted`), or all after an event (`target` is what stays last)."""

    target: int
    what: str = "pass"


# -- the rest


class UsageReported(Base, frozen=True, kw_only=True, tag="usage_reported"):
    """The provider's own count for the request that produced event `of`; 0 when it produced none, as a summary."""

    of: int
    input: int
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0
    cost: float | None = None
    """Dollars; None where the price is not known."""
    cache_miss: str = ""
    """Why the last request was not read from the cache as a whole, as the provider says it."""
    thinking_dropped: int = 0
    """Blocks of earlier thinking that the provider left out."""


class Checkpointed(Base, frozen=True, kw_only=True, tag="checkpointed"):
    """A point worth returning to."""

    label: str
    data: dict[str, Any] = {}


class Noted(Base, frozen=True, kw_only=True, tag="noted"):
    """Something the harness noticed (reconciliation, a failed summary call, a damaged line)."""

    text: str
    kind: str = "note"


class Unknown(Struct, frozen=True, kw_only=True):
    """An event written by a newer outlive: carried along, never understood."""

    id: int
    time: float
    parent: int
    raw: bytes


KnownEvent = (
    SessionStarted
    | SystemChanged
    | Forked
    | Renewed
    | UserSaid
    | UserQueued
    | Unqueued
    | AssistantSaid
    | ToolStarted
    | ToolFinished
    | GoalSet
    | PlanChanged
    | StateChanged
    | DirectiveGiven
    | DirectiveDropped
    | TasksSeen
    | ModeChanged
    | StateShown
    | Compacted
    | Undone
    | UsageReported
    | Checkpointed
    | Noted
)
Event = KnownEvent | Unknown


class _Envelope(Struct):
    """The part of an event that every version has."""

    id: int
    time: float
    type: str
    parent: int = 0


_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[KnownEvent] = msgspec.json.Decoder(KnownEvent)
_envelope = msgspec.json.Decoder(_Envelope)


def encode(event: Event) -> bytes:
    """One line of JSON, without the line end."""
    if isinstance(event, Unknown):
        return event.raw
    return _encoder.encode(event)


def decode(line: bytes) -> Event:
    """Read one line; raises `msgspec.DecodeError` when it is no event of any version."""
    try:
        try:
            event: KnownEvent = _decoder.decode(line)
            return event
        except msgspec.ValidationError:
            head = _envelope.decode(line)
            return Unknown(id=head.id, time=head.time, parent=head.parent, raw=bytes(line).strip())
    except RecursionError:
        raise msgspec.DecodeError("nested too deeply") from None
