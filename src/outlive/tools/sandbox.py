"""Commands in an OS sandbox (bubblewrap): the workspace is writable, the rest read-only, the network off.

It is there or it is not: where it cannot be had, starting a command stops with the reason, nothing runs without it.
"""

import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from outlive.errors import OutliveError

READ_ONLY = (
    *(".outlive", "outlive.toml", ".transcripts", ".task_outputs", ".memory"),
    *(".git/hooks", ".git/config"),
)
"""Of a writable folder: what would widen the next session's rights, and what would run outside of the sandbox later.
The harness writes its own files from outside."""


class SandboxUnavailable(OutliveError):
    """A sandbox was asked for and cannot be had."""


class Sandbox:
    """How a command is started."""

    def __init__(
        self,
        root: Path,
        extra: Iterable[Path] = (),
        on: bool = False,
        network: bool = False,
        *,
        keep: Iterable[Path] = (),
    ) -> None:
        self.root = root.resolve()
        self.extra = tuple(path.resolve() for path in extra)
        self.on = on
        self.network = network
        self.keep = tuple(path.resolve() for path in keep)
        """More that stays read-only: the user's own settings, should they lie inside of the workspace."""

    def problem(self) -> str:
        """Why there can be no sandbox here, or nothing. Tried for real, once a process."""
        return _problem()

    def argv(self, command: str) -> list[str]:
        """The arguments that run a shell command, inside the sandbox when it is on."""
        plain = [shell(), "-c", command]
        if not self.on:
            return plain
        if why := self.problem():
            raise SandboxUnavailable(
                f"no sandbox: {why}. Nothing was run; without --sandbox commands run unprotected"
            )
        return [*self._walls(), "--", *plain]

    def _walls(self) -> list[str]:
        walls = list(_BASE)
        if self.network:
            walls += ["--share-net", "--ro-bind-try", _RESOLVER, _RESOLVER]
        for folder in (self.root, *self.extra):
            walls += ["--bind", str(folder), str(folder)]
        for folder in (self.root, *self.extra):
            walls += _kept(folder)
        for path in self.keep:
            walls += ["--ro-bind-try", str(path), str(path)]
        return [*walls, "--chdir", str(self.root)]


def _kept(folder: Path) -> list[str]:
    """What stays read-only of a writable folder.

    `.git` is mounted onto itself, or it could be renamed away with all that is kept inside. Hooks are git's to run
    later, outside of the sandbox: where the folder is missing it is made, so that it can be kept empty.
    """
    walls: list[str] = []
    git = folder / ".git"
    if git.is_file():
        walls += ["--ro-bind", str(git), str(git)]
    elif git.is_dir() and not git.is_symlink():
        (git / "hooks").mkdir(exist_ok=True)
        walls += ["--bind", str(git), str(git)]
    kept = [path.resolve() for path in (folder / name for name in READ_ONLY) if path.exists()]
    return walls + [word for path in kept for word in ("--ro-bind", str(path), str(path))]


_RESOLVER = "/run/systemd/resolve"
_BASE = (
    *("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),  # noqa: S108 - its own
    *("--tmpfs", "/var/tmp", "--tmpfs", "/run"),  # noqa: S108 - /run holds sockets of services
    *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
)


def shell() -> str:
    """bash where it is: models write bash."""
    return "/bin/bash" if Path("/bin/bash").exists() else shutil.which("bash") or "/bin/sh"


@cache
def _problem() -> str:
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (the program bwrap; on Debian: apt install bubblewrap)"
    try:
        tried = subprocess.run(  # noqa: S603 - a constant
            [*_BASE, "--", "/bin/sh", "-c", "exit 0"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be started ({error})"
    if tried.returncode:
        said = tried.stderr.strip().splitlines()
        return f"bubblewrap does not work here, perhaps user namespaces are forbidden ({said[-1] if said else tried})"
    return ""
