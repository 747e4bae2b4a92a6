"""The files of a folder, without those that git ignores where there is git. Links are named, never followed."""

import os
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from outlive.tools.fence import HARNESS

MOST = 200_000
_GIT = ("git", "-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard")


def files_below(folder: Path) -> list[Path]:
    """All of them, at most MOST. Git's own files and outlive's are left out, unless `folder` is among them."""
    return list(islice(_all(folder), MOST))


def cut_short(files: Sequence[Path]) -> str:
    """A word on files that were not even looked at, or nothing."""
    return f"[only {MOST:,} files were looked at; give a folder as path]" if len(files) >= MOST else ""


def _all(folder: Path) -> Iterator[Path]:
    names = _from_git(folder)
    if not names:
        yield from _walk(folder)
        return
    plain: dict[str, bool] = {}
    for name in names:
        path = folder / name
        if name.split("/", 1)[0] in HARNESS or not _really_below(folder, name.rpartition("/")[0], plain):
            continue
        try:
            is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
        except OSError:
            continue  # git knows it still, and it is gone
        if is_folder:  # a repository inside of this one
            yield from _walk(path)
        else:
            yield path


def _really_below(folder: Path, names: str, known: dict[str, bool]) -> bool:
    """Whether these folders are such. What git has in its index may be behind a link by now, or have `..` in it."""
    if names not in known:
        path = os.path.join(os.path.realpath(folder), names) if names else os.path.realpath(folder)
        known[names] = os.path.realpath(path) == path
    return known[names]


def _from_git(folder: Path) -> list[str]:
    """Nothing where there is no git, or where all is ignored: then it was asked for on purpose."""
    with suppress(OSError, subprocess.SubprocessError):
        found = subprocess.run(_GIT, cwd=folder, capture_output=True, timeout=30, check=False)  # noqa: S603 - constant
        if found.returncode == 0:
            return list(dict.fromkeys(os.fsdecode(name) for name in found.stdout.split(b"\0") if name))
    return []


def _walk(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        own = HARNESS if Path(here) == folder else ()
        folders[:] = sorted(name for name in folders if name != ".git" and name not in own)
        for name in sorted(names):
            if name not in own:
                yield Path(here, name)
        for name in folders:
            if os.path.islink(os.path.join(here, name)):
                yield Path(here, name)
