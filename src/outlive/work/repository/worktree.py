"""The worktree of a session: work in progress is stored as a commit under `refs/outlive/SESSION`, and lands as one
commit on top of the target branch.

A process that takes a session over writes that ref first. Each later write names the value that it replaces, so a
process that has lost the session can neither store nor land anything.
"""

import re
import shutil
from functools import cached_property
from pathlib import Path

from filelock import FileLock, Timeout

from outlive.stores.locations import MEMORY, OUTPUTS, TRANSCRIPTS
from outlive.work.repository.checkout import Checkout
from outlive.work.repository.git import Fenced, Git, GitError, InTheWay, Moved, git_error

_NOT_OURS_TO_COMMIT = tuple(f":(exclude,top){name}" for name in (".tasks", TRANSCRIPTS, MEMORY, OUTPUTS))
_REMOVING = ".removing-"
_LEFT = "refs/outlive/left"
"""Where commits are kept that have not landed, by the name of the worktree that is gone."""
_NOTHING = "0" * 40
_REFUSED_LEASE = ("stale info", "cannot lock ref")
_MOVED = ("non-fast-forward", "fetch first", "Not possible to fast-forward", "transaction failed", "failed to update")
_MARKER = re.compile(rb"^<<<<<<< [0-9a-f]{40}", re.MULTILINE)
_MAX_CONFLICT_BYTES = 4 * 2**20  # larger files are not looked through for conflict markers


def sweep(folder: Path) -> None:
    """Remove what is left of worktrees whose removal was cut off."""
    for path in folder.glob(f"{_REMOVING}*"):
        shutil.rmtree(path, ignore_errors=True)


def kept_ref(session: str) -> str:
    """The ref that holds the work in progress of a session."""
    return f"refs/outlive/{session}"


class Worktree:
    """A worktree and the stored state of its session. Its methods block."""

    def __init__(self, repository: Checkout, path: Path, session: str) -> None:
        self.repository = repository
        self.path = path
        self._ref = kept_ref(session)
        self._lock = FileLock(path.with_name(f"{path.name}.lock"), blocking=False, thread_local=False)
        self._stored = ""
        """The commit under the ref, as this process wrote it last."""
        self._tree = ""
        self._tip = ""

    @cached_property
    def git(self) -> Git:
        return Git(self.path, self._own)

    @cached_property
    def _own(self) -> Path:
        if (own := self.repository.own_folder(self.path)) is None:
            raise GitError(f"{self.path} is no worktree of {self.repository.project}")
        return own

    # -- who has it open on this machine

    def occupy(self) -> None:
        """Keep other processes of this machine out until `leave`. Raises FileExistsError."""
        try:
            self._lock.acquire()
        except Timeout:
            raise FileExistsError(f"{self.path} is open in another process") from None

    def leave(self) -> None:
        self._lock.release()

    def is_occupied(self) -> bool:
        try:
            self.occupy()
        except FileExistsError:
            return True
        self.leave()
        return False

    # -- work in progress

    def take_over(self, label: str) -> str:
        """Store everything as it is now; a process that had the session before can no longer store anything."""
        if remote := self.repository.remote:
            self._stored = self.git("ls-remote", remote, self._ref).partition("\t")[0]
        else:
            self._stored = self.git.attempt("rev-parse", "-q", "--verify", self._ref)[1]
        return self._store(label)

    def snapshot(self, label: str) -> str | None:
        """Store everything as it is now; None if nothing has changed. Raises Fenced, and GitUnreachable."""
        if self._tree == self._worktree_tree():
            return None
        return self._store(label)

    def bundle(self) -> bytes:
        """The stored state with its history, as bytes for a checkout that shares no remote with this one."""
        return self.git.raw("bundle", "create", "--quiet", "-", self._ref)

    # -- landing

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    @property
    def tree(self) -> str:
        """The files of HEAD, as the id of their tree."""
        return self.git("rev-parse", "HEAD^{tree}")

    def commit(self, message: str) -> None:
        """Commit everything that has changed."""
        self.git("add", "--all", "--", ":/", *_NOT_OURS_TO_COMMIT)
        if not self.git.ok("diff", "--no-ext-diff", "--cached", "--quiet"):
            self.git("commit", "--quiet", "-m", message, env=self.repository.identity)

    def unresolved(self) -> list[str]:
        """Files with conflict markers, among those that differ from the target branch."""
        names = self.git("diff", "--no-ext-diff", "--name-only", "-z", "--diff-filter=d", "HEAD").split("\0")
        return [name for name in names if name and self._has_marker(self.path / name)]

    def rebase(self, message: str) -> list[str]:
        """Make what was committed here one commit on top of the target branch.

        Returns the files with conflicts, if there are any: then the worktree is the newest target branch, with the
        changes merged in and conflict markers, uncommitted.
        """
        tip, head = self.repository.tip(), self.head
        self._tip = tip
        if tip == head:
            return []
        code, output, said = self.git.attempt("merge-tree", "--write-tree", "--name-only", tip, head)
        if code > 1 or not output:
            raise GitError(f"git merge-tree: {said or output}")
        tree, *rest = output.split("\n")
        names = rest[: rest.index("")] if "" in rest else rest
        if code:
            self.git("checkout", "--quiet", "--detach", tip)
            self.git("read-tree", "-m", "-u", tip, tree)
            self.git("reset", "--quiet", "--mixed", tip)
            return names
        if tree == self.git("rev-parse", f"{tip}^{{tree}}"):
            self.git("reset", "--quiet", "--hard", tip)
        elif self.git("show", "--no-patch", "--format=%P%n%B", head).strip() != f"{tip}\n{message.strip()}":
            made = self.git("commit-tree", tree, "-p", tip, "-m", message, env=self.repository.identity)
            self.git("reset", "--quiet", "--hard", made)
        return []

    @property
    def ahead(self) -> bool:
        """Whether there is something to land, after `rebase`."""
        return self.head != self._tip

    def land(self) -> None:
        """Put HEAD on the target branch, and under the ref of the session, in one step.

        Raises Moved if the branch has moved on, Fenced, GitUnreachable, and InTheWay.
        """
        commit, target = self.head, self.repository.target
        if self.repository.remote:
            self._push(f"{commit}:{target}", f"{commit}:{self._ref}")
            self._move_ref(commit)
            return
        with self.repository.alone():
            self._move_ref(commit)
            self._land_here(commit)

    def settle(self) -> bool:
        """Whether all of it is stored, now that commits which no branch has are kept under a ref of their own."""
        files, head = self._worktree_tree().split()
        branches = (self.repository.target, f"refs/remotes/{self.repository.remote}/{self.repository.branch}")
        known = (self._ref, *branches)
        if any(self.git.attempt("rev-parse", "-q", "--verify", f"{ref}^{{tree}}")[1] == files for ref in known):
            return True
        if files != self.tree:
            return False
        if not any(self.git.ok("merge-base", "--is-ancestor", head, ref) for ref in branches):
            self.git("update-ref", f"{_LEFT}/{self.path.name}", head)
        return True

    def remove(self) -> None:
        """Remove the worktree, whose work has landed, and the ref of its session."""
        repository = self.repository
        self.remove_folder()
        repository.git("update-ref", "-d", self._ref)
        if repository.remote and self._stored:
            lease = f"--force-with-lease={self._ref}:{self._stored}"
            repository.git("push", "--quiet", lease, repository.remote, f":{self._ref}")

    def remove_folder(self) -> None:
        """Remove the worktree. Its stored state stays. A kill on the way leaves a folder that `sweep` removes."""
        with self.repository.alone():
            half = self.path.with_name(f"{_REMOVING}{self.path.name}")
            if self.path.is_dir():
                self.path.rename(half)
            shutil.rmtree(half, ignore_errors=True)
            self.repository.git("worktree", "remove", "--force", "--force", str(self.path))
        self.leave()
        Path(self._lock.lock_file).unlink(missing_ok=True)

    # -- inside

    def _worktree_tree(self) -> str:
        """The files as they are, as a tree; the index that the agent sees is left alone."""
        index = self._own / "outlive-index"
        if not index.exists() and (self._own / "index").exists():
            shutil.copyfile(self._own / "index", index)
        env = {"GIT_INDEX_FILE": str(index)}
        self.git("add", "--all", "--", ":/", *_NOT_OURS_TO_COMMIT, env=env)
        return f"{self.git('write-tree', env=env)} {self.head}"

    def _store(self, label: str) -> str:
        files = self._worktree_tree()
        tree, head = files.split()
        commit = self.git("commit-tree", tree, "-p", head, "-m", label, env=self.repository.identity)
        if self.repository.remote:
            self._push(f"{commit}:{self._ref}")
        self._move_ref(commit)
        self._tree = files
        return commit

    def _move_ref(self, commit: str) -> None:
        """Write the ref of this checkout; where there is no remote, it is the one that counts."""
        before = [] if self.repository.remote else [self._stored or _NOTHING]
        code, _, said = self.git.attempt("update-ref", self._ref, commit, *before)
        if code:
            raise Fenced(f"somebody else has stored work of this session: {said}")
        self._stored = commit

    def _push(self, *updates: str) -> None:
        """Push to the remote if the session's ref is there as this process wrote it last."""
        names = ["--atomic", "--porcelain", f"--force-with-lease={self._ref}:{self._stored}"]
        code, output, said = self.git.attempt("push", *names, self.repository.remote, *updates)
        if not code:
            return
        rejected = [line for line in output.splitlines() if line.startswith("!")]
        mine = " ".join(line for line in rejected if self._ref in line)
        theirs = " ".join(line for line in rejected if self.repository.target in line)
        if any(sign in mine for sign in _REFUSED_LEASE):
            raise Fenced(f"another machine has stored work of this session: {mine}")
        if any(sign in theirs for sign in (*_MOVED, *_REFUSED_LEASE)):
            raise Moved(f"{self.repository.branch} has moved on: {theirs}")
        if theirs and "atomic" not in theirs:
            raise InTheWay(f"{self.repository.remote} refuses the change: {theirs}\n{said}")
        raise git_error("push", said or output)

    def _land_here(self, commit: str) -> None:
        """Move the branch of this checkout, and its files if it is checked out somewhere."""
        target, git = self.repository.target, self.repository.git
        checkouts = git("worktree", "list", "--porcelain", "-z").split("\0\0")
        place = next((entry for entry in checkouts if f"branch {target}" in entry.split("\0")), "")
        if not place:
            code, _, said = git.attempt("update-ref", target, commit, f"{commit}^")
            if code:
                raise Moved(said)
            return
        folder = Path(place.split("\0")[0].removeprefix("worktree "))
        code, output, said = Git(folder).attempt("merge", "--quiet", "--ff-only", commit)
        if code and any(sign in said for sign in _MOVED):
            raise Moved(said)
        if code:
            raise InTheWay(f"{folder}: {said or output}")

    @staticmethod
    def _has_marker(path: Path) -> bool:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_CONFLICT_BYTES:
            return False
        return _MARKER.search(path.read_bytes()) is not None
