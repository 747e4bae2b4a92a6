"""The checkout whose tasks are worked on: where work begins, where it lands, and which worktrees there are."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from outlive.errors import ConfigError
from outlive.private import make_private
from outlive.work.repository.git import SECONDS, Git, GitError, refuse_old_git
from outlive.work.repository.worktree import Worktree, kept_ref

_NAMED = ("user.name", "user.email")


class WorktreeState(NamedTuple):
    """A worktree in the folder of worktrees."""

    path: Path
    busy: bool
    """Whether a worker of this machine has it open."""
    head: str
    changed: int
    """Files that differ from HEAD."""


class Repository:
    """One checkout with its remote. Its methods block and may be called from any thread."""

    def __init__(self, project: Path, *, branch: str = "", remote: str | None = None) -> None:
        """`branch` is where work lands, by default the branch that is checked out; `remote` is found in git's
        settings, and empty for none. Raises ConfigError if work is impossible here."""
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
        """The environment of a commit: the user's name where git knows it."""
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
        """Keep other workers of this machine from changing what all worktrees share. Raises GitError."""
        try:
            with FileLock(self.common / "outlive.lock", timeout=SECONDS):
                yield
        except Timeout:
            raise GitError(f"{self.common}: another worker has held its lock for {SECONDS:g} s") from None

    def tip(self) -> str:
        """The newest commit of the target branch, where it is shared. Raises GitUnreachable."""
        if not self.remote:
            return self._local_tip()
        mine = f"refs/remotes/{self.remote}/{self.branch}"
        with self.alone():
            found = self.git("ls-remote", self.remote, self.target).split()
            if not found:
                return self._local_tip()
            if self.git.attempt("rev-parse", "-q", "--verify", mine)[1] != found[0]:
                self.git("fetch", "--quiet", "--no-tags", self.remote, f"+{self.target}:{mine}")
        return self.git("rev-parse", mine)

    def landed(self, commit: str) -> bool:
        """Whether a commit is on the target branch."""
        return self._has(commit) and self.git.ok("merge-base", "--is-ancestor", commit, self.tip())

    def open_worktree(self, place: Path, session: str, *, base: str, wip: str, bundle: bytes | None) -> Worktree:
        """The worktree of a session, with the files as they were stored last: by the remote, by this checkout, or in
        `bundle`. One that is at `place` already is used as it is.

        Raises FileExistsError if another process of this machine has it open.
        """
        make_private(place.parent)
        tree = Worktree(self, place, session)
        tree.occupy()
        try:
            if self._is_ours(place):
                return tree
            stored = self._stored(session, wip, bundle)
            with self.alone():
                self.git("worktree", "add", "--quiet", "--force", "--detach", str(place), stored or base)
            if stored:
                tree.git("reset", "--quiet", "--mixed", f"{stored}^")
            return tree
        except BaseException:
            tree.leave()
            raise

    def worktrees(self, folder: Path) -> list[WorktreeState]:
        """The worktrees in this folder."""
        found = []
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.is_dir() and self._is_ours(path):
                git = Git(path)
                changed = git("status", "--porcelain", "--no-renames").splitlines()
                busy = Worktree(self, path, "").is_occupied()
                found.append(WorktreeState(path, busy, git("rev-parse", "HEAD"), len(changed)))
        return found

    def discard(self, place: Path, session: str) -> bool:
        """Remove a worktree of this checkout if everything in it is stored and no process has it open."""
        tree = Worktree(self, place, session)
        if not self._is_ours(place) or tree.is_occupied() or not tree.is_stored():
            return False
        tree.remove_folder()
        return True

    def _stored(self, session: str, wip: str, bundle: bytes | None) -> str:
        """The commit with the work in progress of a session; empty if there is none."""
        ref = kept_ref(session)
        if self.remote:
            if self.git("ls-remote", self.remote, ref):
                with self.alone():
                    self.git("fetch", "--quiet", "--no-tags", self.remote, f"+{ref}:{ref}")
                return self.git("rev-parse", ref)
        elif not self._has(wip) and bundle is not None:
            path = self.common / f"outlive-{session}.bundle"
            path.write_bytes(bundle)
            try:
                self.git("fetch", "--quiet", "--no-tags", str(path), f"+{ref}:{ref}")
            finally:
                path.unlink()
        if wip and not self._has(wip):
            raise GitError(f"the work in progress {wip} of session {session} is neither here nor at a remote")
        return wip

    def _has(self, commit: str) -> bool:
        return bool(commit) and self.git.ok("cat-file", "-e", f"{commit}^{{commit}}")

    def _is_ours(self, place: Path) -> bool:
        if not (place / ".git").is_file():
            return False
        return Git(place).attempt("rev-parse", "--path-format=absolute", "--git-common-dir")[1] == str(self.common)

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
