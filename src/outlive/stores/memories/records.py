"""The records of memories and of their changes, with one JSON form for every engine.

A memory is identified by its slug, which is made from its name once. Text is kept exactly as given, except that lone
surrogates become U+FFFD, because they cannot be encoded.
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

MAX_MEMORY_BYTES = 128 * 1024
"""A larger memory is a document and belongs into a file that a memory refers to."""


class OversizedMemory(StoreError):
    """The memory is too large; nothing was written."""


class Provenance(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who said a memory, in which session and in which event of its log."""

    who: Who = "user"
    session: str = ""
    event: int = 0
    confirmed: bool = False
    """The user confirmed it although the user did not say it."""
    untrusted: bool = msgspec.field(default=False, name="foreign")
    """Computed, never stored: it came with its folder, and this home does not confirm its provenance."""

    @property
    def by(self) -> Who:
        """Who said it, as far as that is known here."""
        return "tool" if self.untrusted else self.who

    @property
    def agreed(self) -> bool:
        """Whether the user confirmed it, as far as that is known here."""
        return self.confirmed and not self.untrusted

    @property
    def is_users(self) -> bool:
        """Whether the user said it, or agreed to it."""
        return self.agreed or self.by == "user"


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """One memory at one moment."""

    slug: str
    name: str
    description: str = ""
    type: Kind = "project"
    scope: Scope = "project"
    body: str = ""
    keys: tuple[str, ...] = ()
    """What it is about, as search terms. Two memories with the same key are about the same thing."""
    date: str = ""
    """When it was true or happened, as given."""
    provenance: Provenance = Provenance()
    created: datetime
    updated: datetime
    supersedes: tuple[str, ...] = ()
    """Slugs of memories that this one replaces. They are kept but no longer selected."""
    derived_from: tuple[str, ...] = ()
    """Slugs of the memories that this one was made from."""
    archived: datetime | None = None
    """When it was forgotten."""
    revision: int = 1
    extra: dict[str, Any] = {}
    """Unknown keys of the frontmatter, kept as they are."""

    @property
    def text(self) -> str:
        """All of its text."""
        return "\n".join((self.name, self.description, self.body, *self.keys))


class MemoryChange(msgspec.Struct, frozen=True, kw_only=True):
    """One memory before and after a step; None if it did not exist."""

    slug: str
    before: Memory | None = None
    after: Memory | None = None


class MemoryStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the change log: all that was changed together and is undone together."""

    id: int
    at: datetime
    op: str
    actor: str = ""
    note: str = ""
    changes: tuple[MemoryChange, ...] = ()
    undoes: int = 0
    """The step that this one undoes."""
    data: dict[str, Any] = {}
    """Data of the step itself."""


def unmarked(memory: Memory) -> Memory:
    """The memory as it is stored: `untrusted` depends on the reader."""
    source = memory.provenance
    return replace(memory, provenance=replace(source, untrusted=False)) if source.untrusted else memory


def mended(memory: Memory) -> Memory:
    """The memory with lone surrogates replaced."""
    return msgspec.convert(mended_value(msgspec.to_builtins(memory)), Memory)


def encode_memory(memory: Memory) -> bytes:
    """The JSON form as bytes."""
    return msgspec.json.encode({"version": FORMAT_VERSION, **msgspec.to_builtins(memory)})


def decode_memory(raw: bytes, *, where: str) -> Memory:
    """Decode the JSON form. Raises an error that names the place."""
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
    """Refuse records of a newer outlive."""
    if not str(version).isdecimal():
        raise DamagedRecord(f"{where}: format version {version!r} is not one of ours")
    if int(str(version)) > FORMAT_VERSION:
        raise FutureVersion(
            f"{where}: format version {version!r}, this outlive reads up to {FORMAT_VERSION}; upgrade outlive"
        )


def in_utc(memory: Memory) -> Memory:
    """The memory with all times in UTC."""
    moments = {
        name: as_utc(value)
        for name in ("created", "updated", "archived")
        if isinstance(value := getattr(memory, name), datetime) and value.tzinfo is not UTC
    }
    return replace(memory, **moments) if moments else memory


def as_utc(moment: datetime) -> datetime:
    """The moment in UTC; one without a zone is taken for UTC, one that overflows is kept."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)
