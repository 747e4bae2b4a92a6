"""The folders that tools may use: the workspace and those the user added. Symlinks and `..` do not lead out of them.

`inside` checks a path at one moment; `open_inside` is safe against swapped paths: it walks from a descriptor of the
folder and follows no link.
"""

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from outlive.config import Workspace, home
from outlive.config.home import MAX_NAME_BYTES
from outlive.regular import real_path
from outlive.stores.locations import MEMORY, OUTPUTS, TRANSCRIPTS, files_of
from outlive.tools.errors import ToolError

TASKS, DOTENV = ".tasks", ".env"
HARNESS_PATHS = (TRANSCRIPTS, TASKS, MEMORY, OUTPUTS, ".outlive", "outlive.toml")
"""Files of outlive in a workspace: log, state, the user's rules and hooks. Only their own tools change them."""

MAX_PATH_BYTES = 4096  # PATH_MAX of Linux

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def protected_paths(workspace: Workspace) -> list[Path]:
    """Paths that no tool edits and the sandbox keeps read-only: settings of the user and the project, and the stores
    in use."""
    folders = dict.fromkeys((workspace.root, workspace.project))
    names = (*HARNESS_PATHS, DOTENV)
    return [
        home(),
        *(folder / name for folder in folders for name in names),
        *files_of(workspace.store_url, workspace.base),
    ]


class Fence:
    """The folders that tools may use: `root` and `extra`. No tool may edit paths in `protect`."""

    def __init__(self, root: Path, extra: Iterable[Path] = (), *, protect: Iterable[Path] = ()) -> None:
        self.root = root.resolve()
        self.extra = tuple(real_path(path) for path in extra)
        self._protect = tuple(_folded(real_path(path)) for path in protect)

    def add(self, folder: Path) -> None:
        """Let tools use another folder, because the user said so."""
        self.extra = (*self.extra, folder.resolve())

    def inside(self, path: str) -> Path:
        """The real path of `path`. Raises ToolError if it is outside the fence."""
        _check_spelling(path)
        real = Path(os.path.realpath(self.root / os.path.expanduser(path)))
        if any(part.is_symlink() for part in (real, *real.parents)):  # realpath leaves a loop unresolved
            raise ToolError(f"{path} goes through a symlink that leads in a circle")
        if self._folder_of(real) is None:
            leads = "" if str(real) == path else f" (it leads to {real})"
            raise ToolError(
                f"{path} is outside of the workspace {self.root}{leads}; work inside of it. "
                "Only the user can add a folder"
            )
        return real

    def has(self, path: str) -> bool:
        """Whether `inside` accepts this path; nothing need be there."""
        try:
            self.inside(path)
        except ToolError:
            return False
        return True

    def shown(self, path: Path) -> str:
        """A real path for messages: relative to the root if it is below it."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    def protected(self, path: Path) -> str:
        """Why no tool may edit this real path, or nothing. Case is ignored, as some disks do."""
        for folder in self._folders:
            if not path.is_relative_to(folder):
                continue
            names = _folded(path.relative_to(folder))
            if names[:1] == (DOTENV,):
                return f"{self.shown(path)} can choose the model's server and key: no tool edits it, only the user"
            if names and names[0] in HARNESS_PATHS:
                return self._ours(path)
            if ".git" in names:
                return f"{self.shown(path)} belongs to git: what runs from there is not for tools to edit; use git"
        folded = _folded(path)
        return self._ours(path) if any(folded[: len(kept)] == kept for kept in self._protect) else ""

    def _ours(self, path: Path) -> str:
        return f"{self.shown(path)} belongs to outlive itself: no tool edits it, only the user and its own tools"

    def editable(self, path: str) -> Path:
        """Like `inside`, for a path to be changed: also raises ToolError for a protected one."""
        real = self.inside(path)
        if why := self.protected(real):
            raise ToolError(why)
        return real

    def open_inside(self, path: str, flags: int = os.O_RDONLY) -> int:
        """Open the file that `path` names and return the descriptor, which the caller closes."""
        real = self.editable(path) if flags & _WRITE_FLAGS else self.inside(path)
        folder, name = self._walk(path, real, make=False)
        try:
            return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise ToolError(_swapped(path)) from None
            error.filename = str(real)
            raise
        finally:
            os.close(folder)

    def open_folder(self, path: str, *, make: bool = False) -> tuple[int, str]:
        """A descriptor (for `dir_fd`) of the parent folder of a file to be written, and its name in it.

        `make` creates missing folders. The caller closes the descriptor.
        """
        return self._walk(path, self.editable(path), make=make)

    @property
    def _folders(self) -> tuple[Path, ...]:
        return (self.root, *self.extra)

    def _folder_of(self, real: Path) -> Path | None:
        return next((folder for folder in self._folders if real.is_relative_to(folder)), None)

    def _walk(self, path: str, real: Path, *, make: bool) -> tuple[int, str]:
        """Open the parent of `real`, one name at a time from the fence's own folder."""
        start = self._folder_of(real)
        assert start is not None  # noqa: S101 - `inside` lets nothing else through
        *names, last = real.relative_to(start).parts or (".",)
        here = os.open(start, _FOLDER_FLAGS)
        for name in names:
            try:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=here)
                below = os.open(name, _FOLDER_FLAGS, dir_fd=here)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR):
                    raise ToolError(_swapped(path)) from None
                error.filename = str(real.parent)
                raise
            finally:
                os.close(here)
            here = below
        return here, last


def _folded(path: Path) -> tuple[str, ...]:
    return tuple(part.casefold() for part in path.parts)


def _check_spelling(path: str) -> None:
    if not path.strip():
        raise ToolError("the path is empty; name a file or a folder of the workspace")
    if "\0" in path:
        raise ToolError(f"{path!r} is not a path: it contains a NUL character")
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:
        raise ToolError(f"{path!r} is not a path: it contains half of a character") from None
    if len(raw) > MAX_PATH_BYTES or any(len(name) > MAX_NAME_BYTES for name in raw.split(b"/")):
        raise ToolError(f"{path[:60]}… is too long for a path: {len(raw)} bytes, a name may have {MAX_NAME_BYTES}")


def _swapped(path: str) -> str:
    return f"a part of {path} is not a folder, or became a symlink while it was looked at; look again, then decide"
