"""The engine under test as a policy of the bench."""

from bench.context.baselines import Answer, Runner
from bench.context.sessions import Session
from outlive.context.engine import Engine
from outlive.context.policy import Policy
from outlive.events import SessionStarted


class Ours(Runner):
    """Plays a session's events into the engine."""

    def __init__(self, session: Session, window: int, policy: Policy) -> None:
        super().__init__(session, window)
        self.engine = Engine(window, policy)
        self.engine.append(SessionStarted(id=0, time=0.0, session=session.id, system=session.system))
        self.at = 0

    def answer(self, turn: int) -> Answer:
        for events in self.session.events[self.at : turn]:
            self.engine.extend(events)
        self.at = turn
        request = self.engine.next_request()
        return Answer(request.messages, passed=bool(request.new_events))

    def page(self, handle: int) -> str:
        return self.engine.recall(handle).text
