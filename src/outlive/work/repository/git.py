"""Runs git. Hooks, file system monitors, external diff programs and lazy fetches of the repository never run.

GitError
├── GitUnreachable  the remote does not answer
├── Fenced          another machine has the session now
├── Moved           the target branch has moved on
├── WorkLost        the work in progress of a session is neither here nor at a remote
└── InTheWay        a change cannot land here before a person has looked
"""

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from outlive.errors import ConfigError, OutliveError
from outlive.printable import clean
from outlive.tools.processes.programs import find_program

SECONDS = 300.0
"""How long one git command may take."""
MAX_ERROR_CHARS = 2_000  # hooks of a repository may print anything
_SAFE = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.quotePath": "false",
    "commit.gpgSign": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "advice.detachedHead": "false",
}
_MINIMUM = (2, 38)
_UNREACHABLE = (
    *("Could not resolve host", "unable to access", "Could not read from remote", "Connection refused"),
    *("Connection timed out", "early EOF", "the remote end hung up", "Connection reset", "No route to host"),
)
"""What git says of a remote that does not answer: it has one exit code for everything."""


class GitError(OutliveError):
    """A git command failed."""


class GitUnreachable(GitError):
    pass


class Fenced(GitError):
    pass


class Moved(GitError):
    pass


class WorkLost(GitError):
    pass


class InTheWay(GitError):
    pass


class Git:
    """Runs git in one folder. With `own`, that is its git folder, whatever the files there say."""

    def __init__(self, folder: Path, own: Path | None = None) -> None:
        self.folder = folder
        self._place = {"GIT_DIR": str(own), "GIT_WORK_TREE": str(folder)} if own else {}

    def __call__(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """Run a command and return its output without the last newline. Raises GitError."""
        code, output, said = self.attempt(*arguments, env=env)
        if code:
            raise git_error(arguments[0], said or output)
        return output

    def ok(self, *arguments: str) -> bool:
        """Whether a command that answers by its exit code says yes."""
        return self.attempt(*arguments)[0] == 0

    def attempt(self, *arguments: str, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
        """Run a command; returns exit code, output and what it said on stderr."""
        raw, said, code = self._run(arguments, env or {}, b"")
        return code, os.fsdecode(raw).rstrip("\n"), said

    def raw(self, *arguments: str, given: bytes = b"") -> bytes:
        """Run a command and return the bytes of its output. Raises GitError."""
        raw, said, code = self._run(arguments, {}, given)
        if code:
            raise git_error(arguments[0], said)
        return raw

    def _run(self, arguments: tuple[str, ...], env: Mapping[str, str], given: bytes) -> tuple[bytes, str, int]:
        settings = [part for name, value in _SAFE.items() for part in ("-c", f"{name}={value}")]
        program = find_program("git", [self.folder.resolve()])
        if program is None:
            raise ConfigError("git is not installed, and work on tasks needs it")
        try:
            process = subprocess.Popen(  # noqa: S603 - git, with arguments and no shell
                [program, *settings, *arguments],
                cwd=self.folder,
                env={**_environment(), **self._place, **env},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise GitError(f"the folder {self.folder} is gone") from None
        with process:
            try:
                output, said = process.communicate(given, timeout=SECONDS)
            except BaseException as error:
                os.killpg(process.pid, signal.SIGKILL)
                if isinstance(error, subprocess.TimeoutExpired):
                    raise GitUnreachable(f"git {arguments[0]} took more than {SECONDS:g} s") from None
                raise
        return output, clean(said.decode(errors="replace").strip())[:MAX_ERROR_CHARS], process.returncode


def refuse_old_git() -> None:
    """Raise ConfigError unless this git can merge without a worktree."""
    words = Git(Path.cwd())("version").split()
    found = tuple(int(part) for part in words[2].split(".")[:2] if part.isdigit())
    if found < _MINIMUM:
        raise ConfigError(f"work on tasks needs git {'.'.join(map(str, _MINIMUM))} or newer, this is {words[2]}")


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}


_KEPT = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
"""How the user's git reaches remotes, and the user's own settings."""


def git_error(command: str, said: str) -> GitError:
    """The error of a command, by what git said."""
    kind = GitUnreachable if any(sign in said for sign in _UNREACHABLE) else GitError
    return kind(f"git {command}: {said}")
