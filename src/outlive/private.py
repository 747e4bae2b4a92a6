"""Private files of outlive: folders 0700, files 0600, even if a clone brought them with wider permissions."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from outlive.errors import StoreUnavailable

GROUP_AND_OTHER_BITS = 0o077  # of a file's mode


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents with mode 0700."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def enter(folder: Path) -> None:
    """Make an existing folder private. Raises StoreUnavailable if it is a symbolic link."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        refuse_link(folder)
        return  # missing, or an error that the following operation reports
    try:
        tighten(descriptor)
    finally:
        os.close(descriptor)


def refuse_link(path: Path) -> None:
    """Raise StoreUnavailable for a symbolic link: one from a clone could point anywhere."""
    if os.path.islink(path):
        raise StoreUnavailable(
            f"{path}: is a symbolic link to {os.readlink(path)}, and outlive follows none for what it keeps. Nothing "
            "was changed",
            hint="put what it leads to there instead, or name another store: OUTLIVE_STORE=URL",
            code="store_elsewhere",
        )


def own_file(path: Path) -> None:
    """Create a file with mode 0600 or make it private, without opening it, which would release SQLite's locks."""
    with suppress(OSError):  # the following operation reports it
        os.mknod(path, stat.S_IFREG | 0o600)
    with suppress(OSError):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if mode & GROUP_AND_OTHER_BITS:
            path.chmod(mode & ~GROUP_AND_OTHER_BITS)


def tighten(descriptor: int) -> None:
    """Remove permissions for group and others from an open file or folder, where allowed."""
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    if mode & GROUP_AND_OTHER_BITS:
        with suppress(OSError):  # not ours, or a read-only disk
            os.fchmod(descriptor, mode & ~GROUP_AND_OTHER_BITS)
