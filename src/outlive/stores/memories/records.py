"""What is stored about a memory, a change of memories, and their one JSON form, the same in every engine.

A memory is found by its slug, which is made from its name once and then stays. Text is kept exactly as it is given,
with one exception: half of a surrogate pair cannot be written anywhere and becomes U+FFFD.
"""

from datetime import UTC, datetime
from typing import Any, Literal, get_args

import msgspec
from msgspec.structs import replace

from outlive.errors import DamagedRecord, FutureVersion, StoreError
from outlive.stores.logs.lines import mended_value

FORMAT_VERSION = 1
"""1: first format."""

Kind = Literal["user", "feedback", "project", "reference"]
"""Who the user is, how to work, what is going on, where to look things up."""
Scope = Literal["project", "user"]
Who = Literal["user", "tool", "web", "model"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SCOPES: tuple[Scope, ...] = get_args(Scope)
WHOS: tuple[Who, ...] = get_args(Who)

MAX_BYTES = 128 * 1024
"""A memory larger than this is a document, and belongs into a file that a memory refers to."""


class OversizedMemory(StoreError):
    """Nothing was written."""


class Provenance(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a memory comes from: who said it, in which session, in which event of its log."""

    who: Who = "user"
    session: str = ""
    event: int = 0
    confirmed: bool = False
    """The user agreed to it, though somebody else said it."""
    foreign: bool = False
    """Found out and never believed: it came with its folder, and nobody here vouches for what it says of itself."""

    @property
    def by(self) -> Who:
        """Who said it, as far as that is known here."""
        return "tool" if self.foreign else self.who

    @property
    def agreed(self) -> bool:
        """Whether the user agreed to it, as far as that is known here."""
        return self.confirmed and not self.foreign

    @property
    def is_users(self) -> bool:
        """Whether the user said it, or agreed to it."""
        return self.agreed or self.by == "user"


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was learned, as it was at one moment."""

    slug: str
    name: str
    description: str = ""
    type: Kind = "project"
    scope: Scope = "project"
    body: str = ""
    keys: tuple[str, ...] = ()
    """What it is about, in words to find it by. Two memories with the same key speak of the same thing."""
    date: str = ""
    """When it was true or happened, as it was given."""
    provenance: Provenance = Provenance()
    created: datetime
    updated: datetime
    last_used: datetime | None = None
    supersedes: tuple[str, ...] = ()
    """Slugs of memories that this one replaces. They stay, and are no longer selected."""
    derived_from: tuple[str, ...] = ()
    """Slugs of memories that this one was made from."""
    archived: datetime | None = None
    """When it was forgotten."""
    revision: int = 1
    extra: dict[str, Any] = {}
    """Keys of the frontmatter that we do not know. They are carried along."""

    @property
    def text(self) -> str:
        """All words of it."""
        return "\n".join((self.name, self.description, self.body, *self.keys))


class MemoryChange(msgspec.Struct, frozen=True, kw_only=True):
    """One memory before and after a step; None where there was none."""

    slug: str
    before: Memory | None = None
    after: Memory | None = None


class MemoryStep(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the change log: all that was changed together, and can be undone together."""

    id: int
    at: datetime
    op: str
    actor: str = ""
    note: str = ""
    changes: tuple[MemoryChange, ...] = ()
    undoes: int = 0
    """The step that this one takes back."""
    data: dict[str, Any] = {}
    """What the step itself has to remember."""


def unmarked(memory: Memory) -> Memory:
    """As it is written down: whether it is foreign depends on who reads it."""
    source = memory.provenance
    return replace(memory, provenance=replace(source, foreign=False)) if source.foreign else memory


def mended(memory: Memory) -> Memory:
    """The memory with halves of surrogate pairs replaced."""
    return msgspec.convert(mended_value(msgspec.to_builtins(memory)), Memory)


def encode_memory(memory: Memory) -> bytes:
    """The JSON form as bytes."""
    return msgspec.json.encode({"version": FORMAT_VERSION, **msgspec.to_builtins(memory)})


def decode_memory(raw: bytes, *, where: str) -> Memory:
    """Read the JSON form, or raise an error that names the place."""
    try:
        form = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedRecord(f"{where}: not valid JSON ({error})") from None
    if not isinstance(form, dict):
        raise DamagedRecord(f"{where}: expected a JSON object, found {type(form).__name__}")
    check_version(form.pop("version", FORMAT_VERSION), where)
    try:
        return in_utc(msgspec.convert(form, Memory, strict=False))
    except msgspec.ValidationError as error:
        raise DamagedRecord(f"{where}: {error}") from None


def encode_step(step: MemoryStep) -> bytes:
    return msgspec.json.encode(step)


def decode_step(raw: bytes, *, where: str) -> MemoryStep:
    try:
        return msgspec.json.decode(raw, type=MemoryStep)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedRecord(f"{where}: not a step of the change log ({error})") from None


def check_version(version: object, where: str) -> None:
    """Refuse what a newer outlive wrote."""
    if not str(version).isdecimal():
        raise DamagedRecord(f"{where}: format version {version!r} is not one of ours")
    if int(str(version)) > FORMAT_VERSION:
        raise FutureVersion(
            f"{where}: format version {version!r}, this outlive reads up to {FORMAT_VERSION}; upgrade outlive"
        )


def in_utc(memory: Memory) -> Memory:
    """Times in UTC: what every reader of a Memory may rely on."""
    moments = {
        name: as_utc(value)
        for name in ("created", "updated", "last_used", "archived")
        if isinstance(value := getattr(memory, name), datetime) and value.tzinfo is not UTC
    }
    return replace(memory, **moments) if moments else memory


def as_utc(moment: datetime) -> datetime:
    """A moment without a zone is taken for UTC; one at the edge of time stays where it is."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)
