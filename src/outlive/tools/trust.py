"""Whose word counts: the user's own files always, a project's `outlive.toml` only once the user has looked at it.

A file that came with a repository may forbid, never permit: until it is trusted its allow rules, hooks and what else
would widen the agent's rights are left out, and one line says so. Trust is in the user's home, by the file's path and
content; a changed file is a new file.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from outlive.config import Workspace, home
from outlive.errors import ConfigError
from outlive.secrets import mask
from outlive.stores.locations import path_of
from outlive.tools.asking import MODES
from outlive.tools.rules import Rules, narrowed

OUT_OF_REACH = (
    "bash(outlive trust*)",
    *(f"bash(outlive memory {verb}*)" for verb in ("add", "supersede", "confirm", "import", "undo")),
)
"""Denied to every agent: trust is the user's to give, and so is the user's word. To remember there is a tool."""
MODEST = ("thinking", "max_turns", "max_tokens")
"""Settings of [agent] that a stranger's file may set."""


def trusted(path: Path, digest: str = "") -> bool:
    """Whether the user has trusted this file as it is now, or as it was when it had this digest."""
    try:
        return bool(known := _load().get(str(path.resolve()))) and known == (digest or _digest(path))
    except FileNotFoundError:
        return False


def trust(path: Path, digest: str = "") -> str:
    """Remember that the user trusts this file as it is now, or as it was when it was shown. Returns the digest."""
    try:
        digest = digest or _digest(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); there is nothing to trust") from None
    keep(_file(), json.dumps({**_load(), str(path.resolve()): digest}, indent=1, sort_keys=True) + "\n")
    return digest


def forget(path: Path) -> None:
    """Trust it no longer."""
    known = {key: value for key, value in _load().items() if key != str(path.resolve())}
    keep(_file(), json.dumps(known, indent=1, sort_keys=True) + "\n")


@dataclass(frozen=True, slots=True)
class Settings:
    """What counts in a session: the user's own, the project's as far as it is trusted, and what was remembered."""

    agent: Mapping[str, Any] = field(default_factory=dict)
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    hooks: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    notice: str = ""
    """One line for the user when something of the project does not count."""

    def rules(self, allow: Sequence[str] = (), deny: Sequence[str] = ()) -> Rules:
        """All rules, those of the command line included."""
        return Rules([*self.allow, *allow], [*self.deny, *deny])


def settings(workspace: Workspace) -> Settings:
    """The settings that count for a workspace. Raises ConfigError for a store that only a trusted file may name."""
    mine = Workspace.read(home())
    theirs, ignored = workspace, list[str]()
    if workspace.digest and not trusted(workspace.root / "outlive.toml", workspace.digest):
        check_store(workspace)
        theirs, ignored = _narrowed(workspace)
    agent = {**mine.agent, **theirs.agent}
    if agent.get("mode", "ask") not in MODES:
        raise ConfigError(f"outlive.toml: [agent] mode = {agent['mode']!r}; it is one of {', '.join(MODES)}")
    return Settings(
        agent=agent,
        allow=(*mine.permissions.get("allow", ()), *theirs.permissions.get("allow", ()), *remembered(workspace.root)),
        deny=(*OUT_OF_REACH, *mine.permissions.get("deny", ()), *theirs.permissions.get("deny", ())),
        hooks={
            event: [*mine.hooks.get(event, ()), *theirs.hooks.get(event, ())]
            for event in (*mine.hooks, *theirs.hooks)
        },
        notice=_notice(workspace.root, ignored),
    )


def check_store(workspace: Workspace) -> None:
    """What an agent hears and does goes to the store: a stranger's file may not send it out of the workspace."""
    path = workspace.root / "outlive.toml"
    if _store_outside(workspace) and not trusted(path, workspace.digest):
        raise ConfigError(
            f"{path} is not trusted, and keeps sessions outside of the workspace: [store] url = "
            f"{mask(workspace.store_url)!r}. Look at it, then: outlive trust; or name the store yourself "
            "(--store, OUTLIVE_STORE)"
        )


def _store_outside(workspace: Workspace) -> bool:
    if workspace.store_chosen:
        return False
    if workspace.store_url.partition(":")[0] not in ("files", "sqlite"):
        return True
    return not path_of(workspace.store_url, workspace.root).resolve().is_relative_to(workspace.root.resolve())


def grants(workspace: Workspace) -> list[str]:
    """What a project's file asks for that needs trust, a line each."""
    kept, _ = _narrowed(workspace)
    lines = [f"[agent] {key} = {value!r}" for key, value in workspace.agent.items() if key not in kept.agent]
    lines += [f"[store] url = {mask(workspace.store_url)!r}"] if _store_outside(workspace) else []
    lines += [f"allow {rule!r}" for rule in workspace.permissions.get("allow", ())]
    return lines + [
        f"on {event} run {hook['command']!r}" for event, hooks in workspace.hooks.items() for hook in hooks
    ]


def remembered(root: Path) -> tuple[str, ...]:
    """What the user always allows in this project. Rules of older versions count in the narrow meaning of today's."""
    return tuple(dict.fromkeys(filter(None, map(narrowed, _remembered_as_written(root)))))


def _remembered_as_written(root: Path) -> tuple[str, ...]:
    path = _project(root)
    try:
        form = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}; mend it or remove it, it only holds what you always allow") from None
    rules = form.get("allow", []) if isinstance(form, dict) else None
    if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
        raise ConfigError(f"{path}: allow is not a list of rules; mend it or remove it")
    return tuple(rules)


def remember(root: Path, rule: str) -> None:
    """Always allow this in this project, in the user's home: out of reach of the agent and of version control."""
    rules = [*dict.fromkeys((*_remembered_as_written(root), rule))]
    keep(_project(root), json.dumps({"project": str(root.resolve()), "allow": rules}, indent=1) + "\n")


def _narrowed(workspace: Workspace) -> tuple[Workspace, list[str]]:
    """What of a stranger's file counts, for it can only narrow; and what does not."""
    agent = workspace.agent
    kept = {
        key: value
        for key, value in agent.items()
        if key in MODEST or (key, value) in (("mode", "ask"), ("mode", "plan"), ("sandbox", True), ("network", False))
    }
    ignored = [f"[agent] {key}" for key in agent if key not in kept]
    ignored += ["its allow rules"] if workspace.permissions.get("allow") else []
    ignored += ["its hooks"] if workspace.hooks else []
    deny = {"deny": workspace.permissions.get("deny", ())}
    return Workspace(workspace.root, agent=kept, permissions=deny), ignored


def _notice(root: Path, ignored: list[str]) -> str:
    if not ignored:
        return ""
    return (
        f"{root / 'outlive.toml'} is not trusted, so this does not count: {', '.join(ignored)}. "
        "Look at it, then: outlive trust"
    )


def _file() -> Path:
    return home() / "trusted.json"


def project_folder(root: Path) -> Path:
    """Where the user's home keeps what belongs to one project."""
    return home() / "projects" / sha256(os.fsencode(root.resolve())).hexdigest()[:16]


def _project(root: Path) -> Path:
    return project_folder(root) / "permissions.json"


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _load() -> dict[str, str]:
    try:
        form = json.loads(_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{_file()}: {error}; mend it or remove it, then trust your projects again") from None
    if not isinstance(form, dict):
        raise ConfigError(f"{_file()}: is not a table of files; remove it, then trust your projects again")
    return form


def keep(path: Path, text: str) -> None:
    """Written whole or not at all, for the user alone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.replace(file.name, path)
        except OSError:
            with suppress(OSError):
                os.unlink(file.name)
            raise
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({error.strerror}); nothing was remembered") from None
