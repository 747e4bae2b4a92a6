"""The workspaces that are served, their stores, and threads that may wait for a disk or a database."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from starlette.requests import Request

from outlive.config import Workspace
from outlive.config.home import known_projects
from outlive.errors import OutliveError
from outlive.memory.memories import Memories
from outlive.memory.search import Finder
from outlive.printable import one_line
from outlive.stores import Stores, open_stores
from outlive.tasks.graph import TaskGraph
from outlive.web.api import HttpProblem
from outlive.web.sessions.served_log import ServedLogs
from outlive.web.sessions.summary import Summaries

T = TypeVar("T")

THREADS = 8  # stores block: so many requests of browsers are answered at a time
ACTOR = "web"
MAX_PROBLEM_CHARS = 300  # an error may quote a file
_log = logging.getLogger(__name__)


class ServedWorkspace:
    """One workspace. Stores are opened on first use and may be used from several threads."""

    def __init__(self, config: Workspace) -> None:
        self.config = config
        self.id = sha256(str(config.project).encode()).hexdigest()[:8]
        self.name = config.project.name or str(config.project)

    @cached_property
    def stores(self) -> Stores:
        return open_stores(**self.config.store)

    @cached_property
    def graph(self) -> TaskGraph:
        return TaskGraph(self.stores.tasks, actor=ACTOR)

    @cached_property
    def memories(self) -> Memories:
        return Memories.open(**self.config.store, actor=ACTOR, heal=False)  # a look changes nothing

    @cached_property
    def finder(self) -> Finder:
        return Finder(self.memories)

    @cached_property
    def summaries(self) -> Summaries:
        return Summaries(self.stores.logs, self.window_setting)

    def window_setting(self) -> int:
        """Tokens that sessions have room for by the settings; 0 if these do not say."""
        asked = self.config.context_settings().get("window")
        return asked if isinstance(asked, int) else 0

    @cached_property
    def session_logs(self) -> ServedLogs:
        return ServedLogs(self.stores.logs)

    def close(self) -> None:
        for name in ("session_logs", "summaries", "memories", "stores"):
            if opened := self.__dict__.pop(name, None):
                opened.close()


class Workspaces:
    """All workspaces of one server. Blocking work goes to a few threads."""

    def __init__(self, workspaces: Iterable[ServedWorkspace], *, control: bool = False) -> None:
        self.all = {workspace.id: workspace for workspace in workspaces}
        self.control = control
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="outlive web")

    def get(self, id: str) -> ServedWorkspace:
        try:
            return self.all[id]
        except KeyError:
            raise HttpProblem(404, f"there is no workspace {id[:40]!r} here", code="unknown_workspace") from None

    def of(self, request: Request) -> ServedWorkspace:
        """The workspace that a path names."""
        return self.get(request.path_params["workspace"])

    def require_control(self) -> None:
        """Raises HttpProblem unless the server was started with control."""
        if not self.control:
            hint = "start it with `outlive web --control` to change things from the page"
            raise HttpProblem(403, "this server is read only", hint=hint, code="read_only")

    async def run(self, work: Callable[[], T]) -> T:
        """Call a function in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        for workspace in self.all.values():
            workspace.close()


def workspaces_of_user(current: Workspace, *, everywhere: bool) -> list[ServedWorkspace]:
    """The current workspace, and with `everywhere` all others in which the user has worked. One whose settings cannot
    be read is named and left out."""
    workspaces = {workspace.id: workspace for workspace in [ServedWorkspace(current)]}
    for project in known_projects() if everywhere else ():
        try:
            workspace = ServedWorkspace(Workspace.find(Path(project)))
        except OutliveError as error:
            _log.warning("left out: %s", one_line(error.message, MAX_PROBLEM_CHARS))
            continue
        workspaces.setdefault(workspace.id, workspace)
    _name_apart(workspaces.values())
    return list(workspaces.values())


def _name_apart(workspaces: Iterable[ServedWorkspace]) -> None:
    """Workspaces of the same name are told apart by the folder that holds them."""
    names = Counter(workspace.name for workspace in workspaces)
    for workspace in workspaces:
        if names[workspace.name] > 1:
            workspace.name = f"{workspace.name} · {workspace.config.project.parent}"
