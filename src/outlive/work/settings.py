"""How a worker works: the section `[work]` of the settings and the options of the command line."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta, Struct

from outlive.agent.factory import AgentOptions
from outlive.config import Workspace, home
from outlive.config.home import project_folder
from outlive.errors import ConfigError
from outlive.tools.permissions.asking import PermissionMode
from outlive.tools.permissions.trust import work_settings

LEASE = timedelta(seconds=60)
"""How long a worker may be silent before another one takes its tasks."""
DEFAULT_TURNS = 500
"""Requests of one run if nobody set a limit: nobody watches it."""


class WorkOptions(Struct, frozen=True, kw_only=True):
    """How one worker works."""

    owner: str
    """Its name, which no other worker has at the same time."""
    slots: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Tasks that it works on at once."""
    labels: tuple[str, ...] = ()
    capabilities: tuple[str, ...] | None = None
    lease: timedelta = LEASE
    grace: float = 60.0
    """Seconds that running tasks get when the worker ends."""
    until_empty: bool = False
    budget: float | None = None
    """Dollars that this worker may spend."""
    branch: str = ""
    remote: str | None = None
    checks: tuple[str, ...] = ()
    check_time: float = 600.0
    rounds: Annotated[int, Meta(ge=0)] = 3
    """How often the agent is told within one attempt that checks fail or that its change conflicts."""
    attempts: Annotated[int, Meta(ge=1)] = 3
    """Attempts that may fail before a task waits for a person."""
    split: Annotated[int, Meta(ge=0)] = 20
    """Tasks that agents may make out of one task."""
    keys: Mapping[str, int] = {}
    """How many may hold a concurrency key; one where it says nothing."""
    worktrees: Path
    agent: AgentOptions = AgentOptions()

    @property
    def beat(self) -> float:
        """Seconds between two signs of life."""
        return self.lease.total_seconds() / 3


def work_options(workspace: Workspace, *, agent: Mapping[str, Any], **given: Any) -> WorkOptions:
    """The options of a worker of this workspace: those given, else those of the settings that count.

    Raises ConfigError if the project has such settings that nobody has trusted.
    """
    settings = work_settings(workspace)
    values = {**settings, **{name: value for name, value in given.items() if value not in (None, ())}}
    mode = cast(PermissionMode, agent.get("mode") or values.pop("mode", None) or "accept-edits")
    values.pop("mode", None)
    values.setdefault("worktrees", default_worktrees(workspace))
    checks = tuple(values.pop("checks", ()))
    options = AgentOptions(**{**agent, "mode": mode, "default_turns": DEFAULT_TURNS})
    values["worktrees"] = Path(values["worktrees"]).expanduser()
    if isinstance(seconds := values.get("lease"), int | float):
        values["lease"] = timedelta(seconds=seconds)
    try:
        return msgspec.convert({**values, "checks": checks, "agent": options}, WorkOptions)
    except msgspec.ValidationError as error:
        raise ConfigError(f"[work]: {error}") from None


def default_worktrees(workspace: Workspace) -> Path:
    """A folder beside the user's own, which no tool may edit."""
    mine = home()
    return mine.with_name(f"{mine.name}-worktrees") / project_folder(workspace.project).name
