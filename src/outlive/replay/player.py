"""Replays a recorded session through the engine: each request depends only on earlier messages.

The log of a replay is derived data, so it replaces an older replay of the same recording as a whole.
"""

from collections.abc import Iterator

from msgspec import Struct

from outlive.agent.session import Session
from outlive.context.errors import FloorError
from outlive.context.policy import Policy
from outlive.events import VERSION, Checkpointed, Compacted, SessionStarted
from outlive.messages import Message, ToolResult
from outlive.replay.recording import Recording
from outlive.request import Request
from outlive.stores.logs.buffer import Buffer
from outlive.stores.logs.lines import REPLAY_LABEL
from outlive.stores.logs.protocol import LogStore, SessionExists, UnknownSession


class ReplayStep(Struct, frozen=True):
    """One model call of the recording: the request that would be sent, or why there is none."""

    turn: int
    time: float
    request: Request | None
    passes: tuple[Compacted, ...] = ()
    refused: str = ""


class Replay:
    """Plays one recording. Exhaust `steps`, then `save`."""

    def __init__(self, recording: Recording, *, window: int, policy: Policy, reserve: int = 0) -> None:
        """`reserve`: tokens of the system prompt and the tools that the recording lacks."""
        self.recording = recording
        self._now = recording.messages[0].time if recording.messages else 0.0
        self._buffer = Buffer(recording.id)
        self.session = Session(self._buffer, window=window, policy=policy, reserve=reserve, clock=lambda: self._now)
        self.session.log(
            SessionStarted,
            session=recording.id,
            version=VERSION,
            system=recording.system,
            model=recording.model,
            folder=recording.folder,
        )
        about = {"format": recording.format, "window": window, "policy": policy.name}
        self.session.log(Checkpointed, label=REPLAY_LABEL, data=about)

    def steps(self) -> Iterator[ReplayStep]:
        """Yield each model call, in order."""
        for turn, recorded in enumerate(self.recording.messages):
            if recorded.message.role == "assistant":
                yield self._step(turn)
            self._now = recorded.time
            add_message(self.session, recorded.message)

    def save(self, store: LogStore) -> None:
        """Save the log, so that `recall` and `session` work on it."""
        store.replace(self.recording.id, self._buffer.events)

    def _step(self, turn: int) -> ReplayStep:
        try:
            request = self.session.next_request()
        except FloorError as error:
            return ReplayStep(turn, self._now, None, error.new_events, str(error))
        return ReplayStep(turn, self._now, request, request.passes)


def add_message(session: Session, message: Message, prompt_tokens: int = 0) -> None:
    """Log a message of another program's loop. `prompt_tokens` is what the provider counted for its request."""
    if message.role == "assistant":
        session.assistant_said(message.blocks, usage={"input": prompt_tokens} if prompt_tokens else None)
        return
    said = tuple(block for block in message.blocks if not isinstance(block, ToolResult))
    for block in message.blocks:
        if isinstance(block, ToolResult):
            session.tool_finished(block.call_id, block.text, is_error=block.is_error, images=block.images)
    if said:
        session.user_said(said)


def check_replaceable(store: LogStore, session: str) -> None:
    """Refuse to replace a session that is not a replay."""
    try:
        info = store.info(session)
    except UnknownSession:
        return
    if not info.replay:
        raise SessionExists(
            f"{session!r} is a real session here, and a replay must not replace it; "
            "replay in another folder (outlive -C DIR replay …)"
        )
