"""Where the workspace is and which store it uses. The only module that reads our environment variables."""

import os
from pathlib import Path
from typing import Any

import msgspec

from outlive.errors import ConfigError

MARKERS = ("outlive.toml", ".tasks", ".git")
DEFAULT_STORE = "files:.tasks"


class StoreConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    url: str = DEFAULT_STORE
    durability: str = "full"
    """`full`: acknowledged means on disk. `process`: survives the death of the process, not of the machine."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    store: StoreConfig = StoreConfig()


class Workspace(msgspec.Struct, frozen=True):
    """The folder that outlive works in, found like git finds its root, and its settings."""

    root: Path
    store: StoreConfig = StoreConfig()

    @classmethod
    def find(cls, start: Path | None = None, *, store: str | None = None) -> "Workspace":
        """Settings from `store`, else OUTLIVE_STORE, else `outlive.toml`, else the default."""
        root = _root(start or Path.cwd())
        settings = _load(root / "outlive.toml")
        url = store or os.environ.get("OUTLIVE_STORE") or settings.store.url
        return cls(root, msgspec.structs.replace(settings.store, url=url))


def default_owner() -> str | None:
    return os.environ.get("OUTLIVE_OWNER") or None


def default_actor() -> str | None:
    return os.environ.get("OUTLIVE_ACTOR") or None


def _root(start: Path) -> Path:
    """The nearest folder upwards that is marked as one, else `start`."""
    start = start.resolve()
    marked = (folder for folder in (start, *start.parents) if any((folder / mark).exists() for mark in MARKERS))
    return next(marked, start)


def _load(path: Path) -> _File:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return _File()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
    import tomllib

    try:
        form: dict[str, Any] = tomllib.loads(raw.decode())
        settings = msgspec.convert(form, _File)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise ConfigError(f"{path}: {error}") from None
    if settings.store.durability not in ("full", "process"):
        raise ConfigError(f"{path}: durability must be 'full' or 'process', not {settings.store.durability!r}")
    return settings
