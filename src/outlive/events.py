"""The events of a session. The log stores them, faces stream them, dashboards show them.

An event has an `id` (1, 2, 3 … within its session; a fork continues the count), a `time` (seconds since 1970, UTC)
and a `parent` (the event before it, 0 for the first). Events are never changed; later ones change how earlier ones
are shown.

Version 1: the first.
Version 2: no change here; in log lines, large texts and images may be stored as blobs (`stores/logs/blobs.py`), and
the digest of a pass as a difference to the one before (`stores/logs/digests.py`).
Version 3: words that the user says during a run are logged when they are queued (`user_queued`, `unqueued`);
`tool_started` may name the process of a command.
Version 4: a text in the user's turn says who wrote it (`origin`).
Version 5: a state block is logged when it is shown (`state_shown`); a pass may hold the current request beside its
digest.
Version 6: a pass may leave the digests of earlier passes unchanged (`keeps`) and hold facts beside its own.
Version 7: a pass may use a summary by the provider (`provider_summary`, `digest_after`); a new system prompt may wait
for the next pass (`told`).
Version 8: a pass logs how the folded lines changed that later ones choose from (`pool`), and on its receipt only the
handles that it added.
Version 9: a permission question is logged when it is asked (`permission_asked`), its answer with who gave it
(`permission_answered`), and a change of the mode with who made it (`mode_changed.by`).
Version 10: which files a call changed, with what they held before (`files_changed`); in a pass, the user's own words
stand apart from the rest of its digest (`words`).

A reader keeps an event of an unknown type or layout as `Unknown`, raw, and writes it back unchanged.
"""

from typing import Any

import msgspec
from msgspec import Struct

from outlive.messages import Block, Image, Opaque

VERSION = 10  # of the lines of a log; see above


class Base(Struct, frozen=True, gc=False, kw_only=True, tag_field="type", omit_defaults=True):
    """Fields of every event."""

    id: int
    time: float
    parent: int = 0


# -- the session itself


class SessionStarted(Base, frozen=True, kw_only=True, tag="session_started"):
    """The first event of a log: the constants of a session."""

    session: str
    version: int = 1
    """The newest event version of the program that began the session; later events may be newer."""
    system: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    model: str = ""
    folder: str = ""


class SystemChanged(Base, frozen=True, kw_only=True, tag="system_changed"):
    """A new system prompt and new tools from here on: edited instructions, a new skill, another model."""

    system: str
    tools: tuple[dict[str, Any], ...] = ()
    told: str = ""
    """What the state block says about the change until the next pass applies the prompt; empty if it applies at
    once."""
    keeps_tools: bool = False
    """Requests declare the tools of before until the next pass, and say how they changed."""


class Forked(Base, frozen=True, kw_only=True, tag="forked"):
    """This log continues event `at` of another session."""

    session: str
    at: int


class Renewed(Base, frozen=True, kw_only=True, tag="renewed"):
    """A new sprint: the history before this event leaves the view, and the handoff note replaces it."""

    handoff: str


# -- what was said and done


class UserSaid(Base, frozen=True, kw_only=True, tag="user_said"):
    """A user turn: the user's words and texts that others added to it, each with its origin."""

    blocks: tuple[Block, ...]
    queued: tuple[int, ...] = ()
    """The `UserQueued` events with these words."""


class UserQueued(Base, frozen=True, kw_only=True, tag="user_queued"):
    """Queued words of the user. They enter the view with the `UserSaid` that names this event."""

    text: str


class Unqueued(Base, frozen=True, kw_only=True, tag="unqueued"):
    """The user withdrew queued words."""

    events: tuple[int, ...]


class AssistantSaid(Base, frozen=True, kw_only=True, tag="assistant_said"):
    """One answer of the model: text, thinking, tool calls."""

    blocks: tuple[Block, ...]
    stop_reason: str = ""
    model: str = ""


class Process(Struct, frozen=True, gc=False, omit_defaults=True):
    """A process group that can be recognised later: `started` and `machine` come from the system."""

    group: int
    started: str
    machine: str


class ToolStarted(Base, frozen=True, kw_only=True, tag="tool_started"):
    """These calls are about to run. A call that started and has no result may or may not have done its work.

    A command has a second one with its process, which does nothing before this event is on disk.
    """

    calls: tuple[str, ...]
    process: Process | None = None


class Denial(Struct, frozen=True, gc=False, omit_defaults=True):
    """Why a call was not run, and what the user could set to allow it."""

    by: str = "user"
    """`user` (answered no), `unasked` (nobody to ask), `rule` (a deny rule), `mode` (plan mode), `hook`, `fence`."""
    rules: tuple[str, ...] = ()
    """Allow rules that would cover the call."""
    mode: str = ""
    """A permission mode in which it would run."""


class PermissionAsked(Base, frozen=True, kw_only=True, tag="permission_asked"):
    """Somebody is asked whether a call may run. Until it is answered, the session waits for them."""

    call_id: str
    tool: str


class PermissionAnswered(Base, frozen=True, kw_only=True, tag="permission_answered"):
    """Somebody was asked whether a call may run, and answered."""

    call_id: str
    tool: str
    choice: str
    """`yes`, `always` or `no`."""
    by: str = ""
    """Who answered, and from where; empty if the program that asked does not say."""
    rules: tuple[str, ...] = ()
    """The allow rules that `always` added."""


class ToolFinished(Base, frozen=True, kw_only=True, tag="tool_finished"):
    """The result of a tool call. A store may keep `text` as a blob (`blob`) and restores it on reading."""

    call_id: str
    text: str
    is_error: bool = False
    exit_code: int | None = None
    images: tuple[Image, ...] = ()
    blob: str = ""
    seconds: float = 0.0
    denied: Denial | None = None
    """Set when the call was not allowed and did not run."""


UNREAD = "?"
"""Takes the place of a SHA-256 if a file is too large to be read, or is no regular file."""


class ChangedFile(Struct, frozen=True, gc=False, omit_defaults=True):
    """A file that changed: SHA-256 before and after, empty where it did not exist."""

    path: str
    """Relative to the workspace, or absolute."""
    before: str = ""
    after: str = ""
    mode: int = 0
    """Permission bits before."""
    kept: bool = True
    """Whether the earlier content was kept, in the store or (if it holds a secret) on this machine."""


class FilesChanged(Base, frozen=True, kw_only=True, tag="files_changed"):
    """A call changed files."""

    files: tuple[ChangedFile, ...]
    call_id: str = ""
    """Empty if the user restored them."""
    more: int = 0
    """Changed files that are not named."""


# -- working state


class GoalSet(Base, frozen=True, kw_only=True, tag="goal_set"):
    """The goal of the run and the criteria for reaching it."""

    goal: str
    criteria: tuple[str, ...] = ()


class PlanStep(Struct, frozen=True, gc=False, omit_defaults=True):
    """One step of the plan."""

    text: str
    done: bool = False


class PlanChanged(Base, frozen=True, kw_only=True, tag="plan_changed"):
    """A partial update of the plan: None leaves a field unchanged. Steps that stay keep their `done`. Numbers refer
    to the plan after the update, from 1."""

    steps: tuple[PlanStep, ...] | None = None
    done: tuple[int, ...] = ()
    not_done: tuple[int, ...] = ()
    current_step: int | None = None
    progress: str | None = None
    blocked_on: str | None = None


class StateChanged(Base, frozen=True, kw_only=True, tag="state_changed"):
    """The parts of the working state that the model maintains; None leaves a field unchanged."""

    scratchpad: str | None = None
    preserved_refs: tuple[str, ...] | None = None
    criteria: tuple[str, ...] | None = None


class DirectiveGiven(Base, frozen=True, kw_only=True, tag="directive_given"):
    """A standing instruction in the user's own words, and the event it came from."""

    text: str
    source: int = 0
    pinned: bool = False


class DirectiveDropped(Base, frozen=True, kw_only=True, tag="directive_dropped"):
    """A standing instruction was withdrawn, or dropped out of the bounded window."""

    text: str
    reason: str = ""


class OpenTask(Struct, frozen=True, gc=False, omit_defaults=True):
    """A task of the shared graph as the state block shows it."""

    id: int
    subject: str
    status: str = "pending"


class TasksSeen(Base, frozen=True, kw_only=True, tag="tasks_seen"):
    """Snapshot of this session's open tasks; replaces the previous one."""

    tasks: tuple[OpenTask, ...]
    done: tuple[int, ...] = ()
    """Completed tasks."""


class ModeChanged(Base, frozen=True, kw_only=True, tag="mode_changed"):
    """The user changed the permission mode."""

    mode: str
    by: str = ""
    """Who, and from where; empty if it came with the session."""


# -- the view


class StateShown(Base, frozen=True, kw_only=True, tag="state_shown"):
    """A state block entered the view here; it stays unchanged until a pass."""

    text: str
    """The text shown: the whole state, or the changes since the block before."""
    sections: dict[str, str]
    """The state that the model knows from here on, by section."""
    whole: bool = True


class ViewEdit(Struct, frozen=True, gc=False, omit_defaults=True):
    """In the view, `text` replaces block `block` of event `event`."""

    event: int
    block: int
    text: str


class Receipt(Struct, frozen=True, gc=False, omit_defaults=True):
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
    """Pages whose handles the pass brought into the view; before version 8, all whose handles stand there."""
    cache_cost: int = 0
    seconds: float = 0.0


SPOOL_ONLY = ("spool",)
"""Rungs of a pass that changes only what no model has seen yet."""


class ProviderSummary(Struct, frozen=True, gc=False):
    """A summary that only its provider can read; it is sent back unchanged."""

    block: Opaque
    tokens: int


class PoolChange(Struct, frozen=True, gc=False, omit_defaults=True):
    """How a pass changed the pool, the folded lines that later passes choose from (`context/passes/lines/pool.py`).

    Lines are written by piece: event (as a difference to the one before), block, how many runs of lines follow, and
    of each run how many lines are passed over before it and how many are in it.
    """

    after: int = 0
    """The pass whose pool is changed; 0 if the pool is written whole."""
    added: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()


class Compacted(Base, frozen=True, kw_only=True, tag="compacted"):
    """A pass: defines how the log is shown from now on. Undoing it means using the pass before.

    Units up to event `fold_to` are replaced by the digests of the passes that it `keeps`, oldest first, and its own
    `words` and `digest`; `edits` change what is left of them.
    """

    fold_to: int
    digest: str
    edits: tuple[ViewEdit, ...]
    receipt: Receipt
    focus: str = ""
    summary: str = ""
    pages: tuple[int, ...] = ()
    """Event, block and first page of text that got its pages since the pass before, so that handles survive
    damage."""
    pictures: tuple[tuple[int, int], ...] = ()
    """Non-text blocks of the current request that are shown beside the digest, as (event, number)."""
    request: str = ""
    """The current request, if it is older than the tail: shown below the digest, as the user's words."""
    keeps: tuple[int, ...] = ()
    """Passes whose digests are kept before this one, unchanged, so that the provider's cache still holds them."""
    facts: str = ""
    """What was changed, checked and failed so far: shown below the digest."""
    provider_summary: ProviderSummary | None = None
    """Comes before everything else."""
    digest_after: int = 0
    """The digest follows the messages before this event, which follow the provider's summary unchanged; 0 if the
    digest comes before everything that is not folded."""
    words: str = ""
    """The user's own words in what this pass folds: shown before its `digest`, as the user's. Before version 10 they
    stand in the digest."""
    pool: PoolChange | None = None
    """What later passes choose from; None if this pass folded nothing, or was written before version 8."""

    @property
    def keeps_front(self) -> bool:
        """Whether the messages sent before stay unchanged, except for those that this pass folds."""
        return bool(self.digest_after) or self.receipt.rungs == SPOOL_ONLY


class Undone(Base, frozen=True, kw_only=True, tag="undone"):
    """Undoes a pass (`target` is a `Compacted`), or everything after the event `target`."""

    target: int
    what: str = "pass"


# -- the rest


class UsageReported(Base, frozen=True, kw_only=True, tag="usage_reported"):
    """The provider's own count for the request that produced event `of`; 0 if it produced none, such as a summary."""

    of: int
    input: int
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0
    cost: float | None = None
    """Dollars; None if the price is unknown."""
    cache_miss: str = ""
    """Why the last request was not read from the cache completely, in the provider's words."""
    thinking_dropped: int = 0
    """Blocks of earlier thinking that the provider dropped."""


class Checkpointed(Base, frozen=True, kw_only=True, tag="checkpointed"):
    """A point worth returning to."""

    label: str
    data: dict[str, Any] = {}


class Noted(Base, frozen=True, kw_only=True, tag="noted"):
    """Something the harness noticed: a reconciliation, a failed summary call, a damaged line."""

    text: str
    kind: str = "note"


class Unknown(Struct, frozen=True, gc=False, kw_only=True):
    """An event of a newer outlive: kept unchanged and not interpreted."""

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
    | PermissionAsked
    | PermissionAnswered
    | ToolFinished
    | FilesChanged
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
"""Any event of a log."""


class _Envelope(Struct):
    """The fields that every version of an event has."""

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
    """Decode one line. Raises `msgspec.DecodeError` if it is not an event of any version."""
    try:
        try:
            event: KnownEvent = _decoder.decode(line)
            return event
        except msgspec.ValidationError:
            head = _envelope.decode(line)
            return Unknown(id=head.id, time=head.time, parent=head.parent, raw=bytes(line).strip())
    except RecursionError:
        raise msgspec.DecodeError("nested too deeply") from None
