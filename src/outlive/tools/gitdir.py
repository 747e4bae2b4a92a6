"""What outlive wants to know of a git repository, read from its files. Nothing in outlive runs git: the settings of a
repository can name programs that git would start."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from outlive.regular import read_regular

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"ref: *(refs/[^\0\n]+|HEAD)")
_LINKS = 5
"""References that may lead to another in a row, as in git."""
_LARGEST_REFS = 16 * 2**20


@dataclass(frozen=True, slots=True)
class GitFolders:
    """`own` holds HEAD and the index of one working tree, `common` what all working trees share."""

    own: Path
    common: Path

    @property
    def linked(self) -> bool:
        """Whether this is a further working tree of a repository."""
        return self.own != self.common


def git_folders(folder: Path) -> GitFolders | None:
    """Those of the working tree at `folder`; None when there is no `.git`, or what it names is no repository."""
    own = folder / ".git"
    if not own.is_dir():
        kind, _, place = _line(own).partition(": ")
        if kind != "gitdir" or not place:
            return None
        own = Path(os.path.normpath(folder / place))
    shared = _line(own / "commondir")
    common = Path(os.path.normpath(own / shared)) if shared else own
    known = (own / "HEAD").is_file() and (common / "objects").is_dir() and (common / "refs").is_dir()
    return GitFolders(own, common) if known else None


def head(folder: Path) -> str:
    """The commit that is checked out in the working tree around `folder`; nothing when that cannot be told."""
    found = next(filter(None, map(git_folders, (folder, *folder.parents))), None)
    if found is None:
        return ""
    text = _line(found.own / "HEAD")
    for _ in range(_LINKS):
        if _COMMIT.fullmatch(text):
            return text
        link = _REF.fullmatch(text)
        if link is None or ".." in link[1].split("/"):
            return ""
        text = _line(found.own / link[1]) or _line(found.common / link[1]) or _packed(found.common, link[1])
    return ""


def read_or_nothing(path: Path, limit: int, *, follow: bool = False) -> bytes:
    """The bytes of a regular file; nothing for anything else, and for one of more than `limit` bytes."""
    try:
        return read_regular(path, limit, follow=follow)
    except (OSError, ValueError):
        return b""


def _packed(common: Path, name: str) -> str:
    suffix = b" " + os.fsencode(name)
    for line in read_or_nothing(common / "packed-refs", _LARGEST_REFS).split(b"\n"):
        if line.endswith(suffix) and line[: -len(suffix)].isalnum():
            return line[: -len(suffix)].decode("ascii", "replace")
    return ""


def _line(path: Path) -> str:
    return os.fsdecode(read_or_nothing(path, 4096)).rstrip("\r\n")


def careful(environment: Mapping[str, str]) -> dict[str, str]:
    """These variables, and a setting for the git of commands: a repository that lies in the workspace as plain files
    is used only when it is named (`--git-dir`). A clone can bring one, with settings that name programs."""
    count = environment.get("GIT_CONFIG_COUNT", "0")
    at = int(count) if count.isascii() and count.isdecimal() and len(count) < 5 else 0
    known = [environment.get(f"GIT_CONFIG_KEY_{number}", "").lower() for number in range(at)]
    if "safe.barerepository" in known:
        return dict(environment)
    added = {f"GIT_CONFIG_KEY_{at}": "safe.bareRepository", f"GIT_CONFIG_VALUE_{at}": "explicit"}
    return {**environment, **added, "GIT_CONFIG_COUNT": str(at + 1)}
