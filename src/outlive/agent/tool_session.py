"""The interface of a session for tools."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from outlive.agent.recall import hits_text
from outlive.agent.session import Session
from outlive.context.passes.pinning import Kept, changed, kept, room_to_keep
from outlive.events import KnownEvent, StateChanged
from outlive.messages import Image
from outlive.origin import own_words
from outlive.state import WorkingState

E_ = TypeVar("E_", bound=KnownEvent)


class SessionAdapter:
    """A session as tools see it."""

    def __init__(self, session: Session, compact: Callable[[str], None]) -> None:
        self._session = session
        self._compact = compact

    @property
    def id(self) -> str:
        return self._session.id

    @property
    def state(self) -> WorkingState:
        return self._session.state

    def log(self, kind: type[E_], /, **fields: Any) -> E_:
        return self._session.log(kind, **fields)

    def recall(self, handle: str) -> tuple[str, tuple[Image, ...]]:
        page = self._session.engine.recall(handle)
        return page.text, (page.block,) if isinstance(page.block, Image) else ()

    def search(self, query: str, limit: int = 10) -> str:
        found = hits_text(self.id, self._session.engine.history.pages, query, limit)
        return found or f"nothing in this session holds {query!r}"

    def user_words(self) -> Iterator[str]:
        """The user's words in this session, newest first."""
        for unit in reversed(self._session.engine.history.units):
            if unit.kind == "user":
                yield from filter(None, map(own_words, unit.blocks))

    def keep(self, refs: Iterable[str], let_go: Iterable[str]) -> None:
        found = changed(self._session.engine, tuple(refs), tuple(let_go))
        if found != self.state.preserved_refs:
            self._session.log(StateChanged, preserved_refs=found)

    def kept(self) -> tuple[tuple[Kept, ...], int]:
        return kept(self._session.engine), room_to_keep(self._session.engine)

    def ask_to_compact(self, focus: str) -> None:
        self._compact(focus)
