"""The user's own folder, `~/.outlive`: settings for all projects, and which project files the user has trusted.

Trust is by path and content: a file that changes must be trusted again. Imports are local because every command loads
this module.
"""

import os
from pathlib import Path

from outlive.errors import ConfigError
from outlive.private import make_private
from outlive.regular import MIB, UnusableFile, read_regular

MAX_FILE_BYTES = 16 * MIB
"""Bytes of a file with the user's permissions."""
MAX_SETTINGS_BYTES = MIB
PROJECT_PATH = "path"
MAX_PATH_BYTES = 64 * 1024  # of the file that names a project; paths of Linux have 4,096
MAX_NAME_BYTES = 255  # of a file name, on all common file systems; a longer one is hashed


def home() -> Path:
    """The folder of the user's own settings: OUTLIVE_HOME, else `~/.outlive`."""
    return Path(os.environ.get("OUTLIVE_HOME") or "~/.outlive").expanduser()


def read_settings(path: Path, largest: int = MAX_SETTINGS_BYTES) -> bytes | None:
    """The bytes of a settings file, or None. Symlinks are followed only in the user's own folder."""
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
    """Whether this is the empty folder that keeps a sandboxed command from creating a missing file."""
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())


def project_folder(project: Path) -> Path:
    from hashlib import sha256

    return home() / "projects" / sha256(os.fsencode(project.resolve())).hexdigest()[:16]


def apart_folder(project: Path) -> Path:
    """Where stores of a folder are that is no project. Named by its path: a hook is to load no hash for it."""
    name = os.fspath(project).replace("%", "%25").replace(os.sep, "%2F")
    return home() / "folders" / (name if len(os.fsencode(name)) <= MAX_NAME_BYTES else project_folder(project).name)


def remember_project(project: Path) -> None:
    """Record that the user has worked in this project."""
    path = project_folder(project) / PROJECT_PATH
    if not path.exists():
        keep(path, f"{project.resolve()}\n")


def known_projects() -> list[Path]:
    """The projects in which the user has worked and that still exist."""
    try:
        folders = sorted((home() / "projects").iterdir())
    except OSError:
        return []
    found = []
    for folder in folders:
        try:
            project = Path(os.fsdecode(read_regular(folder / PROJECT_PATH, MAX_PATH_BYTES)).strip())
        except OSError:
            continue
        if project.is_absolute() and project.is_dir() and project_folder(project) == folder:
            found.append(project)
    return found


def trusted(path: Path, digest: str = "") -> bool:
    """Whether the user has trusted this file with its present content, or with this digest."""
    try:
        return bool(known := _load().get(_key(path))) and known == (digest or _digest(path))
    except FileNotFoundError:
        return False


def trust(path: Path, digest: str = "") -> str:
    """Record that the user trusts this file with its present content, or with this digest. Returns the digest."""
    try:
        digest = digest or _digest(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); there is nothing to trust") from None
    _save({**_load(), _key(path): digest})
    return digest


def forget(path: Path) -> None:
    _save({key: value for key, value in _load().items() if key != _key(path)})


def keep(path: Path, text: str) -> None:
    """Write a file of the user's home atomically, readable by its owner only."""
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
    """A symlink in the last part is not resolved: trust in its target does not extend to the link."""
    return str(path.parent.resolve() / path.name)


def _digest(path: Path) -> str:
    from hashlib import sha256

    return sha256(read_regular(path, MAX_SETTINGS_BYTES)).hexdigest()


def _load() -> dict[str, str]:
    import json

    path = home() / "trusted.json"
    try:
        form = json.loads(read_regular(path, MAX_FILE_BYTES).decode())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read ({error}); move it aside and trust your projects again") from None
    if not isinstance(form, dict):
        raise ConfigError(f"{path}: is not a table of files; move it aside and trust your projects again")
    return form


def _save(known: dict[str, str]) -> None:
    import json

    keep(home() / "trusted.json", json.dumps(known, indent=1, sort_keys=True) + "\n")
