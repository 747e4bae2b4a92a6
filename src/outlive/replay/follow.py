"""A session of another agent, followed: a log of ours that keeps in step with the client's transcript.

What the client took back (a rewind, another branch) is taken back here too; handles keep their meaning.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from outlive.agent.log.session_log import SessionOptions
from outlive.agent.session import Session
from outlive.context.policy import RICH, Policy
from outlive.events import AssistantSaid, Checkpointed, PlanChanged, PlanStep, ToolFinished, UserSaid
from outlive.messages import ToolResult
from outlive.origin import user_words
from outlive.replay.importers import ImportRefused, read_recording
from outlive.replay.position import Position, mark, position_from, read_since
from outlive.replay.recording import Recorded, Recording
from outlive.replay.rescue import PlanReader
from outlive.stores.logs.names import followed_id
from outlive.stores.logs.protocol import LogStore, LogTail, UnknownSession
from outlive.stores.logs.reading import full_log

FOLLOWED = "followed"
"""A checkpoint: how many messages of the transcript are in the log, their hash, and where reading can go on."""
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
        window: int = UNBOUNDED,
        reserve: int = 0,
        policy: Policy = RICH,
    ) -> None:
        """Open the log, or begin one. Raises SessionBusy while another process has it."""
        self._now = 0.0
        self._store = store
        self._tail: LogTail | None = None
        """Reads what others write during a pause."""
        self.prepared = 0, ""
        """A text that was made of the log, and the last event then; 0 if there is none."""
        id = followed_id(client, session)
        opened: SessionOptions = {
            "window": window,
            "reserve": reserve,
            "policy": policy,
            "clock": lambda: self._now,
            "mask": mask,
            "world": None,
        }
        try:
            self.session = Session.resume(store, id, **opened)
        except UnknownSession:
            self.session = Session.start(store, id=id, folder=folder, **opened)

    def follow(self, path: Path) -> None:
        """Bring the log in step with a transcript. Only what is new is read, if nothing before it has changed."""
        newest = next(reversed(self._marks()), None)
        position = position_from(newest.data.get("position")) if newest else None
        recording = read_since(path, position) if position else None
        if newest is None or position is None or recording is None or self._torn_at(newest.id):
            self.follow_whole(path)
            return
        hashes = list(_hashes(recording.messages, position.hash))
        known = int(newest.data["messages"]) - position.messages
        if not 0 < known <= len(hashes) or hashes[known - 1] != newest.data["hash"]:
            self.session.undo_to(position.event)  # the answer has grown since
            known = 0
        self._add_new(recording.messages, hashes, known, _Source(path, recording, position))

    def follow_whole(self, path: Path) -> Recording | None:
        """The same with all of the transcript read, which is returned; None if nothing was said yet."""
        try:
            recording = read_recording(path)
        except ImportRefused:
            return None
        hashes = list(_hashes(recording.messages))
        self._add_new(recording.messages, hashes, self._in_step(hashes), _Source(path, recording))
        return recording

    def take(self, messages: Sequence[Recorded]) -> None:
        """The same with messages that the client gave, from the first on."""
        hashes = list(_hashes(messages))
        self._add_new(messages, hashes, self._in_step(hashes))

    def keep(self, call: str, text: str, *, is_error: bool = False) -> tuple[int, ...]:
        """Log a result before the client has it; the pages that hold it. None if the transcript lacks the call."""
        if all(call != waiting.id for waiting in self.session.engine.history.waiting):
            return ()
        self.session.tool_finished(call, text, is_error=is_error)
        unit = self.session.engine.history.units[-1]
        return next((piece.pages for piece in reversed(unit.pieces) if piece.call_id == call), ())

    def pause(self) -> None:
        """Let other processes write to the log; `go_on` takes it back."""
        if self._tail is None:
            self._tail = self._store.tail(self.session.id)
            self._tail.read()
        self.session.close()

    def go_on(self) -> None:
        """Take the log back after a pause, with what others wrote. Raises SessionBusy, SessionReplaced and
        UnknownSession."""
        writer = self._store.writer(self.session.id)
        try:
            self._tail = self._tail or self._store.tail(self.session.id)
            new = [event for event in self._tail.read().events if event.id > self.session.last_event]
        except BaseException:
            writer.close()
            raise
        self.session.reopen(writer, new)

    def close(self) -> None:
        self.session.close()
        if self._tail is not None:
            self._tail.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _marks(self) -> list[Checkpointed]:
        return [e for e in self.session.events if isinstance(e, Checkpointed) and e.label == FOLLOWED]

    def _torn_at(self, mark: int) -> int:
        """The first message after the newest mark, because a process was killed while it added some; 0 if none."""
        events = self.session.events
        return next((e.id for e in events if e.id > mark and isinstance(e, UserSaid | AssistantSaid)), 0)

    def _in_step(self, hashes: list[str]) -> int:
        """How many messages are in the log; whatever the transcript no longer has is taken back."""
        marks = self._marks()
        torn = self._torn_at(marks[-1].id if marks else 0)
        for found in reversed(marks):
            count = int(found.data["messages"])
            if count <= len(hashes) and (not count or hashes[count - 1] == found.data["hash"]):
                if torn or found is not marks[-1]:
                    self.session.undo_to(torn - 1 if found is marks[-1] else found.id)
                return count
        if marks or torn:
            self.session.undo_to(1)
        return 0

    def _add_new(
        self, messages: Sequence[Recorded], hashes: list[str], known: int, source: "_Source | None" = None
    ) -> None:
        """Add the messages from number `known` on, in one write, and mark how far that goes."""
        if known == len(messages):
            return
        before: dict[int, int] = {}
        """The last event before each message."""
        with self.session.batched():
            for number, recorded in enumerate(messages[known:], start=known):
                before[number] = self.session.last_event
                self._now = recorded.time
                self._add(recorded)
            self._plan(messages, whole=source is None or source.since is None)
            since = source.since.messages if source and source.since else 0
            data: dict[str, Any] = {"messages": since + len(messages), "hash": hashes[-1]}
            if source and (position := source.position(hashes, before)):
                data["position"] = msgspec.to_builtins(position)
            self.session.log(Checkpointed, label=FOLLOWED, data=data)

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

    def _plan(self, messages: Iterable[Recorded], *, whole: bool) -> None:
        """Log the plan if the client's own tool changed it. `whole`: without a plan in the messages there is none."""
        reader = PlanReader()
        for recorded in messages:
            reader.see(recorded.message)
        state = self.session.state
        if not reader.plan and not (whole and state.plan):
            return
        steps = tuple(PlanStep(step.text, step.status == "done") for step in reader.plan)
        active = next((n for n, step in enumerate(reader.plan, 1) if step.status == "active"), 0)
        if (steps, active) != (state.plan, state.current_step):
            done = tuple(n for n, step in enumerate(steps, 1) if step.done)
            undone = tuple(n for n, step in enumerate(steps, 1) if not step.done)
            self.session.log(PlanChanged, steps=steps, done=done, not_done=undone, current_step=active)


class _Source:
    """The transcript that messages come from."""

    def __init__(self, path: Path, recording: Recording, since: Position | None = None) -> None:
        """`since`: where the messages begin, if not at the beginning."""
        self._path, self._recording, self.since = path, recording, since

    def position(self, hashes: list[str], before: dict[int, int]) -> Position | None:
        """Where reading can go on the next time; `before` has the last event before each message that is new."""
        found = mark(self._path, self._recording)
        if found is None or self._recording.last_answer is None:
            return None
        number, offset = self._recording.last_answer
        if number not in before:
            return self.since if number == 0 else None
        since = self.since.messages if self.since else 0
        earlier = hashes[number - 1] if number else self.since.hash if self.since else ""
        return Position(self._recording.format, found[0], offset, found[1], since + number, earlier, before[number])


def _hashes(messages: Iterable[Recorded], before: str = "") -> Iterator[str]:
    """A hash of all messages up to each; `before` is that of the messages before them."""
    for recorded in messages:
        before = hashlib.sha256(before.encode() + msgspec.json.encode(recorded.message)).hexdigest()
        yield before
