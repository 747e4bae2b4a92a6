"""The folder that outlive works in, found as git finds its root, and the store it uses."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from outlive.config.git import is_repository, main_checkout
from outlive.config.home import apart_folder, home, is_placeholder, read_settings, remember_project, trusted
from outlive.errors import ConfigError

SETTINGS = "outlive.toml"
CHECKOUT = (SETTINGS, ".git")
STORES = (".tasks", ".transcripts", ".memory")
MARKERS = (*CHECKOUT, *STORES)
DEFAULT_STORE = "files:.tasks"
DURABILITIES = ("full", "process")


class Store(TypedDict):
    """The arguments that open a store."""

    url: str
    base: Path
    durability: str


class Workspace:
    """A folder and its settings.

    `root` is where tools work. `project` holds stores, `outlive.toml` and trust: the same folder, except in a linked
    git worktree without an `outlive.toml` of its own, where it is the main checkout. `base` is where relative stores
    are: `project`, or for sessions of other agents in a folder that is no project, a folder in the user's own.
    """

    def __init__(
        self,
        root: Path,
        *,
        project: Path | None = None,
        linked: str = "",
        chosen: str = "",
        digest: str = "",
        sections: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.root = root
        self.project = project or root
        self.base = self.project
        self.linked = linked
        """A description if `root` is a linked git worktree."""
        self.file = self.project / SETTINGS
        self.digest = digest
        """SHA-256 of `file`; empty without a file."""
        self.chosen = chosen
        """The store that the user named, if any."""
        given = sections or {}
        names = ("context", "agent", "permissions", "hooks", "memory", "mcp", "terminal", "work")
        self.context, self.agent, self.permissions, self.hooks, self.memory, self.mcp, self.terminal, self.work = (
            given.get(name, {}) for name in names
        )
        """The sections of the file; `tools/permissions/trust.py` decides which of them count."""
        store = given.get("store", {})
        self.named: str = store.get("url", DEFAULT_STORE)
        """The store of `file`, else the default."""
        self.durability: str = store.get("durability", "full")
        """`full`: acknowledged means on disk. `process`: survives a crash of the process, not of the machine."""

    @classmethod
    def find(cls, start: Path | None = None, *, store: str | None = None, for_client: bool = False) -> "Workspace":
        """The workspace that a folder belongs to. The store is `store`, else OUTLIVE_STORE, else that of its file.

        `for_client`: another agent works there, so nothing of ours is put into a folder that is no project.
        """
        root = _root(start or Path.cwd())
        main, linked = main_checkout(root)
        if main is not None and not _has_own_settings(root, main):
            return cls.read(root, store=store, project=main, linked=linked)._placed(for_client)
        linked = f"{linked}, with an {SETTINGS} of its own" if main else linked
        return cls.read(root, store=store, linked=linked)._placed(for_client)

    def _placed(self, for_client: bool) -> "Workspace":
        """Choose `base`. What is in the user's own folder counts until the project has a store."""
        if not any(_is_there(self.project / name) for name in (SETTINGS, *STORES)):
            apart = apart_folder(self.project)
            if apart.is_dir() or (for_client and not _is_there(self.project / ".git")):
                self.base = apart
        return self

    def remember_apart(self) -> None:
        """Record that the user has worked here, if the stores are in the user's own folder and not made yet."""
        if self.base != self.project and not self.base.is_dir():
            remember_project(self.project)

    @classmethod
    def read(
        cls, root: Path, *, store: str | None = None, project: Path | None = None, linked: str = ""
    ) -> "Workspace":
        """The settings of exactly this folder, such as the user's home."""
        chosen = store or os.environ.get("OUTLIVE_STORE") or ""
        path = (project or root) / SETTINGS
        if not _is_there(path):
            return cls(root, project=project, linked=linked, chosen=chosen)
        from outlive.config.sections import load

        form, digest = load(path)
        if (durability := form.get("store", {}).get("durability", "full")) not in DURABILITIES:
            raise ConfigError(f"{path}: durability must be one of {', '.join(DURABILITIES)}, not {durability!r}")
        return cls(root, project=project, linked=linked, chosen=chosen, digest=digest, sections=form)

    def context_settings(self) -> dict[str, Any]:
        """`[context]`: the user's own, and over it that of the file."""
        mine = Workspace.read(home()).context
        policies = {**mine.get("policies", {}), **self.context.get("policies", {})}
        return {**mine, **self.context, "policies": policies}

    def memory_settings(self) -> dict[str, Any]:
        """`[memory]`: the user's own, and over it that of the file."""
        return {**Workspace.read(home()).memory, **self.memory}

    @property
    def trusted(self) -> bool:
        """Whether `file` counts: the user has trusted its present content, or there is none."""
        return not self.digest or trusted(self.file, self.digest)

    @property
    def names_store(self) -> bool:
        """Whether `file` names a store other than the default."""
        return self.named != DEFAULT_STORE

    @property
    def store_url(self) -> str:
        """The store to use. Raises ConfigError if only an untrusted file names it: falling back to the default store
        would create a second task 1."""
        if self.chosen:
            return self.chosen
        if not self.names_store or self.trusted:
            return self.named
        from outlive.secrets import mask

        raise ConfigError(
            f"{self.file} names a store and is not trusted: [store] url = {mask(self.named)!r}. Nothing was done",
            hint="if you want that store, run: outlive trust; for another one: OUTLIVE_STORE=URL",
            code="store_elsewhere",
        )

    @property
    def store(self) -> Store:
        """How to open it: `open_stores(**workspace.store)`. Raises ConfigError like `store_url`."""
        weaker = self.durability != DURABILITIES[0]
        durability = DURABILITIES[0] if weaker and not self.trusted else self.durability
        return {"url": self.store_url, "base": self.base, "durability": durability}


def default_owner() -> str | None:
    return os.environ.get("OUTLIVE_OWNER") or None


def default_actor() -> str | None:
    return os.environ.get("OUTLIVE_ACTOR") or None


def _root(start: Path) -> Path:
    """The nearest folder upwards with a marker, else `start`. Raises ConfigError in a bare repository or `.git`."""
    start = start.resolve()
    for folder in (start, *start.parents):
        marks = [mark for mark in MARKERS if _is_there(folder / mark)]
        if not any(mark in CHECKOUT for mark in marks) and is_repository(folder):
            raise ConfigError(
                f"{folder} is a git repository without a checkout (bare, or the inside of .git): there are no files "
                "to work on. Go to a checkout of it, or make one: git worktree add FOLDER"
            )
        if marks:
            return folder
    return start


def _is_there(path: Path) -> bool:
    return os.path.lexists(path) and not (path.name == SETTINGS and is_placeholder(path))


def _has_own_settings(root: Path, main: Path) -> bool:
    """Whether a worktree has an `outlive.toml` that differs from that of its main checkout."""
    own = read_settings(root / SETTINGS)
    return own is not None and own != read_settings(main / SETTINGS)
