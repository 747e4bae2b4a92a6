"""Read-only paths inside the folders that a sandboxed command may write to.

A path is protected by a read-only mount. A mount needs an existing target, so a missing path gets a placeholder while
a sandbox runs: an empty folder, which git ignores and which cannot hide a user's file, or where git reads the path, a
file without effect. The next sandbox removes placeholders left by a crash. Folders above a protected path are mounted
onto themselves, so that they cannot be renamed together with it.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from outlive.config.git import git_folders, names_back
from outlive.regular import open_to_read
from outlive.tools.permissions.fence import HARNESS_PATHS

PROTECTED_PATHS = (*HARNESS_PATHS, ".env")
"""Names in every writable folder that could widen the next session's rights or change its memory."""
GIT_FILES = {"config": b"", "config.worktree": b"", "commondir": b".\n"}
"""Files of a repository that decide what git runs, with a placeholder content that changes nothing."""
LINKED_FILES = {"config.worktree": b"", "commondir": b"", "gitdir": b""}
"""The same for the folder of a linked worktree; the rest is in the main repository."""
GIT_FOLDERS = ("hooks", "modules", "worktrees", "branches", "remotes")
"""Folders of a repository that hold programs, settings of further repositories, or addresses."""
GIT_SHARED = ("objects", "refs", "logs")
"""Folders of the main repository that a commit in a linked worktree writes to."""
FOLDER_MODE, FILE_MODE = 0o555, 0o444
"""Modes that mark placeholders, to tell them from the user's files."""
_DATABASE = b"SQLite format 3\0"


class Unprotectable(ValueError):
    """A path cannot be made read-only."""


@dataclass(frozen=True, slots=True)
class _Mount:
    """A mount of a path onto itself. `content` of the placeholder if it is missing; None for an empty folder."""

    how: str
    path: Path
    content: bytes | None = None
    keep: bool = True
    """Whether the placeholder stays: the harness itself may be using it by the end."""


class Protection:
    """The mounts for one command. `folders` are writable, `paths` inside them stay read-only."""

    def __init__(self, folders: Sequence[Path], paths: Iterable[Path] = ()) -> None:
        self._mounts: list[_Mount] = [_Mount("--bind", folder) for folder in folders]
        for folder in folders:
            self._git(folder)
            for name in PROTECTED_PATHS:
                self._protect(folder / name, keep=folder == folders[0] and name in _HARNESS_FOLDERS)
        for path in paths:
            for folder in folders:
                if path != folder and path.is_relative_to(folder):
                    self._protect_below(folder, path)
        for mount in self._mounts:
            if mount.path.is_symlink():
                raise Unprotectable(
                    f"{mount.path} is a symbolic link, which the sandbox cannot keep from being replaced"
                )

    def walls(self) -> list[str]:
        """Create the placeholders and return the arguments for bubblewrap."""
        for mount in self._mounts:
            with suppress(FileExistsError):
                _make(mount)
        return [word for mount in self._mounts for word in (mount.how, str(mount.path), str(mount.path))]

    def remove_placeholders(self) -> None:
        """Remove unchanged placeholders, also those of earlier sandboxes."""
        for mount in reversed(self._mounts):
            with suppress(OSError):
                mode = stat.S_IMODE(mount.path.lstat().st_mode)
                if mount.content is None and mode == FOLDER_MODE:
                    mount.path.rmdir()
                elif mount.content is not None and mode == FILE_MODE and mount.path.read_bytes() == mount.content:
                    mount.path.unlink()

    def _git(self, folder: Path) -> None:
        """`.git` itself stays writable for git's lock files. In a folder without git the command cannot create a
        repository, because the user's git would obey its settings and hooks."""
        git = folder / ".git"
        if git.is_symlink() or not (git / "HEAD").exists():
            self._protect(git)
            found = git_folders(folder)
            if found is None or not names_back(found, folder):
                return
            git = found.own
            if found.linked:
                self._mounts += [_Mount("--bind", found.common / name) for name in GIT_SHARED]
        self._mounts.append(_Mount("--bind", git))
        linked = (git / "commondir").exists() and (git / "gitdir").exists()
        for name, content in (LINKED_FILES if linked else GIT_FILES).items():
            self._protect(git / name, content)
        for name in () if linked else GIT_FOLDERS:
            self._protect(git / name)

    def _protect_below(self, folder: Path, path: Path) -> None:
        between = [above for above in reversed(path.parents) if above != folder and above.is_relative_to(folder)]
        self._mounts += [_Mount("--bind", above) for above in between]
        self._protect(path, keep=True)
        if _is_database(path):
            for suffix in ("-journal", "-wal", "-shm"):
                beside = path.with_name(path.name + suffix)
                if suffix == "-journal" or beside.exists():
                    self._protect(beside, b"", keep=True)

    def _protect(self, path: Path, content: bytes | None = None, *, keep: bool = False) -> None:
        self._mounts.append(_Mount("--ro-bind", path, content, keep))


def _make(mount: _Mount) -> None:
    if mount.content is None:
        mount.path.mkdir(0o700)
        mode = FOLDER_MODE
    else:
        with open(os.open(mount.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(mount.content)
        mode = FILE_MODE
    if not mount.keep:
        mount.path.chmod(mode)


_HARNESS_FOLDERS = frozenset(HARNESS_PATHS) - {"outlive.toml"}


def _is_database(path: Path) -> bool:
    with suppress(OSError), open_to_read(path) as file:
        return file.read(len(_DATABASE)) == _DATABASE
    return False
