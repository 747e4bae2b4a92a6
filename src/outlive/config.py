"""Where the workspace is and which store it uses. The only module that reads our environment variables."""

import os
from collections.abc import Mapping
from pathlib import Path

from outlive.errors import ConfigError

MARKERS = ("outlive.toml", ".tasks", ".transcripts", ".git")
DEFAULT_STORE = "files:.tasks"
SECTIONS = ("store", "context")
DURABILITIES = ("full", "process")
CREDENTIALS = {"ANTHROPIC": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), "OPENAI": ("OPENAI_API_KEY",)}
"""Which keys go to the address in `…_BASE_URL`."""


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


def environment(root: Path) -> dict[str, str]:
    """The variables of the process, and below them those of `.env` in the workspace. Nothing is exported.

    A folder may come from anywhere, so its `.env` must not lead a key of the user to an address of its own: a key
    that is not in the same file is withheld from a server on this machine, and any other address is refused.
    """
    ours = {name: value for name, value in os.environ.items() if value}
    path = root / ".env"
    theirs = _dotenv(path)
    found = {**theirs, **ours}
    for provider, keys in CREDENTIALS.items():
        address = f"{provider}_BASE_URL"
        if address not in theirs or address in ours:
            continue
        exported = [key for key in keys if key in ours]
        if exported and not any(key in theirs for key in keys):
            _keep_apart(path, address, theirs[address], exported[0])
        for key in exported:
            del found[key]
        found |= {key: theirs[key] for key in keys if key in theirs}
    return found


def default_owner() -> str | None:
    return os.environ.get("OUTLIVE_OWNER") or None


def default_actor() -> str | None:
    return os.environ.get("OUTLIVE_ACTOR") or None


def _dotenv(path: Path) -> dict[str, str]:
    """What a `.env` file says. Its values are secrets: they appear in no message."""
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        found = dotenv_values(path, interpolate=False, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    return {name: value for name, value in found.items() if value}


def _keep_apart(path: Path, address: str, url: str, key: str) -> None:
    """Refuse an address that is not on this machine, when the key for it is the user's own."""
    from urllib.parse import urlsplit

    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    if host not in ("localhost", "127.0.0.1", "::1"):
        raise ConfigError(
            f"{path}: {address} would be sent the {key} of your environment; "
            f"put the key for it beside it, or export {address} yourself"
        )


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
