"""The engine under test as a policy of the bench, alone and with summaries that a provider writes."""

from dataclasses import replace

from bench.context.baselines import CHARS, Answer, Runner, summary_of
from bench.context.sessions import Session, message_text
from outlive.context.engine import Engine
from outlive.context.policy import Policy
from outlive.events import SPOOL_ONLY, DirectiveGiven, Event, ProviderSummary, SessionStarted, UserSaid
from outlive.instructions import standing
from outlive.messages import Opaque
from outlive.origin import own_words
from outlive.request import Request


class Ours(Runner):
    """Plays a session's events into the engine."""

    def __init__(self, session: Session, window: int, policy: Policy, *, directives: bool = True) -> None:
        super().__init__(session, window)
        self.directives = directives
        self.engine = Engine(window, policy)
        self.engine.append(SessionStarted(id=0, time=0.0, session=session.id, system=session.system))
        self.at = 0
        self.last_tokens = 0

    def answer(self, turn: int) -> Answer:
        self._take(turn)
        request = self.engine.next_request()
        self.last_tokens = request.tokens
        receipts = tuple(made.receipt for made in request.passes if made.receipt.rungs != SPOOL_ONLY)
        return Answer(request.messages, passed=bool(receipts), receipts=receipts)

    def _take(self, turn: int) -> None:
        """Take in what was said and done before a turn."""
        for events in self.session.events[self.at : turn]:
            self.engine.extend(events)
            if self.directives:
                self.engine.extend(found for event in events for found in self._directives(event))
        self.at = turn

    def _directives(self, event: Event) -> list[Event]:
        """Standing instructions, as a session would log them after the user spoke."""
        if not isinstance(event, UserSaid):
            return []
        return [
            DirectiveGiven(id=event.id, time=event.time, text=text, source=event.id)
            for block in event.blocks
            for text in standing(own_words(block))
        ]

    def page(self, handle: int) -> str:
        return self.engine.recall(handle).text


class Provided(Ours):
    """Asks for a summary before a pass is due and has it some requests later; it is the one of the baselines."""

    requests = 3
    """Until the summary has come."""

    def __init__(self, session: Session, window: int, policy: Policy) -> None:
        super().__init__(session, window, policy)
        self.asked: tuple[int, int, ProviderSummary] | None = None
        self.asked_after = -1
        self.sent = 0

    def answer(self, turn: int) -> Answer:
        self._take(turn)
        self.sent += 1
        engine, swapped, paid = self.engine, False, (0.0, 0.0)
        if self.asked and self.sent >= self.asked[0]:
            _, fold_to, summary = self.asked
            swapped = engine.summarized(summary, fold_to) is not None
            self.asked = None
        elif found := self._due():
            request, fold_to = found
            text = summary_of(list(request.messages))
            tokens = len(text) / CHARS
            summary = ProviderSummary(Opaque("anthropic", {"type": "compaction", "content": text}), round(tokens))
            self.asked, self.asked_after = (self.sent + self.requests, fold_to, summary), engine.projection.event
            paid = sum(len(message_text(message)) for message in request.messages) / CHARS, tokens
        engine.awaits_summary = self.asked is not None
        answer = super().answer(turn)
        return replace(answer, passed=answer.passed or swapped, extra_read=paid[0], extra_output=paid[1])

    def _due(self) -> tuple[Request, int] | None:
        waits = self.asked or self.asked_after == self.engine.projection.event
        return self.engine.summary_request() if not waits and self.engine.nears_pass else None
