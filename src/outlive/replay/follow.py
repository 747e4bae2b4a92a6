"""A session of another agent, followed: a log of ours that keeps in step with the client's transcript.

What the client took back (a rewind, another branch) is taken back here too; handles keep their meaning.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import msgspec

from outlive.agent.session import Session
from outlive.events import AssistantSaid, Checkpointed, PlanChanged, PlanStep, ToolFinished, UserSaid
from outlive.messages import ToolResult
from outlive.origin import user_words
from outlive.replay.recording import Recorded
from outlive.replay.rescue import PlanReader
from outlive.stores.logs.names import followed_id
from outlive.stores.logs.protocol import LogStore, UnknownSession
from outlive.stores.logs.reading import full_log

FOLLOWED = "followed"
"""A checkpoint: how many messages of the transcript are in the log, and their hash."""
KEPT = "[outlive kept all of this result: "
"""How a text begins that a client shows in place of a result; the result itself is in the log."""
UNBOUNDED = 1 << 40
"""A window in which no pass is ever due: the client compacts, not we."""


class Followed:
    """The log of a client's session, open for writing. Close it soon: hooks of the client wait for each other."""

    def __init__(
        self,
        store: LogStore,
        client: str,
        session: str,
        *,
        folder: str,
        mask: Callable[[str], str],
        model: str = "",
        window: int = UNBOUNDED,
        **options: Any,
    ) -> None:
        """Open the log, or begin one. Raises SessionBusy while another process has it. `options`: of the session."""
        self.compactions = 0
        """How often the client compacted before."""
        self._now = 0.0
        self._store = store
        id = followed_id(client, session)
        options |= {"window": window, "clock": lambda: self._now, "mask": mask, "world": None}
        try:
            self.session = Session.resume(store, id, **options)
        except UnknownSession:
            self.session = Session.start(store, id=id, model=model, folder=folder, **options)

    def take(self, messages: Sequence[Recorded]) -> None:
        """Bring the log in step with the client. An answer that has grown since replaces what was taken of it."""
        hashes = list(_hashes(messages))
        known = self._in_step(hashes)
        if len(messages) == known:
            return
        for recorded in messages[known:]:
            self._now = recorded.time
            self._add(recorded)
        self._plan(messages)
        self.session.log(Checkpointed, label=FOLLOWED, data={"messages": len(messages), "hash": hashes[-1]})

    def keep(self, call: str, text: str, *, is_error: bool = False) -> tuple[int, ...]:
        """Log a result before the client has it; the pages that hold it. None if the transcript lacks the call."""
        if all(call != waiting.id for waiting in self.session.engine.history.waiting):
            return ()
        self.session.tool_finished(call, text, is_error=is_error)
        unit = self.session.engine.history.units[-1]
        return next((piece.pages for piece in reversed(unit.pieces) if piece.call_id == call), ())

    def close(self) -> None:
        self.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _in_step(self, hashes: list[str]) -> int:
        """How many messages are in the log; whatever the transcript no longer has is taken back."""
        events = self.session.events
        marks = [e for e in events if isinstance(e, Checkpointed) and e.label == FOLLOWED]
        newest = marks[-1].id if marks else 0
        torn = next((e.id for e in events if e.id > newest and isinstance(e, UserSaid | AssistantSaid)), 0)
        for mark in reversed(marks):
            count = int(mark.data["messages"])
            if count <= len(hashes) and (not count or hashes[count - 1] == mark.data["hash"]):
                if torn or mark is not marks[-1]:  # torn: the process was killed while it took messages
                    self.session.undo_to(torn - 1 if mark is marks[-1] else mark.id)
                return count
        if marks or torn:
            self.session.undo_to(1)
        return 0

    def _add(self, recorded: Recorded) -> None:
        session, message = self.session, recorded.message
        if message.role == "assistant":
            session.assistant_said(message.blocks)
            return
        waiting = {call.id for call in session.engine.history.waiting}
        said = []
        for block in message.blocks:
            if not isinstance(block, ToolResult):
                said.append(block)
            elif block.call_id in waiting:
                text = self._whole(block) if block.text.startswith(KEPT) else block.text
                session.tool_finished(block.call_id, text, is_error=block.is_error, images=block.images)
        if said:
            words = user_words(said).strip()
            queued = tuple(event for event, text in session.engine.history.queued.items() if text.strip() == words)
            session.user_said(tuple(said), queued=queued)

    def _whole(self, result: ToolResult) -> str:
        """The result that a client shows our preview of; it may have been taken back since it was logged."""
        events = full_log(self._store, self.session.id).events
        logged = (e.text for e in events if isinstance(e, ToolFinished) and e.call_id == result.call_id)
        return max(logged, key=len, default=result.text)

    def _plan(self, messages: Iterable[Recorded]) -> None:
        """Log the plan if the client's own tool changed it."""
        reader = PlanReader()
        for recorded in messages:
            reader.see(recorded.message)
        steps = tuple(PlanStep(step.text, step.status == "done") for step in reader.plan)
        active = next((n for n, step in enumerate(reader.plan, 1) if step.status == "active"), 0)
        state = self.session.state
        if (steps, active) != (state.plan, state.current_step) and (steps or state.plan):
            done = tuple(n for n, step in enumerate(steps, 1) if step.done)
            undone = tuple(n for n, step in enumerate(steps, 1) if not step.done)
            self.session.log(PlanChanged, steps=steps, done=done, not_done=undone, current_step=active)


def _hashes(messages: Iterable[Recorded]) -> Iterator[str]:
    """A hash of all messages up to each."""
    chain = hashlib.sha256()
    for recorded in messages:
        chain.update(msgspec.json.encode(recorded.message))
        yield chain.hexdigest()
