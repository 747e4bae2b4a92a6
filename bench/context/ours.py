"""The engine under test as a policy of the bench."""

from bench.context.baselines import Answer, Runner
from bench.context.sessions import Session
from outlive.context.engine import Engine
from outlive.context.policy import Policy
from outlive.events import DirectiveGiven, Event, SessionStarted, UserSaid
from outlive.instructions import standing
from outlive.origin import own_words


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
        for events in self.session.events[self.at : turn]:
            self.engine.extend(events)
            if self.directives:
                self.engine.extend(found for event in events for found in self._directives(event))
        self.at = turn
        request = self.engine.next_request()
        self.last_tokens = request.tokens
        return Answer(request.messages, passed=any(made.receipt.rungs != ("spool",) for made in request.passes))

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
