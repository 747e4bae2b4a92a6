"""From a linked git worktree to its main checkout, by reading files only: no git is run.

A `.git` file may have come with an archive and can name any folder, so it is followed only if that folder names it
back, which takes write access to the repository it names.
"""

import os
from pathlib import Path

from outlive.regular import read_regular

_LONGEST = 16 * 1024


def main_checkout(root: Path) -> tuple[Path | None, str]:
    """The main checkout of a linked worktree, else None; and for a linked worktree what was found, in words."""
    admin = _git_folder(root)
    if admin is None or admin.parent == root or not (common := _line(admin / "commondir")):
        return None, ""
    shared = _joined(admin, common)
    if admin.parent != shared / "worktrees" or _joined(admin, _line(admin / "gitdir")) != root / ".git":
        return None, f"its .git file names {admin}, which does not name it back, so it stands alone"
    if _git_folder(shared.parent) != shared:
        return None, f"a linked git worktree of {shared}, which has no main checkout beside it"
    return shared.parent, f"a linked git worktree of {shared.parent}"


def is_repository(folder: Path) -> bool:
    """Whether this is the inside of a repository: a bare one, or a `.git` folder."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _git_folder(checkout: Path) -> Path | None:
    """The folder that `.git` is, or that the file `.git` names."""
    git = checkout / ".git"
    if git.is_dir():
        return git.resolve()
    kind, _, place = _line(git).partition(": ")
    return _joined(checkout, place) if kind == "gitdir" and place else None


def _joined(base: Path, text: str) -> Path:
    """A path that a file of git names, relative to the folder of that file."""
    return Path(os.path.realpath(base / text))


def _line(path: Path) -> str:
    """The one line of a regular file; "" for anything else, and for what cannot be a path."""
    try:
        text = os.fsdecode(read_regular(path, _LONGEST)).rstrip("\r\n")
    except OSError:
        return ""
    return "" if "\0" in text else text
