"""One memory in full: text, provenance, and the memories around it."""

from collections.abc import Iterable

import msgspec

from outlive.errors import OutliveError
from outlive.memory.guard import needs_confirmation, poison
from outlive.memory.memories import Memories
from outlive.stores.logs.protocol import LogStore
from outlive.stores.memories.records import Memory
from outlive.web.excerpt import Excerpt, excerpt, line
from outlive.web.memory.rows import MemoryListing, MemoryRow

MOST_NEIGHBOURS = 100  # rows of related memories; a page is read, not scrolled for ever


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where a memory comes from."""

    who: str
    session: str
    event: int
    session_known: bool
    """Whether that session can be opened here."""
    confirmed: bool
    untrusted: bool
    """It came with the folder, so what it says of its source is not believed."""


class MemoryDetail(msgspec.Struct, frozen=True, kw_only=True):
    row: MemoryRow
    description: str
    body: Excerpt
    date: str
    source: Source
    created: float
    changed: float
    revision: int
    replaced: list[MemoryRow]
    """What this one replaced."""
    replaced_by: MemoryRow | None
    made_from: list[MemoryRow]
    used_for: list[MemoryRow]
    """Memories that were made from this one."""
    lost: list[str]
    """Slugs that it names and that are not there."""
    forgets: list[MemoryRow]
    """What forgetting it takes along, itself included."""
    confirmable: bool
    """Whether the user's consent would let it reach a model."""


def detail(memories: Memories, listing: MemoryListing, logs: LogStore, ref: str) -> MemoryDetail:
    memory = memories.get(ref)
    siblings = memories.all(scope=memory.scope, superseded=True, archived=True)
    known = {other.slug: other for other in siblings}
    row = listing.rows([memory])[0]
    forgets = [] if memory.archived else memories.would_forget(ref)

    def rows(slugs: Iterable[str]) -> list[MemoryRow]:
        return listing.rows([known[slug] for slug in slugs if slug in known][:MOST_NEIGHBOURS])

    return MemoryDetail(
        row=row,
        description=line(memory.description, 2_000),
        body=excerpt(memory.body),
        date=line(memory.date),
        source=_source(memory, logs),
        created=memory.created.timestamp(),
        changed=memory.updated.timestamp(),
        revision=memory.revision,
        replaced=rows(memory.supersedes),
        replaced_by=next(iter(rows([row.superseded_by])), None),
        made_from=rows(memory.derived_from),
        used_for=rows(other.slug for other in siblings if memory.slug in other.derived_from),
        lost=[line(slug, 80) for slug in (*memory.supersedes, *memory.derived_from) if slug not in known][:20],
        forgets=listing.rows(forgets[:MOST_NEIGHBOURS]),
        confirmable=not memory.archived
        and (memory.provenance.untrusted or needs_confirmation(memory))
        and not poison(memory),
    )


def _source(memory: Memory, logs: LogStore) -> Source:
    given = memory.provenance
    return Source(
        who=given.who,
        session=line(given.session, 120),
        event=given.event,
        session_known=bool(given.session) and _exists(logs, given.session),
        confirmed=given.confirmed,
        untrusted=given.untrusted,
    )


def _exists(logs: LogStore, session: str) -> bool:
    try:
        logs.info(session)
    except OutliveError:
        return False
    return True
