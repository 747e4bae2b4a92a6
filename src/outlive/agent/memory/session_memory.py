"""Memory in a session: what is relevant comes with the user's words, what was learned is kept when a run ends.

Selected once a turn and never into the cached prefix; extracted from the full log, in the background, from where the
last extraction ended, so that a crash only delays it.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Literal

from msgspec.structs import replace

from outlive.agent.memory.consolidation_scheduler import AskModel, Consolidation, ConsolidationScheduler
from outlive.agent.session import Session
from outlive.context.history import LEARNED
from outlive.errors import OutliveError
from outlive.events import Checkpointed, Event
from outlive.memory.guard import blocked_reason
from outlive.memory.index import TITLE
from outlive.memory.learning.candidate import Candidate, asked_for, short_name
from outlive.memory.learning.extract import KNOWN, candidates, extraction_request, read_extraction, talk, unheard
from outlive.memory.learning.keep import keep, near
from outlive.memory.learning.utterances import attribute
from outlive.memory.memories import Memories
from outlive.memory.prompt_block import block, key_of, shown_in
from outlive.memory.search import CANDIDATES, Finder, found_text, read_rerank, rerank_request
from outlive.secrets import mask
from outlive.stores.logs.names import is_subagent
from outlive.stores.logs.protocol import LogStore, SessionBusy
from outlive.stores.logs.reading import full_log
from outlive.stores.memories.records import Kind, Memory, Provenance, Scope

EXTRACTED = "extracted"
MOST = 5
LOOKED_AT = 1_000
"""Memories that are looked at for what must not be shown when a session begins: it must not wait."""
NAMED = 3
EVERY = 8
"""Runs after which a model looks for what was learned, even if the user said nothing that sounds like it."""
TRIES = 3
"""How often a model is asked about the same words, if it does not answer."""
SESSIONS = 20
"""How many other sessions, the newest, are looked at for what was not kept."""
Extraction = Literal["auto", "always", "never"]


class SessionMemory:
    """The memory of one session."""

    def __init__(
        self,
        memories: Memories,
        session: Session,
        store: LogStore,
        extraction: Extraction = "auto",
        *,
        consolidation: Consolidation = "auto",
        rerank: bool = False,
        own: Callable[[str], bool] = bool,
    ) -> None:
        self.memories = memories
        self.session = session
        self.store = store
        self.extraction = extraction
        self.rerank = rerank
        self._own = own
        """Whether the user worked in a session: a log that came with the folder does not say what the user said."""
        self._finder = Finder(memories)
        self._tidying = ConsolidationScheduler(memories, store, self._tell, consolidation)
        self._looked: dict[str, Memory] = {}
        self._index = ""
        self._runs = 0
        self._caught_up = False

    # -- select

    def index(self) -> str:
        """What is remembered, a line each, for the system prompt. While the provider still has the prompt of this
        session it keeps the lines that it has, as long as they are true: one more would cost the whole cache, and
        what is relevant comes with the user's words anyway."""
        engine = self.session.engine
        warm = not engine.is_cold(time.time())
        before, self._looked = self._looked, self.memories.in_use()
        if warm and before == self._looked:
            return self._index
        text = self.memories.index().strip()
        head, _, had = engine.history.system.partition(f"\n{TITLE}\n")
        if head and warm and {*had.splitlines()} <= {*text.splitlines()}:
            text = had
        self._index = f"{TITLE}\n{text}" if text else ""
        return self._index

    def problem(self) -> str:
        """In one line what is there and not used, because it cannot be read or must not be shown; or nothing."""
        memories = self.memories.all()
        mine = [memory for memory in memories if not memory.provenance.foreign]
        found = [f"{p.where} ({p.what})" for store in self.memories.stores.values() for p in store.left_out()]
        found += [f"{key_of(memory)} ({reason})" for memory in mine[:LOOKED_AT] if (reason := blocked_reason(memory))]
        more = f", and {len(found) - NAMED} more" if len(found) > NAMED else ""
        said = []
        if found:
            said.append(f"memories that are not used: {', '.join(found[:NAMED])}{more}. See outlive memory doctor")
        if foreign := len(memories) - len(mine):
            said.append(f"memories that came with this folder: {foreign}, not used before you look (outlive trust)")
        return mask("; ".join(said))

    async def relevant(self, words: str, ask: AskModel) -> str:
        """The block of memories for a turn of the user, without those that are in view already; or nothing."""
        try:
            found = (await self._select(words, ask, self._in_view()))[:MOST]
        except OutliveError as error:  # words of the user are never lost because a memory cannot be had
            self.session.note(f"no memories with this: {error}")
            return ""
        return block(sorted(found, key=lambda memory: memory.updated, reverse=True))  # of two that differ, the newer

    async def _select(self, words: str, ask: AskModel, shown: set[str]) -> list[Memory]:
        most = CANDIDATES if self.rerank else MOST
        hits = self._finder.look().select(words, most + len(shown))  # those in view take no place from others
        found = [memory for memory, _ in hits if key_of(memory) not in shown][:most]
        if not self.rerank or not found:
            return found
        try:
            return read_rerank(await ask(rerank_request(words, found)), found)
        except (OutliveError, TimeoutError):
            return found

    def _in_view(self) -> set[str]:
        messages = self.session.engine.shown()
        texts = (getattr(block, "text", "") for message in messages for block in message.blocks)
        return {key for text in texts for key in shown_in(text)}

    # -- what tools ask for

    def remember(self, text: str, name: str, type: Kind, scope: Scope) -> str:
        """Keep something that the model found worth it. It is the user's word only if it quotes the user."""
        text, source = attribute(text, self.session.events, session=self.session.id)
        candidate = Candidate(
            name=name if name and source.who != "user" else short_name(text),
            body=text,
            description=text[:200],
            type=type,
            scope=scope,
            provenance=source,
        )
        return self._keep(candidate)

    def told(self, text: str) -> str:
        """Keep a text that the user said to keep."""
        source = Provenance(who="user", session=self.session.id, event=self.session.last_event, confirmed=True)
        return self._keep(asked_for(text, source))

    def _keep(self, candidate: Candidate) -> str:
        return keep(candidate, self.memories, self._finder)

    def _near(self, candidate: Candidate) -> list[Memory]:
        return near(candidate, self.memories, self._finder)

    def forget(self, ref: str) -> str:
        """Move a memory to the archive, with what was derived from it."""
        gone = self.memories.forget(ref, note=f"forgotten in session {self.session.id}")
        return f"forgotten: {', '.join(memory.name for memory in gone)} (outlive memory undo brings them back)"

    def search(self, query: str, limit: int = MOST) -> str:
        """What is remembered about something."""
        return found_text(self._finder, query, limit)

    # -- extract

    def begin_here(self) -> None:
        """Learn nothing from what the log has until now."""
        self.session.log(Checkpointed, label=EXTRACTED, data={"to": self.session.last_event})

    async def after_run(self, ask: AskModel | None) -> None:
        """Learn from what was said since the last time. Nothing that goes wrong here may disturb the session."""
        self._runs += 1
        try:
            events = self.session.events
            offers = self._explicit(events)
            problem = ""
            if self._worth_asking(offers) and ask is not None:
                problem = await self._ask(events, ask)
            else:
                self._offer(offers)
            self._mark_learned(events[-1].id if events else 0, problem)
            self._catch_up()
            await self._tidying.when_due(ask)
        except OutliveError as error:
            self._tell(f"nothing was learned from this: {error}")

    def _explicit(self, events: Sequence[Event]) -> list[Candidate]:
        """Keep what the user asked to remember; what else sounds like it is returned."""
        by_rule = candidates(events, session=self.session.id, after=self._learned_to, near=self._near)
        done = int(self.session.checkpoint(EXTRACTED).get("asked_for", 0))
        for candidate in by_rule:
            if candidate.explicit and candidate.provenance.event > done:
                self._learn(replace(candidate, action="add", target=""))  # placed again: one may correct another
        for words in unheard(events, after=max(done, self._learned_to)):
            self._tell(f"not remembered, it is too long: {words}… (put it in a file, and say where that is)")
        return [candidate for candidate in by_rule if not candidate.explicit]

    @property
    def _learned_to(self) -> int:
        return int(self.session.checkpoint(EXTRACTED).get("to", 0))

    def _worth_asking(self, offers: Sequence[Candidate]) -> bool:
        if self.extraction == "auto":
            return bool(offers) or self._runs % EVERY == 0
        return self.extraction == "always"

    async def _ask(self, events: Sequence[Event], ask: AskModel) -> str:
        """Keep what a model finds worth it; or why it did not say."""
        after = self._learned_to
        words = self._finder.look().near(talk(events, after=after), 2 * KNOWN)
        more = words if len(words) >= KNOWN else self.memories.all()[: 2 * KNOWN]
        existing = list({key_of(memory): memory for memory in (*words, *more)}.values())
        try:
            answer = await ask(extraction_request(events, existing, after=after))
            found = read_extraction(answer, events, existing, session=self.session.id, after=after, near=self._near)
        except (OutliveError, TimeoutError) as error:
            return str(error) or "no answer in time"
        for candidate in found:
            self._learn(candidate)
        return ""

    def _mark_learned(self, to: int, problem: str) -> None:
        """Note up to where the log was learned from. What a model did not answer about it is asked again after the
        next run, a few times."""
        data: dict[str, int] = {"to": to}
        if problem:
            tries = int(self.session.checkpoint(EXTRACTED).get("tries", 0)) + 1
            again = tries < TRIES
            self._tell(
                f"the model did not say what is worth remembering: {problem} "
                f"({'it is asked again after the next run' if again else f'given up after {tries} tries'})"
            )
            if again:
                data = {"to": self._learned_to, "asked_for": to, "tries": tries}
        self.session.log(Checkpointed, label=EXTRACTED, data=data)

    def _offer(self, offers: Iterable[Candidate]) -> None:
        for offer in offers:
            self._tell(f"worth remembering? {offer.description} (/remember {mask(offer.body)[:80]})")

    def _learn(self, candidate: Candidate) -> None:
        if candidate.needs_confirmation:
            self._tell(
                f"not remembered without your word: {candidate.description} (/remember {mask(candidate.body)[:80]})"
            )
            return
        try:
            self._tell(self._keep(candidate))
        except OutliveError as error:
            self._tell(f"not remembered: {error}")

    def _catch_up(self) -> None:
        """What the user said in other sessions, should those have died before it was kept. Oldest first, so that a
        correction corrects."""
        if self._caught_up:
            return
        self._caught_up = True
        others = (
            i for i in self.store.sessions() if i.id != self.session.id and not i.replay and not is_subagent(i.id)
        )
        for info in reversed(list(islice((info for info in others if self._own(info.id)), SESSIONS))):
            try:
                self._catch_up_with(info.id)
            except SessionBusy:
                continue  # another process works in it and does this
            except OutliveError as error:
                self._tell(f"nothing was learned from session {info.id}: {error}")

    def _catch_up_with(self, session: str) -> None:
        events = full_log(self.store, session).events
        after = extracted_to(events)
        found = candidates(events, session=session, after=after, near=self._near)
        if not found:
            return
        with self.store.writer(session) as writer:
            writer.append([_mark(events[-1], after)])  # refused while somebody works in it
            for candidate in found:
                if candidate.explicit:
                    self._learn(replace(candidate, action="add", target=""))
            self._offer(candidate for candidate in found if not candidate.explicit)
            writer.append([_mark(_mark(events[-1], after), events[-1].id)])

    def _tell(self, text: str) -> None:
        self.session.note(mask(text), kind=LEARNED)  # a refusal names what it refuses by its first words

    def hurry(self) -> None:
        """The session is about to end: what can be done another time need not be done now."""
        self._tidying.hurry()

    def close(self) -> None:
        self._finder.close()
        self.memories.close()


def _mark(last: Event, to: int) -> Checkpointed:
    """The event after `last` that says up to where a log was learned from."""
    return Checkpointed(id=last.id + 1, time=last.time, parent=last.id, label=EXTRACTED, data={"to": to})


def extracted_to(events: Iterable[Event]) -> int:
    """Up to which event a log was learned from."""
    marks = (event for event in events if isinstance(event, Checkpointed) and event.label == EXTRACTED)
    return max((int(mark.data.get("to", 0)) for mark in marks), default=0)
