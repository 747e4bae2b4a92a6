"""What outlive keeps is for its owner alone: folders 0700, files 0600, also where a clone brought them wider."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from outlive.errors import StoreUnavailable

OTHERS = 0o077


def make_private(folder: Path) -> None:
    """Make a folder and those above it that are missing, all for the owner alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def enter(folder: Path) -> None:
    """Close a folder of ours to others, if it is there. Raises StoreUnavailable if it is a symbolic link."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        refuse_link(folder)
        return  # missing, or for the operation itself to complain about
    try:
        tighten(descriptor)
    finally:
        os.close(descriptor)


def refuse_link(path: Path) -> None:
    """Raise StoreUnavailable for a symbolic link: one that came with a clone could lead anywhere."""
    if os.path.islink(path):
        raise StoreUnavailable(
            f"{path}: is a symbolic link to {os.readlink(path)}, and outlive follows none for what it keeps. Nothing "
            "was changed",
            hint="put what it leads to there instead, or name another store: OUTLIVE_STORE=URL",
            code="store_elsewhere",
        )


def own_file(path: Path) -> None:
    """Make a file for the owner alone, or close it to others; without opening it, which would end SQLite's locks."""
    with suppress(OSError):  # for the operation itself to complain about
        os.mknod(path, stat.S_IFREG | 0o600)
    with suppress(OSError):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if mode & OTHERS:
            path.chmod(mode & ~OTHERS)


def tighten(descriptor: int) -> None:
    """Take the rights of others from an open file or folder, where we may."""
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    if mode & OTHERS:
        with suppress(OSError):  # somebody else's, or a disk that may only be read
            os.fchmod(descriptor, mode & ~OTHERS)
