"""Whatever happens in a session, in whatever order: its log alone gives back the same requests and the same pages."""

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive.agent import Session
from outlive.agent.log.forking import fork
from outlive.agent.session import NothingToUndo
from outlive.context.validity import problems
from outlive.stores.logs.files import FileLogStore
from tests.talk import Ticks, step

WINDOW = 9_000
actions = st.lists(
    st.one_of(
        st.tuples(st.just("user"), st.integers(1, 400)),
        st.tuples(st.just("step"), st.integers(1, 150)),
        st.tuples(st.just("step"), st.integers(1, 150)),
        st.tuples(st.just("request"), st.just(0)),
        st.tuples(st.just("compact"), st.just(0)),
        st.tuples(st.just("undo"), st.just(0)),
        st.tuples(st.just("back"), st.integers(0, 100)),
        st.tuples(st.just("renew"), st.just(0)),
        st.tuples(st.just("resume"), st.just(0)),
        st.tuples(st.just("fork"), st.integers(0, 100)),
    ),
    min_size=3,
    max_size=25,
)


class Life:
    """A session that things happen to."""

    def __init__(self, store: FileLogStore) -> None:
        self.store = store
        self.count = 0
        self.session = Session.start(store, id="s0", system="Be brief.", window=WINDOW, clock=Ticks())

    def do(self, what: str, size: int) -> None:
        self.count += 1
        session = self.session
        if what == "user":
            session.user_said(f"Never mind number {self.count}. " + "word " * size)
        elif what == "step":
            step(session, self.count, lines=size)
        elif what == "request":
            session.next_request()
        elif what == "compact":
            session.compact()
        elif what == "renew":
            session.renew("on we go")
        elif what == "resume":
            self.reopen(session.id)
        elif what == "fork":
            at = max(1, session.last_event * size // 100)
            self.reopen(fork(self.store, session.id, at=at, name=f"s{self.count}", clock=Ticks()))
        else:
            self.undo(size if what == "back" else None)

    def undo(self, part: int | None) -> None:
        try:
            if part is None:
                self.session.undo_pass()
            else:
                self.session.undo_to(max(1, self.session.last_event * part // 100))
        except NothingToUndo:
            pass

    def reopen(self, name: str) -> None:
        self.session.close()
        self.session = Session.resume(self.store, name, window=WINDOW, clock=Ticks(2_000_000.0 + self.count * 1000))

    def seen(self) -> tuple[bytes, list[str], Any]:
        request = self.session.next_request()
        assert problems(request.messages) == []
        pages = self.session.engine.history.pages
        raw = msgspec.json.encode((request.system, request.messages))
        return raw, [pages.get(n).text for n in range(1, len(pages) + 1)], self.session.state


@settings(max_examples=30)
@given(actions=actions)
def test_the_log_alone_gives_back_the_session(actions: list[tuple[str, int]], tmp_path_factory: Any) -> None:
    life = Life(FileLogStore(tmp_path_factory.mktemp("any"), durability="process"))
    for what, size in actions:
        life.do(what, size)
    before = life.seen()
    life.reopen(life.session.id)
    assert life.seen() == before
    life.session.close()
