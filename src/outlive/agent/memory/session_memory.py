"""Memory in a session: relevant memories are added to the user's turn, new ones are extracted when a run ends.

Memories are selected once a turn and never change the cached prefix. Extraction reads the full log in the background,
from where the last extraction ended, so a crash only delays it.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Literal

from msgspec.structs import replace

from outlive.agent.memory.consolidation_scheduler import AskModel, Consolidation, ConsolidationScheduler
from outlive.agent.session import Session
from outlive.context.log.history import LEARNED, MEMORY_NOTICE
from outlive.context.policy import CACHE_READ
from outlive.context.tokens import CHARS_PER_TOKEN
from outlive.errors import OutliveError
from outlive.events import Checkpointed, Event
from outlive.memory.guard import blocked_reason
from outlive.memory.index import TITLE
from outlive.memory.learning.candidate import Candidate, asked_for, short_name
from outlive.memory.learning.extract import (
    MAX_KNOWN_NAMED,
    MAX_QUESTION_CHARS,
    candidates,
    extraction_question,
    extraction_request,
    read_extraction,
    talk,
    unheard,
)
from outlive.memory.learning.keep import keep, near
from outlive.memory.learning.utterances import attribute
from outlive.memory.memories import Memories
from outlive.memory.prompt_block import block, key_of, shown_in
from outlive.memory.search import MAX_CANDIDATES, Finder, found_text, read_rerank, rerank_request
from outlive.printable import some
from outlive.secrets import mask
from outlive.stores.logs.names import is_subagent
from outlive.stores.logs.protocol import LogStore, SessionBusy
from outlive.stores.logs.reading import full_log
from outlive.stores.memories.records import Kind, Memory, Provenance, Scope

EXTRACTED_LABEL = "extracted"
MAX_SHOWN = 5  # memories of a user turn: more cost tokens in all later requests
MAX_CHECKED_AT_START = 1_000
"""Memories checked at session start for content that must not be shown; bounded, because the user waits."""
MAX_NAMED = 3  # in a warning of one line; the rest is counted
RUNS_BETWEEN_EXTRACTIONS = 8
"""A model looks for new memories after so many runs, even if the user said nothing that sounds like one."""
MAX_EXTRACTION_TRIES = 3
"""How often a model is asked about the same part of the log if it does not answer."""
MAX_SESSIONS_SEARCHED = 20
"""Other sessions, newest first, that are searched for memories that were not saved."""
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
        """Whether the user worked in a session. A log that came with the folder does not prove the user's
        words."""
        self._finder = Finder(memories)
        self._consolidation = ConsolidationScheduler(memories, store, self._notify, consolidation)
        self._looked: dict[str, Memory] = {}
        self._index = ""
        self._runs = 0
        self._caught_up = False

    # -- select

    def index(self) -> str:
        """The index of memories for the system prompt, one line each.

        While the provider still caches this session's prompt the index keeps its lines as long as they are true: a
        new line would invalidate the whole cache, and relevant memories come with the user's turn anyway.
        """
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
        """One line about memories that are not used because they cannot be read or must not be shown; else empty."""
        memories = self.memories.all()
        mine = [memory for memory in memories if not memory.provenance.untrusted]
        found = [f"{p.where} ({p.what})" for store in self.memories.stores.values() for p in store.left_out()]
        found += [
            f"{key_of(memory)} ({reason})"
            for memory in mine[:MAX_CHECKED_AT_START]
            if (reason := blocked_reason(memory))
        ]
        problems = []
        if found:
            problems.append(f"memories that are not used: {some(found, MAX_NAMED)}. See outlive memory doctor")
        if untrusted := len(memories) - len(mine):
            problems.append(
                f"memories that came with this folder: {untrusted}, not used before you look (outlive trust)"
            )
        return mask("; ".join(problems))

    async def relevant(self, words: str, ask: AskModel) -> str:
        """The block of memories for a user turn, without those already in view; else empty."""
        try:
            found = (await self._select(words, ask, self._in_view()))[:MAX_SHOWN]
        except OutliveError as error:  # words of the user are never lost because a memory cannot be had
            self.session.note(f"no memories with this: {error}")
            return ""
        return block(sorted(found, key=lambda memory: memory.updated, reverse=True))  # of two that differ, the newer

    async def _select(self, words: str, ask: AskModel, shown: set[str]) -> list[Memory]:
        most = MAX_CANDIDATES if self.rerank else MAX_SHOWN
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
        """Save a memory on behalf of the model. It counts as the user's word only if it quotes the user."""
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
        """Save a text that the user asked to remember."""
        source = Provenance(who="user", session=self.session.id, event=self.session.last_event, confirmed=True)
        return self._keep(asked_for(text, source))

    def _keep(self, candidate: Candidate) -> str:
        return keep(candidate, self.memories, self._finder)

    def _near(self, candidate: Candidate) -> list[Memory]:
        return near(candidate, self.memories, self._finder)

    def forget(self, ref: str) -> str:
        """Archive a memory and what was derived from it."""
        gone = self.memories.forget(ref, note=f"forgotten in session {self.session.id}")
        return f"forgotten: {', '.join(memory.name for memory in gone)} (outlive memory undo brings them back)"

    def search(self, query: str, limit: int = MAX_SHOWN) -> str:
        """Search the memories."""
        return found_text(self._finder, query, limit)

    # -- extract

    def begin_here(self) -> None:
        """Skip the log up to here: nothing is learned from it."""
        self.session.log(Checkpointed, label=EXTRACTED_LABEL, data={"to": self.session.last_event})

    async def after_run(self, ask: AskModel | None, ask_here: AskModel | None = None) -> None:
        """Extract memories from the log since the last time. A failure here never disturbs the session.

        `ask_here` asks at the end of the conversation, which the provider's cache holds; `ask` outside of it.
        """
        self._runs += 1
        try:
            events = self.session.events
            offers = self._explicit(events)
            problem = ""
            if self._worth_asking(offers) and ask is not None:
                problem = await self._ask(events, ask, ask_here)
            else:
                self._offer(offers)
            self._mark_learned(events[-1].id if events else 0, problem)
            self._catch_up()
            await self._consolidation.when_due(ask)
        except OutliveError as error:
            self._notify(f"nothing was learned from this: {error}")

    def _explicit(self, events: Sequence[Event]) -> list[Candidate]:
        """Save what the user explicitly asked to remember; return other sentences that sound like it."""
        by_rule = candidates(events, session=self.session.id, after=self._learned_to, near=self._near)
        done = int(self.session.checkpoint(EXTRACTED_LABEL).get("asked_for", 0))
        for candidate in by_rule:
            if candidate.explicit and candidate.provenance.event > done:
                self._learn(replace(candidate, action="add", target=""))  # placed again: one may correct another
        for words in unheard(events, after=max(done, self._learned_to)):
            self._notify(f"not remembered, it is too long: {words}… (put it in a file, and say where that is)")
        return [candidate for candidate in by_rule if not candidate.explicit]

    @property
    def _learned_to(self) -> int:
        return int(self.session.checkpoint(EXTRACTED_LABEL).get("to", 0))

    def _worth_asking(self, offers: Sequence[Candidate]) -> bool:
        if self.extraction == "auto":
            return bool(offers) or self._runs % RUNS_BETWEEN_EXTRACTIONS == 0
        return self.extraction == "always"

    async def _ask(self, events: Sequence[Event], ask: AskModel, ask_here: AskModel | None) -> str:
        """Save what a model extracts; return the reason if it did not answer."""
        after = self._learned_to
        words = self._finder.look().near(talk(events, after=after), 2 * MAX_KNOWN_NAMED)
        more = words if len(words) >= MAX_KNOWN_NAMED else self.memories.all()[: 2 * MAX_KNOWN_NAMED]
        existing = list({key_of(memory): memory for memory in (*words, *more)}.values())
        prompt = extraction_request(events, existing, after=after)
        try:
            if ask_here is not None and self._costs_less_here(prompt):
                answer = await ask_here(extraction_question(events, existing, after=after))
            else:
                answer = await ask(prompt)
            found = read_extraction(answer, events, existing, session=self.session.id, after=after, near=self._near)
        except (OutliveError, TimeoutError) as error:
            return str(error) or "no answer in time"
        for candidate in found:
            self._learn(candidate)
        return ""

    def _costs_less_here(self, prompt: str) -> bool:
        """Whether to ask at the end of the conversation: the cache holds it, it shows what is asked about, and
        reading it costs less than a prompt of its own. A second try is made outside of it."""
        engine = self.session.engine
        shows_all = engine.projection.fold_to <= self._learned_to and not engine.history.mid_batch
        if not shows_all or engine.is_cold(time.time()) or self.session.checkpoint(EXTRACTED_LABEL).get("tries"):
            return False
        return engine.used * CACHE_READ + MAX_QUESTION_CHARS / CHARS_PER_TOKEN < len(prompt) / CHARS_PER_TOKEN

    def _mark_learned(self, to: int, problem: str) -> None:
        """Record up to where the log was processed. Parts that a model did not answer about are retried after the
        next runs."""
        data: dict[str, int] = {"to": to}
        if problem:
            tries = int(self.session.checkpoint(EXTRACTED_LABEL).get("tries", 0)) + 1
            again = tries < MAX_EXTRACTION_TRIES
            self._notify(
                f"the model did not say what is worth remembering: {problem} "
                f"({'it is asked again after the next run' if again else f'given up after {tries} tries'})"
            )
            if again:
                data = {"to": self._learned_to, "asked_for": to, "tries": tries}
        self.session.log(Checkpointed, label=EXTRACTED_LABEL, data=data)

    def _offer(self, offers: Iterable[Candidate]) -> None:
        for offer in offers:
            self._notify(f"worth remembering? {offer.description} (/remember {mask(offer.body)[:80]})")

    def _learn(self, candidate: Candidate) -> None:
        if candidate.needs_confirmation:
            self._notify(
                f"not remembered without your word: {candidate.description} (/remember {mask(candidate.body)[:80]})"
            )
            return
        try:
            self._tell(self._keep(candidate))
        except OutliveError as error:
            self._notify(f"not remembered: {error}")

    def _catch_up(self) -> None:
        """Save what the user said in other sessions that died before it was saved, oldest first, so that corrections
        apply."""
        if self._caught_up:
            return
        self._caught_up = True
        others = (
            i for i in self.store.sessions() if i.id != self.session.id and not i.replay and not is_subagent(i.id)
        )
        for info in reversed(list(islice((info for info in others if self._own(info.id)), MAX_SESSIONS_SEARCHED))):
            try:
                self._catch_up_with(info.id)
            except SessionBusy:
                continue  # another process works in it and does this
            except OutliveError as error:
                self._notify(f"nothing was learned from session {info.id}: {error}")

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

    def _notify(self, text: str) -> None:
        """Say what is not a memory that was made."""
        self.session.note(mask(text), kind=MEMORY_NOTICE)

    def hurry(self) -> None:
        """The session is closing: postpone what can be done another time."""
        self._consolidation.hurry()

    def close(self) -> None:
        self._finder.close()
        self.memories.close()


def _mark(last: Event, to: int) -> Checkpointed:
    """The event after `last` that records up to where a log was processed."""
    return Checkpointed(id=last.id + 1, time=last.time, parent=last.id, label=EXTRACTED_LABEL, data={"to": to})


def extracted_to(events: Iterable[Event]) -> int:
    """The event up to which a log was processed."""
    marks = (event for event in events if isinstance(event, Checkpointed) and event.label == EXTRACTED_LABEL)
    return max((int(mark.data.get("to", 0)) for mark in marks), default=0)
