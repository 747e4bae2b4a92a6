"""A person takes the session of a task over, on any machine, and gives it back."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from outlive.config import Workspace
from outlive.stores.machine import machine_name
from outlive.stores.tasks.records import Task
from outlive.tasks.refs import Ref
from outlive.tools.permissions.trust import work_settings
from outlive.work.attempts.places import open_place
from outlive.work.control import FleetControl
from outlive.work.repository.repository import Repository
from outlive.work.settings import default_worktrees


class AttachedTask(Struct, frozen=True):
    """A task that a person has, with its session and its files on this machine."""

    task: Task
    session: str
    workspace: Workspace


@contextmanager
def attached(workspace: Workspace, control: FleetControl, ref: Ref, *, owner: str) -> Iterator[AttachedTask]:
    """Take a task over for `owner`; at the end its files are stored. The task stays with the owner."""
    settings = work_settings(workspace)
    repository = Repository(workspace.project, branch=settings.get("branch", ""), remote=settings.get("remote"))
    session = control.session_of(ref)
    task = control.take_over(ref, owner=owner, machine=machine_name())
    run = control.board.run(task.id)
    folder = Path(settings.get("worktrees") or default_worktrees(workspace)).expanduser()
    place = folder / f"task-{task.id}-{session}.{task.revision}"
    tree = open_place(repository, control.logs, run, place, session=session, base=run.base or repository.tip())
    try:
        label = f"Work in progress on task {task.id} by {owner}"
        wip = tree.take_over(label)
        control.board.update(task.id, task.revision, worktree=str(tree.path), wip=wip)
        ours = Workspace.read(tree.path, store=workspace.store_url, project=workspace.project, linked="a worktree")
        yield AttachedTask(task, session, ours)
        if commit := tree.snapshot(label):
            control.board.update(task.id, task.revision, wip=commit)
    finally:
        tree.leave()
