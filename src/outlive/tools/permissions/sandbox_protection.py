"""What stays read-only in the folders that a sandboxed command may write to, and how.

A path is protected by a read-only mount on it. A mount needs something to lie on, so a missing path gets a
placeholder for as long as a sandbox runs: an empty folder, which git does not see and which cannot hide a file of the
user's, or where git reads the path a file that means nothing to git. Placeholders left by a crash are removed by the
next sandbox. Folders above a protected path are mounted onto themselves, or they could be renamed away with it.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from outlive.config.git import git_folders, names_back
from outlive.regular import open_to_read
from outlive.tools.permissions.fence import HARNESS

PROTECTED = (*HARNESS, ".env")
"""Of every writable folder: what would widen the next session's rights, or change what it remembers."""
GIT_FILES = {"config": b"", "config.worktree": b"", "commondir": b".\n"}
"""Files of a repository that decide what git runs, each with a content that changes nothing."""
LINKED_FILES = {"config.worktree": b"", "commondir": b"", "gitdir": b""}
"""The same in what a repository keeps of a linked worktree; the rest is in the main one."""
GIT_FOLDERS = ("hooks", "modules", "worktrees", "branches", "remotes")
"""Folders of a repository that hold programs, settings of further repositories, or addresses."""
GIT_SHARED = ("objects", "refs", "logs")
"""What a commit in a linked worktree writes to in the repository of the main checkout."""
FOLDER_MODE, FILE_MODE = 0o555, 0o444
"""Of placeholders, so that they are not mistaken for something of the user's."""
_DATABASE = b"SQLite format 3\0"


class Unprotectable(ValueError):
    """A path that should be read-only and cannot be made so."""


@dataclass(frozen=True, slots=True)
class _Mount:
    """One mount of a path onto itself; what is made if nothing is there, None for an empty folder."""

    how: str
    path: Path
    content: bytes | None = None
    keep: bool = True
    """Whether a placeholder stays: where it is something that the harness makes, it may be in use by the end."""


class Protection:
    """The mounts for one command. `folders` are writable, `paths` are more that stays read-only in them."""

    def __init__(self, folders: Sequence[Path], paths: Iterable[Path] = ()) -> None:
        self._mounts: list[_Mount] = [_Mount("--bind", folder) for folder in folders]
        for folder in folders:
            self._git(folder)
            for name in PROTECTED:
                self._protect(folder / name, keep=folder == folders[0] and name in _OURS)
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
        """Arguments for bubblewrap. Makes the placeholders, so it is called when the command is about to start."""
        for mount in self._mounts:
            with suppress(FileExistsError):
                _make(mount)
        return [word for mount in self._mounts for word in (mount.how, str(mount.path), str(mount.path))]

    def remove_placeholders(self) -> None:
        """Removes those that are still as they were made, whether this sandbox made them or one before it."""
        for mount in reversed(self._mounts):
            with suppress(OSError):
                mode = stat.S_IMODE(mount.path.lstat().st_mode)
                if mount.content is None and mode == FOLDER_MODE:
                    mount.path.rmdir()
                elif mount.content is not None and mode == FILE_MODE and mount.path.read_bytes() == mount.content:
                    mount.path.unlink()

    def _git(self, folder: Path) -> None:
        """`.git` itself stays writable, for git makes its lock files in there. A folder without git gets none: its
        settings and hooks would be the command's, and the user's git would follow them."""
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


_OURS = frozenset(HARNESS) - {"outlive.toml"}


def _is_database(path: Path) -> bool:
    with suppress(OSError), open_to_read(path) as file:
        return file.read(len(_DATABASE)) == _DATABASE
    return False
