"""Where the workspace is and which store it uses. The only module that reads our environment variables."""

import os
from collections.abc import Mapping
from pathlib import Path

from outlive.errors import ConfigError

MARKERS = ("outlive.toml", ".tasks", ".transcripts", ".memory", ".git")
DEFAULT_STORE = "files:.tasks"
SECTIONS = ("store", "context")
DURABILITIES = ("full", "process")


class Workspace:
    """The folder that outlive works in, found like git finds its root, and its settings."""

    def __init__(
        self,
        root: Path,
        *,
        store_url: str = DEFAULT_STORE,
        durability: str = "full",
        context: Mapping[str, object] | None = None,
    ) -> None:
        self.root = root
        self.context = context or {}
        """The section [context] as it was written: policy, window, policies."""
        self.store_url = store_url
        self.durability = durability
        """`full`: acknowledged means on disk. `process`: survives the death of the process, not of the machine."""

    @classmethod
    def find(cls, start: Path | None = None, *, store: str | None = None) -> "Workspace":
        """Settings from `store`, else OUTLIVE_STORE, else `outlive.toml`, else the default."""
        root = _root(start or Path.cwd())
        path = root / "outlive.toml"
        form = _load(path)
        settings = _store(path, form)
        url = store or os.environ.get("OUTLIVE_STORE") or settings.get("url", DEFAULT_STORE)
        return cls(root, store_url=url, durability=settings.get("durability", "full"), context=_context(path, form))


def default_owner() -> str | None:
    return os.environ.get("OUTLIVE_OWNER") or None


def default_actor() -> str | None:
    return os.environ.get("OUTLIVE_ACTOR") or None


def home_folder() -> Path:
    """What a person has across projects; OUTLIVE_HOME moves it."""
    return Path(os.environ.get("OUTLIVE_HOME") or "~/.outlive").expanduser()


def _root(start: Path) -> Path:
    """The nearest folder upwards that is marked as one, else `start`."""
    start = start.resolve()
    marked = (folder for folder in (start, *start.parents) if any((folder / mark).exists() for mark in MARKERS))
    return next(marked, start)


def _load(path: Path) -> dict[str, object]:
    """What `outlive.toml` says, by section."""
    if not path.exists():
        return {}
    import tomllib

    try:
        form = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    for name, section in form.items():
        if name not in SECTIONS or not isinstance(section, dict):
            sections = ", ".join(f"[{known}]" for known in SECTIONS)
            raise ConfigError(f"{path}: {name!r} is not a section; the sections are: {sections}")
    return form


def _context(path: Path, form: Mapping[str, object]) -> Mapping[str, object]:
    """The settings of the context engine; the numbers of a policy are checked where policies are known."""
    context = form.get("context", {})
    assert isinstance(context, dict)  # noqa: S101 - `_load` lets nothing else through
    kinds = {"policy": str, "window": int, "policies": dict}
    for key, value in context.items():
        if key not in kinds or not isinstance(value, kinds[key]):
            raise ConfigError(f"{path}: [context] {key} = {value!r} is not a setting; it takes {', '.join(kinds)}")
    return context


def _store(path: Path, form: Mapping[str, object]) -> dict[str, str]:
    """The settings of the store, checked."""
    store = form.get("store", {})
    assert isinstance(store, dict)  # noqa: S101 - `_load` lets nothing else through
    for key, value in store.items():
        if key not in ("url", "durability") or not isinstance(value, str):
            raise ConfigError(f"{path}: [store] {key} = {value!r} is not a setting; it takes url and durability")
    if store.get("durability", "full") not in DURABILITIES:
        raise ConfigError(f"{path}: durability must be one of {', '.join(DURABILITIES)}, not {store['durability']!r}")
    return store
