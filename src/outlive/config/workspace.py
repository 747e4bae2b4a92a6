"""The folder that outlive works in, found like git finds its root, and the store it uses."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from outlive.config.git import is_repository, main_checkout
from outlive.config.home import is_placeholder, read_settings, trusted
from outlive.errors import ConfigError

CHECKOUT = ("outlive.toml", ".git")
MARKERS = (*CHECKOUT, ".tasks", ".transcripts", ".memory")
SETTINGS = "outlive.toml"
DEFAULT_STORE = "files:.tasks"
DURABILITIES = ("full", "process")


class Store(TypedDict):
    """The arguments that open a store."""

    url: str
    base: Path
    durability: str


class Workspace:
    """A folder and its settings.

    `root` is where tools work. `project` is where stores, `outlive.toml` and trust are: the same folder, but for a
    linked git worktree without an `outlive.toml` of its own that of its main checkout.
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
        """What was found if `root` is a linked git worktree, in words."""
        self.file = self.project / SETTINGS
        self.digest = digest
        """Of the bytes of `file` that were read; empty without a file."""
        self.agent = agent or {}
        self.permissions = permissions or {}
        self.hooks = hooks or {}
        """The sections [agent], [permissions] and [[hooks.EVENT]] as the file has them. Whether they count is a
        question of trust (`tools/trust.py`)."""
        self.memory = memory or {}
        self.context = context or {}
        """The section [context] as it was written: policy, window, policies."""
        self.chosen = chosen
        """The store that the user named, if any."""
        self.named = named
        """The store of `file`, else the usual one."""
        self.durability = durability
        """`full`: acknowledged means on disk. `process`: survives the death of the process, not of the machine."""

    @classmethod
    def find(cls, start: Path | None = None, *, store: str | None = None) -> "Workspace":
        """The workspace that a folder belongs to. The store is `store`, else OUTLIVE_STORE, else as its file says."""
        root = _root(start or Path.cwd())
        main, linked = main_checkout(root)
        if main is not None and not _has_own_settings(root, main):
            return cls.read(root, store=store, project=main, linked=linked)
        return cls.read(root, store=store, linked=f"{linked}, with an {SETTINGS} of its own" if main else linked)

    @classmethod
    def read(
        cls, root: Path, *, store: str | None = None, project: Path | None = None, linked: str = ""
    ) -> "Workspace":
        """The settings of this very folder; of the user's home, for example."""
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
        """Whether all of `file` counts: the user has trusted it as it was read, or there is none."""
        return not self.digest or trusted(self.file, self.digest)

    @property
    def names_store(self) -> bool:
        """Whether `file` names a store other than the usual one."""
        return self.named != DEFAULT_STORE

    @property
    def store_url(self) -> str:
        """The store to use. Raises ConfigError where only a file that is not trusted names it: falling back to the
        usual store instead would make a second task 1."""
        if self.chosen:
            return self.chosen
        if not self.names_store or self.trusted:
            return self.named
        from outlive.secrets import mask

        raise ConfigError(
            f"{self.file} is not trusted and names a store: [store] url = {mask(self.named)!r}. Nothing was done",
            hint="if you want that store, run once: outlive trust; or name one yourself: OUTLIVE_STORE=URL",
            code="store_elsewhere",
        )

    @property
    def store(self) -> Store:
        """How to open it: `open_stores(**workspace.store)`. Raises ConfigError like `store_url`."""
        weaker = self.durability != DURABILITIES[0]
        durability = DURABILITIES[0] if weaker and not self.trusted else self.durability
        return {"url": self.store_url, "base": self.project, "durability": durability}


def default_owner() -> str | None:
    return os.environ.get("OUTLIVE_OWNER") or None


def default_actor() -> str | None:
    return os.environ.get("OUTLIVE_ACTOR") or None


def _root(start: Path) -> Path:
    """The nearest folder upwards that is marked as one, else `start`. Raises ConfigError inside of a repository."""
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
    """Whether a worktree has an `outlive.toml` that is not just the checked-out copy of its main checkout's."""
    own = read_settings(root / SETTINGS)
    return own is not None and own != read_settings(main / SETTINGS)
