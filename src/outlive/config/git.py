"""Facts about a git repository, read from its files. Git itself is run only by workers (`work/repository`): a
repository's settings can name programs that git would start.

A `.git` file from an archive can name any folder, so `names_back` requires a link in the other direction, which only
somebody with write access to that repository can create.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

from outlive.regular import read_regular

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"ref: *(refs/[^\0\n]+|HEAD)")
_MAX_SYMBOLIC_REFS = 5
"""Symbolic references that are followed in a row, as in git."""
_MAX_REFS_BYTES = 16 * 2**20  # about 200,000 refs in packed-refs; a branch beyond them is not found
_MAX_CONFIG_BYTES = 2**20  # a larger one was not written by git; it then names no worktree
_WORKTREE = re.compile(rb'^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$', re.MULTILINE)


class GitFolders(NamedTuple):
    """`own` holds HEAD and the index of one working tree, `common` what all working trees share."""

    own: Path
    common: Path

    @property
    def linked(self) -> bool:
        """Whether this is a linked working tree (`git worktree add`)."""
        return self.own != self.common


def git_folders(folder: Path) -> GitFolders | None:
    """The git folders of the working tree at `folder`; None without a valid `.git`."""
    own = folder / ".git"
    if not own.is_dir():
        kind, _, place = _line(own).partition(": ")
        if kind != "gitdir" or not place:
            return None
        own = folder / place
    own = _joined(folder, str(own))
    shared = _line(own / "commondir")
    common = _joined(own, shared) if shared else own
    return GitFolders(own, common) if is_repository(common, own) else None


def branch(folder: Path) -> str:
    """The branch checked out in the working tree around `folder`; empty if there is none or it is unknown."""
    found = next(filter(None, map(git_folders, (folder, *folder.parents))), None)
    link = _REF.fullmatch(_line(found.own / "HEAD")) if found else None
    return link[1].removeprefix("refs/heads/") if link else ""


def head(folder: Path) -> str:
    """The commit checked out in the working tree around `folder`; empty if unknown."""
    found = next(filter(None, map(git_folders, (folder, *folder.parents))), None)
    if found is None:
        return ""
    text = _line(found.own / "HEAD")
    for _ in range(_MAX_SYMBOLIC_REFS):
        if _COMMIT.fullmatch(text):
            return text
        link = _REF.fullmatch(text)
        if link is None or ".." in link[1].split("/"):
            return ""
        text = _line(found.own / link[1]) or _line(found.common / link[1]) or _packed(found.common, link[1])
    return ""


def read_or_nothing(path: Path, limit: int, *, follow: bool = False) -> bytes:
    """The bytes of a regular file of at most `limit` bytes; empty for anything else."""
    try:
        return read_regular(path, limit, follow=follow)
    except (OSError, ValueError):
        return b""


def _packed(common: Path, name: str) -> str:
    suffix = b" " + os.fsencode(name)
    for line in read_or_nothing(common / "packed-refs", _MAX_REFS_BYTES).split(b"\n"):
        if line.endswith(suffix) and line[: -len(suffix)].isalnum():
            return line[: -len(suffix)].decode("ascii", "replace")
    return ""


def _line(path: Path) -> str:
    """The line of a one-line file; empty if it cannot be a path."""
    text = os.fsdecode(read_or_nothing(path, 16 * 1024)).rstrip("\r\n")
    return "" if "\0" in text else text


def _joined(base: Path, text: str) -> Path:
    """The real path of `text`, which a file in `base` names."""
    return Path(os.path.realpath(base / text))


def names_back(found: GitFolders, folder: Path) -> bool:
    """Whether a repository elsewhere names `folder` as its working tree."""
    if found.linked:
        mutual = _joined(found.own, _line(found.own / "gitdir")) == folder / ".git"
        return mutual and found.own.parent == found.common / "worktrees"
    names = _WORKTREE.findall(read_or_nothing(found.own / "config", _MAX_CONFIG_BYTES))
    return bool(names) and _joined(found.own, os.fsdecode(names[-1])) == folder


def main_checkout(root: Path) -> tuple[Path | None, str]:
    """The main checkout of a linked worktree, else None; and a description if it is a linked worktree."""
    found = git_folders(root)
    if found is None or not found.linked:
        return None, ""
    if not names_back(found, root):
        return None, f"its .git file names {found.own}, which does not name it back, so it is a workspace of its own"
    main = found.common.parent
    if (beside := git_folders(main)) is None or beside.own != found.common:
        return None, f"a linked git worktree of {found.common}, which has no main checkout beside it"
    return main, f"a linked git worktree of {main}"


def is_repository(folder: Path, own: Path | None = None) -> bool:
    """Whether this is a bare repository or a `.git` folder; `own` holds the HEAD of a linked worktree."""
    return ((own or folder) / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
