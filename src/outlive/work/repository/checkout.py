"""A checkout: its target branch, its remote, and the lock that all its worktrees share."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from filelock import FileLock, Timeout

from outlive.errors import ConfigError
from outlive.work.repository.git import SECONDS, Git, GitError, refuse_old_git

MAKING = "outlive is making it"
"""The lock of a worktree that is not complete yet."""
_NAMED = ("user.name", "user.email")


class Checkout:
    """Its methods block and may be called from any thread."""

    def __init__(self, project: Path, *, branch: str = "", remote: str | None = None) -> None:
        """`branch` is where work lands, by default the current one. `remote` comes from git's settings by default;
        an empty string means none. Raises ConfigError if tasks cannot be worked on here."""
        refuse_old_git()
        self.project = project
        self.git = Git(project)
        if not self.git.ok("rev-parse", "--git-dir"):
            raise ConfigError(
                f"{project} is no git repository: each task is worked on in a worktree of its own",
                hint="make it one, with a first commit",
                code="no_repository",
            )
        self.common = Path(self.git("rev-parse", "--path-format=absolute", "--git-common-dir"))
        self.branch = branch or self.git.attempt("symbolic-ref", "--short", "-q", "HEAD")[1]
        if not self.branch:
            raise ConfigError(f"{project} has no branch checked out", hint="say which branch work lands on")
        self.remote = self._remote() if remote is None else remote
        if self.remote and self.remote not in self.git("remote").split():
            raise ConfigError(f"{project} has no remote {self.remote!r}", hint="empty means none")
        if not self.remote:
            self._local_tip()

    @property
    def target(self) -> str:
        return f"refs/heads/{self.branch}"

    @cached_property
    def identity(self) -> dict[str, str]:
        """Environment variables of a commit: author and committer from git's settings, else outlive."""
        name, address = (self.git.attempt("config", key)[1] for key in _NAMED)
        name, address = name or "outlive", address or "outlive@localhost"
        return {
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": address,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": address,
        }

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock for changes to what all worktrees share: refs and the list of worktrees. Raises GitError."""
        try:
            with FileLock(self.common / "outlive.lock", timeout=SECONDS):
                yield
        except Timeout:
            raise GitError(f"{self.common}: another worker has held its lock for {SECONDS:g} s") from None

    def tip(self) -> str:
        """The newest commit of the target branch, at the remote if there is one. Raises GitUnreachable."""
        if not self.remote:
            return self._local_tip()
        mine = f"refs/remotes/{self.remote}/{self.branch}"
        with self.alone():
            self.clear()
            found = self.git("ls-remote", self.remote, self.target).split()
            if not found:
                return self._local_tip()
            if self.git.attempt("rev-parse", "-q", "--verify", mine)[1] != found[0]:
                self.git("fetch", "--quiet", "--no-tags", self.remote, f"+{self.target}:{mine}")
        return self.git("rev-parse", mine)

    def clear(self) -> None:
        """Remove worktrees whose making was cut off: git fetches nothing while one is without a commit. Only while
        `alone`."""
        for lock in self.common.glob("worktrees/*/locked"):
            with suppress(OSError):
                if lock.read_text().strip() != MAKING:
                    continue
                pointer = lock.parent / (lock.parent / "gitdir").read_text().strip()
                if pointer.is_file() and pointer.read_text().strip() == f"gitdir: {lock.parent}":
                    shutil.rmtree(pointer.parent)
            shutil.rmtree(lock.parent, ignore_errors=True)

    def own_folder(self, place: Path) -> Path | None:
        """The git directory of the worktree at `place`; None if it does not belong to this checkout.

        Looked up from the checkout, because an agent can write the `.git` file of its worktree.
        """
        if place.resolve() == self.project.resolve():
            return Path(self.git("rev-parse", "--path-format=absolute", "--git-dir"))
        for named in self.common.glob("worktrees/*/gitdir"):
            with suppress(OSError):
                if (named.parent / named.read_text().strip()).parent.resolve() == place.resolve():
                    return named.parent
        return None

    def _local_tip(self) -> str:
        commit = self.git.attempt("rev-parse", "-q", "--verify", f"{self.target}^{{commit}}")[1]
        if not commit:
            raise ConfigError(f"{self.project}: branch {self.branch} has no commit yet", hint="make a first one")
        return commit

    def _remote(self) -> str:
        """The remote of the target branch, else the only one there is."""
        if found := self.git.attempt("config", f"branch.{self.branch}.remote")[1]:
            return "" if found == "." else found
        known = self.git("remote").split()
        return known[0] if len(known) == 1 else "origin" if "origin" in known else ""
