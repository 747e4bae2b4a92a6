"""The files of a person's session: stored at the git remote while it runs, and restored on another machine.

Tasks of the fleet have this always; a person's session only with `[agent] handover`.
"""

import logging
import threading
from pathlib import Path

from outlive.agent.runtime import Runtime
from outlive.config import Workspace
from outlive.errors import OutliveError
from outlive.events import ToolFinished
from outlive.stores import Stores, open_stores
from outlive.stores.machine import machine_name
from outlive.work.repository.repository import Repository
from outlive.work.repository.worktree import Worktree
from outlive.work.settings import worktrees_folder
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import SessionFiles

PAUSE_SECONDS = 2.0
"""Between two snapshots."""


class FileKeeper:
    """Stores the files of a session after each batch of edits, in a thread, until it is closed."""

    def __init__(self, workspace: Workspace, session: str) -> None:
        """Fence out another machine that had the session. Raises ConfigError, GitError and StoreError."""
        self._tree = Worktree(Repository(workspace.project), workspace.root, session)
        self._session = session
        self._folder = str(workspace.root)
        self._stores: Stores = open_stores(**workspace.store)
        self._board = FleetBoard(self._stores.fleet)
        self._changed, self._closing = threading.Event(), threading.Event()
        self._label = f"Files of session {session}"
        self._record(self._tree.take_over(self._label))
        self._thread = threading.Thread(target=self._run, name="handover", daemon=True)
        self._thread.start()

    def saw(self, happened: object) -> None:
        """Look again soon if the agent may have changed files."""
        if isinstance(happened, ToolFinished):
            self._changed.set()

    def close(self) -> None:
        """Store what has changed, and end."""
        self._closing.set()
        self._changed.set()
        self._thread.join()
        self._stores.close()

    def _run(self) -> None:
        ending = False
        while not ending:
            self._changed.wait()
            self._changed.clear()
            ending = self._closing.is_set()  # what was changed before is stored in this round
            try:
                if commit := self._tree.snapshot(self._label):
                    self._record(commit)
            except OutliveError as error:
                logging.getLogger("outlive").warning("the files of this session are not stored: %s", error)
            self._closing.wait(PAUSE_SECONDS)

    def _record(self, commit: str) -> None:
        files = SessionFiles(machine=machine_name(), folder=self._folder, wip=commit)
        self._board.change(SessionFiles, self._session, lambda _old, _now: files)


def keep_files(agent: Runtime, workspace: Workspace) -> None:
    """Store the files of the agent's session from now on."""
    keeper = FileKeeper(workspace, agent.session.id)
    agent.watch(keeper.saw)
    agent.closing.append(keeper.close)


def with_files(workspace: Workspace, session: str) -> tuple[Workspace, str]:
    """The workspace in which a session goes on, and a notice: this one, or a worktree with the files that another
    machine has stored."""
    with open_stores(**workspace.store) as stores:
        files = FleetBoard(stores.fleet).get(SessionFiles, session)
    if files is None or Path(files.folder) == workspace.root:
        return workspace, ""
    place, store, project = Path(files.folder), workspace.store_url, workspace.project
    if _host(files.machine) != _host(machine_name()) or not place.is_dir():
        place = worktrees_folder(workspace) / f"session-{session}.{files.wip[:10]}"
        Repository(project).open_worktree(place, session, base=files.wip, wip=files.wip, bundle=None).leave()
    there = Workspace.read(place, store=store, project=project, linked=f"a worktree of {project}")
    return there, f"the files of this session are in {place} (stored last on {_host(files.machine)})"


def _host(machine: str) -> str:
    return machine.partition("/")[0]
