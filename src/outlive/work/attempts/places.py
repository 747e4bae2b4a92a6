"""Where the files of a session are on this machine: its worktree, or a new one made of what was stored."""

from contextlib import suppress
from pathlib import Path

from outlive.stores.logs.protocol import LogStore
from outlive.work.repository.git import GitError
from outlive.work.repository.repository import Repository
from outlive.work.repository.worktree import Worktree
from outlive.work.shared.records import TaskRun


def open_place(
    repository: Repository, logs: LogStore, run: TaskRun, new: Path, *, session: str, base: str
) -> Worktree:
    """The worktree of this checkout that the record names, else one at `new`. Raises GitError."""
    known = Path(run.worktree) if run.worktree and Path(run.worktree).is_dir() else None
    before = [known] if known and repository.own_folder(known) else []
    for place in dict.fromkeys([*before, new]):
        bundle = logs.get_blob(run.bundle) if run.bundle and not place.exists() else None
        with suppress(FileExistsError):  # the process that has lost the session still runs on this machine
            return repository.open_worktree(place, session, base=base, wip=run.wip, bundle=bundle)
    raise GitError(f"the worktree {new} is open in another process")
