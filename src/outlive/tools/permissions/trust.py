"""Which settings count: the user's own always, a project's `outlive.toml` only after `outlive trust`.

An untrusted file may forbid but not permit: its allow rules, hooks and other settings that would widen the agent's
rights are ignored, and a notice says so.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outlive.config import Workspace, home
from outlive.config.home import MAX_FILE_BYTES, keep, project_folder
from outlive.config.mcp_server import server_lines, servers_of
from outlive.config.workspace import DURABILITIES
from outlive.errors import ConfigError
from outlive.regular import read_regular
from outlive.secrets import mask
from outlive.tools.permissions.asking import MODES
from outlive.tools.permissions.rules import Rules, narrowed

DENIED_COMMANDS = (
    *("bash(outlive trust*)", "bash(outlive fleet*)", "bash(outlive attach*)"),
    *(f"bash(outlive memory {verb}*)" for verb in ("add", "supersede", "confirm", "import", "undo")),
)
"""Denied to every agent: only the user gives trust or speaks as the user. For memories there is a tool."""
UNTRUSTED_SETTINGS = ("thinking", "max_turns", "max_tokens", "max_cost", "max_time")
"""Settings of [agent] that an untrusted file may set."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a session: the user's, the project's as far as trusted, and remembered rules."""

    agent: Mapping[str, Any] = field(default_factory=dict)
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    hooks: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    notice: str = ""
    """One line for the user if settings of the project are ignored."""

    def rules(self, allow: Sequence[str] = (), deny: Sequence[str] = ()) -> Rules:
        """All rules, including those of the command line."""
        return Rules([*self.allow, *allow], [*self.deny, *deny])


def settings(workspace: Workspace) -> Settings:
    """The settings that count for a workspace."""
    mine = Workspace.read(home())
    theirs, ignored = counting(workspace)
    agent = {**mine.agent, **theirs.agent}
    if agent.get("mode", "ask") not in MODES:
        raise ConfigError(f"outlive.toml: [agent] mode = {agent['mode']!r}; it is one of {', '.join(MODES)}")
    untrusted = f"{workspace.file} is not trusted, so this does not count: {', '.join(ignored)}"
    return Settings(
        agent=agent,
        allow=(
            *mine.permissions.get("allow", ()),
            *theirs.permissions.get("allow", ()),
            *remembered(workspace.project),
        ),
        deny=(*DENIED_COMMANDS, *mine.permissions.get("deny", ()), *theirs.permissions.get("deny", ())),
        hooks={
            event: [*mine.hooks.get(event, ()), *theirs.hooks.get(event, ())]
            for event in (*mine.hooks, *theirs.hooks)
        },
        notice=f"{untrusted}. Look at it, then: outlive trust" if ignored else "",
    )


def counting(workspace: Workspace) -> tuple[Workspace, list[str]]:
    """The settings of a project's file that count, and the names of those that are ignored."""
    return (workspace, []) if workspace.trusted else _narrowed(workspace)


def terminal_settings(workspace: Workspace) -> Mapping[str, Any]:
    """`[terminal]`: the user's own, and over it that of a trusted project."""
    return {**Workspace.read(home()).terminal, **counting(workspace)[0].terminal}


def work_settings(workspace: Workspace) -> Mapping[str, Any]:
    """`[work]`: the user's own, and over it that of the project. Raises ConfigError if the project has some that
    nobody has trusted: work without its checks would not be what the project wants."""
    if workspace.work and not workspace.trusted:
        raise ConfigError(
            f"{workspace.file} is not trusted, and its [work] says how work is checked: {', '.join(workspace.work)}",
            hint="look at it, then trust it",
            code="untrusted_work",
        )
    return {**Workspace.read(home()).work, **workspace.work}


def grants(workspace: Workspace) -> list[str]:
    """The settings of a project's file that need trust, a line each."""
    kept, _ = _narrowed(workspace)
    lines = [f"[agent] {key} = {value!r}" for key, value in workspace.agent.items() if key not in kept.agent]
    lines += [f"[store] url = {mask(workspace.named)!r}"] if workspace.names_store else []
    lines += [f"[store] durability = {workspace.durability!r}"] if workspace.durability != DURABILITIES[0] else []
    lines += [f"allow {rule!r}" for rule in workspace.permissions.get("allow", ())]
    lines += server_lines(servers_of(workspace.mcp))
    lines += ["[mcp] defer = false"] if workspace.mcp.get("defer") is False else []
    lines += [f"[terminal] {key} = {value!r}" for key, value in workspace.terminal.items()]
    lines += [f"[work] {key} = {value!r}" for key, value in workspace.work.items()]
    return lines + [
        f"on {event} run {hook['command']!r}" for event, hooks in workspace.hooks.items() for hook in hooks
    ]


def remembered(project: Path) -> tuple[str, ...]:
    """The rules that the user always allows in this project, narrowed if an older version wrote them."""
    return tuple(dict.fromkeys(filter(None, map(narrowed, _remembered_as_written(project)))))


def _remembered_as_written(project: Path) -> tuple[str, ...]:
    path = _project(project)
    try:
        form = json.loads(read_regular(path, MAX_FILE_BYTES).decode())
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path}: {error}; mend it, or move it aside: it only holds what you always allow"
        ) from None
    rules = form.get("allow", []) if isinstance(form, dict) else None
    if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
        raise ConfigError(f"{path}: allow is not a list of rules; mend it, or move it aside")
    return tuple(rules)


def remember(project: Path, rule: str) -> None:
    """Always allow this in this project. Stored in the user's home, out of reach of agents and version control."""
    rules = [*dict.fromkeys((*_remembered_as_written(project), rule))]
    keep(_project(project), json.dumps({"project": str(project.resolve()), "allow": rules}, indent=1) + "\n")


def _narrowed(workspace: Workspace) -> tuple[Workspace, list[str]]:
    """The settings of an untrusted file that only narrow rights, and the names of those that are ignored."""
    agent = workspace.agent
    kept = {
        key: value
        for key, value in agent.items()
        if key in UNTRUSTED_SETTINGS
        or (key, value) in (("mode", "ask"), ("mode", "plan"), ("sandbox", True), ("network", False))
    }
    ignored = [f"[agent] {key}" for key in agent if key not in kept]
    ignored += ["its allow rules"] if workspace.permissions.get("allow") else []
    ignored += ["its hooks"] if workspace.hooks else []
    ignored += [f"MCP server {name}" for name in workspace.mcp.get("servers", ())]
    ignored += [f"[terminal] {key}" for key in workspace.terminal]
    ignored += [f"[work] {key}" for key in workspace.work]
    deny = {"deny": workspace.permissions.get("deny", ())}
    return Workspace(workspace.root, sections={"agent": kept, "permissions": deny}), ignored


def _project(project: Path) -> Path:
    return project_folder(project) / "permissions.json"
