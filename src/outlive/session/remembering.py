"""Memory in a session: what is relevant comes with the user's words, what was learned is kept when a run ends.

Selected once a turn and never into the cached prefix; extracted from the full log, in the background, from where the
last extraction ended, so that a crash only delays it.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Literal

from outlive.context.past import LEARNED
from outlive.errors import OutliveError
from outlive.events import Checkpointed, Event
from outlive.memory.book import Memories
from outlive.memory.consolidate import consolidate, due
from outlive.memory.extract import (
    Candidate,
    candidates,
    extraction_request,
    learned,
    origin,
    read_extraction,
    short_name,
)
from outlive.memory.inject import block, key_of, shown_in
from outlive.memory.search import Retriever, searcher
from outlive.session.session import Session
from outlive.stores.log_names import is_subagent
from outlive.stores.log_protocol import LogStore
from outlive.stores.log_reading import full_log
from outlive.stores.memory_records import Kind, Memory, Scope

EXTRACTED = "extracted"
MOST = 5
EVERY = 8
"""Runs after which a model looks for what was learned, even if the user said nothing that sounds like it."""
Extraction = Literal["auto", "always", "never"]
AskModel = Callable[[str], Awaitable[str]]


class Remembering:
    """The memory of one session."""

    def __init__(
        self, memories: Memories, session: Session, store: LogStore, extraction: Extraction = "auto"
    ) -> None:
        self.memories = memories
        self.session = session
        self.store = store
        self.extraction = extraction
        self._retriever: Retriever | None = None
        self._known: tuple[tuple[str, int], ...] = ()
        self._runs = 0
        self._caught_up = False

    # -- select

    def index(self) -> str:
        """What is remembered, a line each, for the system prompt."""
        text = self.memories.index().strip() if self.memories.all() else ""
        return f"What is remembered (memory_search finds the rest of each)\n{text}" if text else ""

    def relevant(self, words: str) -> str:
        """The block of memories for a turn of the user, without those that are in view already; or nothing."""
        in_view = self._in_view()
        found = [memory for memory in self._select(words) if key_of(memory) not in in_view]
        if found:
            self.memories.touch(found)
        return block(found)

    def _select(self, words: str) -> list[Memory]:
        everything = self.memories.all()
        retriever = self._ready(everything)
        keys = (hit.key for hit in retriever.select(words, MOST)) if retriever else ()
        return self.memories.pick(keys, everything)

    def _ready(self, everything: Sequence[Memory]) -> Retriever | None:
        """The index, brought up to date when anything was changed, by whomever."""
        known = tuple((key_of(memory), memory.revision) for memory in everything)
        if not everything:
            return None
        if self._retriever is None or known != self._known:
            self._retriever = searcher(self.memories, among=everything)
            self._known = known
        return self._retriever

    def _in_view(self) -> set[str]:
        messages = self.session.engine.shown()
        texts = (getattr(block, "text", "") for message in messages for block in message.blocks)
        return {key for text in texts for key in shown_in(text)}

    # -- what tools ask for

    def remember(self, text: str, name: str, type: Kind, scope: Scope) -> str:
        """Keep something that the model found worth it; whose words they are is found out, not believed."""
        source = origin(text, self.session.events, session=self.session.id)
        candidate = Candidate(
            name=name or short_name(text),
            body=text,
            description=text[:200],
            type=type,
            scope=scope,
            provenance=source,
        )
        return learned(self.memories.learn(candidate))

    def forget(self, ref: str) -> str:
        """Move a memory to the archive, with what was derived from it."""
        gone = self.memories.forget(ref, note=f"forgotten in session {self.session.id}")
        return f"forgotten: {', '.join(memory.name for memory in gone)} (outlive memory undo brings them back)"

    def search(self, query: str, limit: int = MOST) -> str:
        """What is remembered about something."""
        everything = self.memories.all()
        retriever = self._ready(everything)
        keys = (hit.key for hit in retriever.search(query, limit)) if retriever else ()
        found = self.memories.pick(keys, everything)
        return block(found) or "nothing is remembered about that"

    # -- extract

    async def after_run(self, ask: AskModel | None) -> None:
        """Learn from what was said since the last time. Nothing that goes wrong here may disturb the session."""
        self._runs += 1
        try:
            events = self.session.events
            for candidate in await self._found(events, ask):
                self._learn(candidate)
            self.session.log(Checkpointed, label=EXTRACTED, data={"to": events[-1].id if events else 0})
            self._catch_up()
            if due(self.memories.stores["project"].read(lambda tx: tx.steps())):
                consolidate(self.memories)
        except (OutliveError, TimeoutError) as error:
            self._tell(f"nothing was learned from this: {error or 'no answer in time'}")

    async def _found(self, events: Sequence[Event], ask: AskModel | None) -> list[Candidate]:
        after, existing = int(self.session.checkpoint(EXTRACTED).get("to", 0)), self.memories.all()
        by_rule = candidates(events, session=self.session.id, after=after, existing=existing)
        explicit = [candidate for candidate in by_rule if candidate.explicit]
        offers = [candidate for candidate in by_rule if not candidate.explicit]
        wanted = self.extraction == "always" or (self.extraction == "auto" and (offers or self._runs % EVERY == 0))
        if ask is None or not wanted:
            for offer in offers:
                self._tell(f"worth remembering? {offer.description} (/remember {offer.body[:80]})")
            return explicit
        answer = await ask(extraction_request(events, existing, after=after))
        found = read_extraction(answer, events, existing, session=self.session.id, after=after)
        return [*explicit, *(one for one in found if not any(one.body == other.body for other in explicit))]

    def _learn(self, candidate: Candidate) -> None:
        if candidate.needs_confirmation:
            self._tell(f"not remembered without your word: {candidate.description} (/remember {candidate.body[:80]})")
            return
        try:
            self._tell(learned(self.memories.learn(candidate)))
        except OutliveError as error:
            self._tell(f"not remembered: {error}")

    def _catch_up(self) -> None:
        """What the user asked to remember in the newest other session, should that have died before it was kept."""
        if self._caught_up:
            return
        self._caught_up = True
        others = (
            i for i in self.store.sessions() if i.id != self.session.id and not i.replay and not is_subagent(i.id)
        )
        newest = next(others, None)
        if newest is None:
            return
        events = full_log(self.store, newest.id).events
        after = extracted_to(events)
        found = candidates(events, session=newest.id, after=after, existing=self.memories.all())
        for candidate in found:
            if candidate.explicit:
                self._learn(candidate)
        if found and events:
            last = events[-1]
            mark = Checkpointed(id=last.id + 1, time=last.time, parent=last.id, label=EXTRACTED, data={"to": last.id})
            with self.store.writer(newest.id) as writer:
                writer.append([mark])

    def _tell(self, text: str) -> None:
        self.session.note(text, kind=LEARNED)

    def close(self) -> None:
        self.memories.close()


def extracted_to(events: Iterable[Event]) -> int:
    """Up to which event a log was learned from."""
    marks = (event for event in events if isinstance(event, Checkpointed) and event.label == EXTRACTED)
    return max((int(mark.data.get("to", 0)) for mark in marks), default=0)
