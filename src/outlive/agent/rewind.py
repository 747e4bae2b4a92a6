"""Go back to before a prompt: in the conversation, in the files, or both.

Nothing is lost by it: the log keeps what was said, and the restore of files can be reverted. Tasks, memories and git
stay as they are.
"""

import asyncio

from msgspec import Struct

from outlive.agent.session import NothingToUndo, Session
from outlive.events import FilesChanged, UserSaid
from outlive.origin import user_words
from outlive.printable import some
from outlive.tools.changes.recorder import ChangeRecorder
from outlive.tools.changes.restore import Restored


class RewindPoint(Struct, frozen=True):
    """A message of the user that a session can go back to."""

    event: int
    time: float
    text: str
    files: tuple[str, ...]
    """The files that changed since."""


class Rewound(Struct, frozen=True):
    """What going back did."""

    point: RewindPoint
    files: Restored
    conversation: bool
    """Whether the conversation went back."""


def prompts(session: Session) -> list[RewindPoint]:
    """The user's messages, the newest first."""
    found: list[RewindPoint] = []
    since: dict[str, None] = {}
    changes = list(session.file_changes)
    for event in reversed(session.events):
        if isinstance(event, UserSaid) and (text := user_words(event.blocks).strip()):
            while changes and changes[-1].id > event.id:
                since.update(dict.fromkeys(file.path for file in changes.pop().files))
            found.append(RewindPoint(event.id, event.time, text, tuple(sorted(since))))
    return found


async def rewind(
    session: Session,
    recorder: ChangeRecorder | None,
    event: int,
    *,
    conversation: bool = True,
    files: bool = True,
) -> Rewound:
    """Go back to before the prompt of this event. Raises NothingToUndo if there is none."""
    point = next((point for point in prompts(session) if point.event == event), None)
    if point is None:
        raise NothingToUndo(f"session {session.id!r}: event {event} is no message of the user that is in view")
    restored = await _restored(session, recorder, after=event) if files else Restored()
    if conversation:
        session.undo_to(event - 1)
    _tell(session, restored)
    return Rewound(point, restored, conversation)


async def revert_restore(session: Session, recorder: ChangeRecorder | None) -> Restored:
    """Put the files back to what they were before the last restore. Raises NothingToUndo if there was none."""
    last = next((change.id for change in reversed(session.file_changes) if not change.call_id), None)
    if last is None:
        raise NothingToUndo(f"session {session.id!r}: no files were restored")
    restored = await _restored(session, recorder, after=last - 1)
    _tell(session, restored)
    return restored


async def _restored(session: Session, recorder: ChangeRecorder | None, after: int) -> Restored:
    """Undo the changes after an event, and log that."""
    if recorder is None:
        raise NothingToUndo(
            "files cannot be restored: checkpoints are switched off ([agent] checkpoints)",
            hint="the conversation alone can go back",
        )
    undone = [change for change in session.file_changes if change.id > after]
    restored = await asyncio.to_thread(recorder.restore, undone)
    if restored.changes:
        session.log(FilesChanged, files=restored.changes)
    return restored


def _tell(session: Session, restored: Restored) -> None:
    """Tell the model, which may have read these files."""
    parts = [("restored to an earlier version", restored.written), ("deleted", restored.deleted)]
    said = [f"{what}: {some(names)}" for what, names in parts if names]
    if said:
        session.note(f"the user went back; read these files again before editing. {'; '.join(said)}")
