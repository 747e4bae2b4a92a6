"""Any sequence of passes, undos, rewinds and renewals: the view stays valid, complete and a function of the log."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.errors import FloorError
from outlive.context.policy import Policy
from outlive.request import Request
from tests.context.story import logs
from tests.context.wire import anthropic, openai, shown

POLICY = Policy(name="eager", engage=0.5, tail_tokens=400, tail=0.1)
OPERATIONS = ("ask", "compact", "undo", "rewind", "renew", "refuse", "note")


class Session:
    """A minimal session: an engine and the log that it was fed."""

    def __init__(self, window: int, log: list[ev.Event] | None = None) -> None:
        self.window = window
        self.engine = Engine(window, POLICY)
        self.log: list[ev.Event] = []
        for event in log or []:
            self.engine.append(event)
            self.log.append(event)

    def add(self, event: ev.Event) -> None:
        number = len(self.log) + 1
        event = msgspec.structs.replace(event, id=number, parent=number - 1)
        self.engine.append(event)
        self.log.append(event)

    def ask(self) -> Request | None:
        try:
            request = self.engine.next_request()
        except FloorError as error:
            self.log.extend(error.new_events)
            return None
        self.log.extend(request.new_events)
        return request

    def compact(self) -> None:
        if (made := self.engine.compact()) is not None:
            self.log.append(made)

    def refuse(self) -> None:
        try:
            self.log.append(self.engine.too_long())
        except FloorError as error:
            self.log.extend(error.new_events)

    def do(self, operation: str) -> None:
        passes = [event.id for event in self.log if isinstance(event, ev.Compacted)]
        if operation == "ask":
            self.ask()
        elif operation == "compact":
            self.compact()
        elif operation == "refuse":
            self.refuse()
        elif operation == "undo" and passes:
            self.add(ev.Undone(id=0, time=0, target=passes[-1]))
        elif operation == "rewind":
            self.add(ev.Undone(id=0, time=0, target=len(self.log) // 2, what="turn"))
        elif operation == "renew":
            self.add(ev.Renewed(id=0, time=0, handoff="carry on"))
        elif operation == "note":
            self.add(ev.Noted(id=0, time=0, text="HEAD moved"))


@settings(max_examples=80)
@given(
    logs(),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from(OPERATIONS)), max_size=8),
    st.sampled_from([3000, 9000]),
)
def test_whatever_happens_the_view_is_a_valid_function_of_the_log(
    log: list[ev.Event], plan: list[tuple[int, str]], window: int
) -> None:
    session = Session(window)
    for number, event in enumerate(log):
        session.add(event)
        for _, operation in (step for step in plan if step[0] == number):
            session.do(operation)
    fork = Session(window, [ev.decode(ev.encode(event)) for event in session.log])
    here, there = session.ask(), fork.ask()
    assert msgspec.json.encode(here) == msgspec.json.encode(there)
    if here is None:
        return
    anthropic(here.messages)
    openai(here.messages)
    everything_is_within_reach(session.engine, shown(here.messages))


def everything_is_within_reach(engine: Engine, text: str) -> None:
    """Each text is in the view, or all of its pages are visible there and give it back."""
    for piece in (piece for unit in engine.history.units for piece in unit.pieces):
        if piece.kind in ("call", "thought") or not piece.text.strip() or piece.text in text:
            continue
        assert all(f"@h{page}" in text for page in piece.pages), (piece.kind, piece.event)
        parts = (part for page in piece.pages for part in engine.recall(page).parts if part.piece.key == piece.key)
        assert "".join(part.text for part in parts) == piece.text
