"""The worktrees of a checkout: opened for a session, and removed when everything in them is stored."""

from pathlib import Path

from outlive.private import make_private
from outlive.work.repository.checkout import MAKING, Checkout
from outlive.work.repository.git import WorkLost
from outlive.work.repository.worktree import Worktree, kept_ref


class Repository(Checkout):
    """A checkout whose tasks are worked on. Its methods block and may be called from any thread."""

    def landed(self, commit: str) -> bool:
        """Whether a commit is on the target branch. Another machine may have made it."""
        if not commit:
            return False
        tip = self.tip()
        return self._has(commit) and self.git.ok("merge-base", "--is-ancestor", commit, tip)

    def open_worktree(self, place: Path, session: str, *, base: str, wip: str, bundle: bytes | None) -> Worktree:
        """The worktree of a session, with the files as they were stored last: by the remote, by this checkout, or in
        `bundle`. One that is at `place` already is used as it is.

        Raises FileExistsError if another process of this machine has it open.
        """
        make_private(place.parent)
        tree = Worktree(self, place, session)
        tree.occupy()
        try:
            with self.alone():
                self.clear()
                if place.is_dir() and (own := self.own_folder(place)):
                    for lock in own.glob("*.lock") if own != self.common else ():
                        lock.unlink(missing_ok=True)  # of a git that was killed: nobody else has it open
                    return tree
                stored = self._stored(session, wip, bundle)
                locked = ("--lock", "--reason", MAKING)
                self.git("worktree", "add", "--quiet", "--force", "--detach", *locked, str(place), stored or base)
                if stored:
                    tree.git("reset", "--quiet", "--mixed", f"{stored}^")
                self.git("worktree", "unlock", str(place))
            return tree
        except BaseException:
            tree.leave()
            raise

    def discard(self, place: Path, session: str) -> bool:
        """Remove a worktree of this checkout if everything in it is stored and no process has it open."""
        tree = Worktree(self, place, session)
        if place.resolve() == self.project.resolve():
            return False
        if not self.own_folder(place) or tree.is_occupied() or not tree.settle():
            return False
        tree.remove_folder()
        return True

    def _stored(self, session: str, wip: str, bundle: bytes | None) -> str:
        """The commit with the work in progress of a session; empty if there is none."""
        ref = kept_ref(session)
        if self.remote:
            if self.git("ls-remote", self.remote, ref):
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
            raise WorkLost(f"the work in progress {wip} of session {session} is neither here nor at a remote")
        return wip

    def _has(self, commit: str) -> bool:
        return bool(commit) and self.git.ok("cat-file", "-e", f"{commit}^{{commit}}")
