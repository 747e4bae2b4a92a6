"""The user's own folder, `~/.outlive`: settings for all projects, and which files of projects the user has trusted.

Trust is by path and content: a file that changes has to be trusted again. Modules are loaded where they are needed,
since every command loads this one first.
"""

import os
from pathlib import Path

from outlive.errors import ConfigError
from outlive.private import make_private
from outlive.regular import MIB, UnusableFile, read_regular

LARGEST = 16 * MIB
"""Bytes of a file that holds what the user allowed."""
LARGEST_SETTINGS = MIB


def home() -> Path:
    """Where the user's own settings are, for all projects: OUTLIVE_HOME, else `~/.outlive`."""
    return Path(os.environ.get("OUTLIVE_HOME") or "~/.outlive").expanduser()


def read_settings(path: Path, largest: int = LARGEST_SETTINGS) -> bytes | None:
    """A file of settings, None if there is none. A link counts only in the user's own folder."""
    if is_placeholder(path):
        return None
    try:
        return read_regular(path, largest, follow=path.parent == home())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnusableFile as error:
        raise ConfigError(str(error)) from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None


def is_placeholder(path: Path) -> bool:
    """An empty folder has the name of a missing file while a sandboxed command runs, so that it cannot be created."""
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())


def project_folder(project: Path) -> Path:
    """Where the user's home keeps what belongs to one project."""
    from hashlib import sha256

    return home() / "projects" / sha256(os.fsencode(project.resolve())).hexdigest()[:16]


def trusted(path: Path, digest: str = "") -> bool:
    """Whether the user has trusted this file as it is now, or what has this digest."""
    try:
        return bool(known := _load().get(_key(path))) and known == (digest or _digest(path))
    except FileNotFoundError:
        return False


def trust(path: Path, digest: str = "") -> str:
    """Remember that the user trusts this file as it is now, or what was shown of it. Returns the digest."""
    try:
        digest = digest or _digest(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); there is nothing to trust") from None
    _save({**_load(), _key(path): digest})
    return digest


def forget(path: Path) -> None:
    """Trust it no longer."""
    _save({key: value for key, value in _load().items() if key != _key(path)})


def keep(path: Path, text: str) -> None:
    """Write a file of the user's home, whole or not at all, readable by its owner alone."""
    from contextlib import suppress
    from tempfile import NamedTemporaryFile

    try:
        make_private(path.parent)
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


def _key(path: Path) -> str:
    """The last part is not followed if it is a link: what is trusted elsewhere is not trusted here."""
    return str(path.parent.resolve() / path.name)


def _digest(path: Path) -> str:
    from hashlib import sha256

    return sha256(read_regular(path, LARGEST_SETTINGS)).hexdigest()


def _load() -> dict[str, str]:
    import json

    path = home() / "trusted.json"
    try:
        form = json.loads(read_regular(path, LARGEST).decode())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}; mend it, or set it aside and trust your projects again") from None
    if not isinstance(form, dict):
        raise ConfigError(f"{path}: is not a table of files; set it aside and trust your projects again")
    return form


def _save(known: dict[str, str]) -> None:
    import json

    keep(home() / "trusted.json", json.dumps(known, indent=1, sort_keys=True) + "\n")
