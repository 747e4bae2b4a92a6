"""Which files of a folder were touched, asked of the kernel instead of looking at each of them.

Only for Linux, and for file systems on which nobody can write past this kernel; elsewhere there is no watch, and who
wants to know has to look.
"""

import os
import struct
import sys
import weakref
from pathlib import Path

_SOUND = frozenset(("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "tmpfs", "overlay"))
"""Not those over a network, nor those that a host shares with a guest."""
_SELF = 0x400 | 0x800
"""The folder itself was deleted or moved. Numbers are those of <sys/inotify.h>."""
_TOUCHED = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | _SELF
"""A file was written to, changed its mode or links, was closed after writing, moved out or in, made, deleted."""
_ONLY_FOLDERS = 0x01000000 | 0x02000000
"""And no links to them."""
_UNSURE = 0x40000000 | 0x2000 | 0x4000 | 0x8000 | _SELF
"""A folder came, went or changed, the file system went, there was too much to tell, or the watch has ended."""
_EVENT = struct.Struct("iIII")
_ENOUGH = 64 * 1024

Folders = dict[str, tuple[int, int] | None]
"""By name, where and which they are; the name of the first is empty."""


class FolderWatch:
    """Of a folder and some below it, from when it was made; `close` it, or let go of it."""

    def __init__(self, path: Path, folders: Folders, descriptor: int, names: dict[int, str]) -> None:
        self._path = path
        self._folders = folders
        self._descriptor = descriptor
        self._names = names
        self._process = os.getpid()
        self.close = weakref.finalize(self, os.close, descriptor)

    def touched(self) -> set[str] | None:
        """Names, with their folder, since the last time; None when that cannot be told, and the watch is over."""
        ours = self.close.alive and os.getpid() == self._process  # a child of ours would take what is told to us
        if not ours or _identities(self._path, self._folders) != self._folders:
            self.close()
            return None
        found: set[str] = set()
        while raw := self._read():
            at = 0
            while at < len(raw):
                watch, mask, _, length = _EVENT.unpack_from(raw, at)
                at += _EVENT.size
                name = raw[at : at + length].rstrip(b"\0")
                at += length
                if mask & _UNSURE or watch not in self._names:
                    self.close()
                    return None
                found.add(self._names[watch] + os.fsdecode(name))
        return found

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _ENOUGH)
        except BlockingIOError:
            return b""


def watch(path: Path, *below: str) -> FolderWatch | None:
    """Watch a folder, and those of these names below it that are there; None where it cannot be done."""
    folders = _identities(path, dict.fromkeys(("", *below)))
    if sys.platform != "linux" or folders is None or not _is_sound(path, folders):
        return None
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        return None  # there are too many already
    names: dict[int, str] = {}
    for name, identity in folders.items():
        if identity is not None:
            number = libc.inotify_add_watch(descriptor, os.fsencode(path / name), _TOUCHED | _ONLY_FOLDERS)
            if number < 0:
                os.close(descriptor)
                return None
            names[number] = f"{name}/" if name else ""
    made = FolderWatch(path, folders, descriptor, names)
    return made if _identities(path, folders) == folders else None


def _identities(path: Path, names: Folders) -> Folders | None:
    """Which folders these are now; None when there is not even the first of them."""
    found: Folders = {}
    for name in names:
        try:
            node = (path / name).stat() if not name else (path / name).lstat()
        except OSError:
            found[name] = None
        else:
            found[name] = (node.st_dev, node.st_ino)
    return found if found[""] else None


def _is_sound(path: Path, folders: Folders) -> bool:
    """Whether all of them are on one file system of a kind that tells everything."""
    devices = {identity[0] for identity in folders.values() if identity}
    if len(devices) != 1:
        return False
    (device,) = devices
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    kinds = {
        line.partition(" - ")[2].split(" ")[0] for line in mounts.splitlines() if line.split(" ", 3)[2:3] == [wanted]
    }
    return bool(kinds) and kinds <= _SOUND
