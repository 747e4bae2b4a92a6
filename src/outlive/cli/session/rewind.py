"""rewind, and what the command line and the terminal say about it."""

import asyncio
from collections.abc import Sequence

import click

from outlive.agent.rewind import RewindPoint, Rewound, prompts, revert_restore
from outlive.agent.rewind import rewind as rewind_session
from outlive.agent.session import Session
from outlive.cli.echo import answer
from outlive.cli.output import done
from outlive.cli.session.common import command, moment, session_argument
from outlive.config import Workspace
from outlive.config.home import project_folder
from outlive.printable import one_line
from outlive.secrets import mask
from outlive.stores.logs.protocol import LogStore
from outlive.tools.changes.recorder import ChangeRecorder
from outlive.tools.changes.restore import Restored
from outlive.tools.changes.snapshot import Snapshots
from outlive.tools.permissions.fence import Fence, protected_paths

PROMPT_CHARS = 100  # of the user's words: enough to recognise them in a list
MAX_NAMED = 20  # files; the rest is counted


@command()
@session_argument
@click.option("--to", type=click.IntRange(min=1), metavar="EVENT", help="Go back to before this message.")
@click.option("--conversation", "only", flag_value="conversation", help="Only the conversation; files stay.")
@click.option("--files", "only", flag_value="files", help="Only the files; the conversation stays.")
@click.option("--revert", is_flag=True, help="Put the files back to what they were before the last rewind.")
def rewind(store: LogStore, session: str, to: int | None, only: str | None, revert: bool, as_json: bool) -> None:
    """Go back to before one of your messages: in the conversation, and in the files that changed since.

    Without --to, list the messages. Files that another program changed since stay as they are and are named. Tasks,
    memories and git stay as they are.

    \b
    Examples:
      outlive session rewind SESSION
      outlive session rewind SESSION --to 120
      outlive session rewind SESSION --to 120 --files
      outlive session rewind SESSION --revert
    """
    if revert and (to or only):
        raise click.UsageError("--revert goes alone: it reverts the last rewind of files")
    with Session.resume(store, session, mask=mask) as opened:
        if revert:
            restored = asyncio.run(revert_restore(opened, _recorder(opened, store)))
            done("the files were put back")
            answer(restored, "\n".join(told(restored)), as_json=as_json)
        elif to is None:
            found = prompts(opened)
            answer(found, "\n".join(map(listed, found)) or "nothing was said in this session", as_json=as_json)
        else:
            parts = {"conversation": only != "files", "files": only != "conversation"}
            rewound = asyncio.run(rewind_session(opened, _recorder(opened, store), to, **parts))
            done(f"the session went back to before event {to}")
            answer(rewound, "\n".join(outcome(rewound)), as_json=as_json)


def listed(point: RewindPoint) -> str:
    """A line of a list."""
    files = f" · {changed_since(point.files)}" if point.files else ""
    return f"{point.event:>5}  {moment(point.time)}  {one_line(point.text, PROMPT_CHARS)}{files}"


def changed_since(files: Sequence[str]) -> str:
    return "1 file changed since" if len(files) == 1 else f"{len(files)} files changed since"


def outcome(rewound: Rewound) -> list[str]:
    """What a rewind did, a line each."""
    went = [f"the conversation is as before {one_line(rewound.point.text, PROMPT_CHARS)!r}"]
    return (went if rewound.conversation else []) + (told(rewound.files) if rewound.files != Restored() else [])


def told(restored: Restored) -> list[str]:
    """What a restore did, a line each."""
    lines = [
        *(f"restored {path}" for path in restored.written),
        *(f"deleted {path}" for path in restored.deleted),
        *(f"left as it is: {path} ({why})" for path, why in restored.skipped),
    ]
    more = [f"… and {len(lines) - MAX_NAMED} more"] if len(lines) > MAX_NAMED else []
    return [one_line(line, 300) for line in lines[:MAX_NAMED]] + more or ["no file had to change"]


def _recorder(session: Session, store: LogStore) -> ChangeRecorder:
    workspace = Workspace.find()
    fence = Fence(workspace.root, protect=protected_paths(workspace))
    snapshots = Snapshots(workspace.root, project_folder(workspace.root) / "files.db")
    return ChangeRecorder(fence, snapshots, session.log, store, mask)
