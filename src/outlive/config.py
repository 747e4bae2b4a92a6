"""Where the workspace is and which store it uses. The only module that reads our environment variables."""

import os
from pathlib import Path

from outlive.errors import ConfigError

MARKERS = ("outlive.toml", ".tasks", ".git")
DEFAULT_STORE = "files:.tasks"
DURABILITIES = ("full", "process")


class Workspace:
    """The folder that outlive works in, found like git finds its root, and its settings."""

    def __init__(self, root: Path, *, store_url: str = DEFAULT_STORE, durability: str = "full") -> None:
        self.root = root
        self.store_url = store_url
        self.durability = durability
        """`full`: acknowledged means on disk. `process`: survives the death of the process, not of the machine."""

    @classmethod
    def find(cls, start: Path | None = None, *, store: str | None = None) -> "Workspace":
        """Settings from `store`, else OUTLIVE_STORE, else `outlive.toml`, else the default."""
        root = _root(start or Path.cwd())
        settings = _load(root / "outlive.toml")
        url = store or os.environ.get("OUTLIVE_STORE") or settings.get("url", DEFAULT_STORE)
        return cls(root, store_url=url, durability=settings.get("durability", "full"))


def default_owner() -> str | None:
    return os.environ.get("OUTLIVE_OWNER") or None


def default_actor() -> str | None:
    return os.environ.get("OUTLIVE_ACTOR") or None


def _root(start: Path) -> Path:
    """The nearest folder upwards that is marked as one, else `start`."""
    start = start.resolve()
    marked = (folder for folder in (start, *start.parents) if any((folder / mark).exists() for mark in MARKERS))
    return next(marked, start)


def _load(path: Path) -> dict[str, str]:
    """The settings of the store in `outlive.toml`, checked."""
    if not path.exists():
        return {}
    import tomllib

    try:
        form = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    unknown = [name for name in form if name != "store"]
    store = form.get("store", {})
    if unknown or not isinstance(store, dict):
        raise ConfigError(f"{path}: {(unknown or ['store'])[0]!r} is not a section; the sections are: [store]")
    for key, value in store.items():
        if key not in ("url", "durability") or not isinstance(value, str):
            raise ConfigError(f"{path}: [store] {key} = {value!r} is not a setting; it takes url and durability")
    if store.get("durability", "full") not in DURABILITIES:
        raise ConfigError(f"{path}: durability must be one of {', '.join(DURABILITIES)}, not {store['durability']!r}")
    return store
