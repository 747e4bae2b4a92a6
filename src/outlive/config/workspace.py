"""The folder that outlive works in, found as git finds its root, and the store it uses."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from outlive.config.git import is_repository, main_checkout
from outlive.config.home import is_placeholder, read_settings, trusted
from outlive.errors import ConfigError

SETTINGS = "outlive.toml"
CHECKOUT = (SETTINGS, ".git")
MARKERS = (*CHECKOUT, ".tasks", ".transcripts", ".memory")
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
    git worktree without an `outlive.toml` of its own, where it is the main checkout.
    """

    def __init__(
        self,
        root: Path,
        *,
        project: Path | None = None,
        linked: str = "",
        chosen: str = "",
        named: str = DEFAULT_STORE,
        durability: str = "full",
        context: Mapping[str, object] | None = None,
        agent: Mapping[str, object] | None = None,
        permissions: Mapping[str, Sequence[str]] | None = None,
        hooks: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
        memory: Mapping[str, object] | None = None,
        digest: str = "",
    ) -> None:
        self.root = root
        self.project = project or root
        self.linked = linked
        """A description if `root` is a linked git worktree."""
        self.file = self.project / SETTINGS
        self.digest = digest
        """SHA-256 of `file`; empty without a file."""
        self.agent = agent or {}
        self.permissions = permissions or {}
        self.hooks = hooks or {}
        """[agent], [permissions] and [[hooks.EVENT]] as in the file; `tools/permissions/trust.py` decides whether
        they count."""
        self.memory = memory or {}
        self.context = context or {}
        self.chosen = chosen
        """The store that the user named, if any."""
        self.named = named
        """The store of `file`, else the default."""
        self.durability = durability
        """`full`: acknowledged means on disk. `process`: survives a crash of the process, not of the machine."""

    @classmethod
    def find(cls, start: Path | None = None, *, store: str | None = None) -> "Workspace":
        """The workspace that a folder belongs to. The store is `store`, else OUTLIVE_STORE, else that of its file."""
        root = _root(start or Path.cwd())
        main, linked = main_checkout(root)
        if main is not None and not _has_own_settings(root, main):
            return cls.read(root, store=store, project=main, linked=linked)
        return cls.read(root, store=store, linked=f"{linked}, with an {SETTINGS} of its own" if main else linked)

    @classmethod
    def read(
        cls, root: Path, *, store: str | None = None, project: Path | None = None, linked: str = ""
    ) -> "Workspace":
        """The settings of exactly this folder, such as the user's home."""
        chosen = store or os.environ.get("OUTLIVE_STORE") or ""
        path = (project or root) / SETTINGS
        if not _is_there(path):
            return cls(root, project=project, linked=linked, chosen=chosen)
        from outlive.config import sections

        form, digest = sections.load(path)
        settings = sections.store_section(path, form, DURABILITIES)
        return cls(
            root,
            project=project,
            linked=linked,
            chosen=chosen,
            named=settings.get("url", DEFAULT_STORE),
            durability=settings.get("durability", "full"),
            context=sections.context_section(path, form),
            agent=sections.agent_section(path, form),
            permissions=sections.permissions_section(path, form),
            hooks=sections.hooks_section(path, form),
            memory=sections.memory_section(path, form),
            digest=digest,
        )

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
            f"{self.file} is not trusted and names a store: [store] url = {mask(self.named)!r}. Nothing was done. "
            "If you want that store, run once: outlive trust; or name one yourself: --store URL, OUTLIVE_STORE=URL"
        )

    @property
    def store(self) -> Store:
        """How to open it: `open_task_store(**workspace.store)`. Raises ConfigError like `store_url`."""
        return {"url": self.store_url, "base": self.project, "durability": self.durability}


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
