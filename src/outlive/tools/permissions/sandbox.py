"""Commands in an OS sandbox (bubblewrap): the workspace is writable, the rest read-only, the network off.

If none is available, starting a command fails with the reason; nothing runs without it. `sandbox_protection` has
the protected paths inside the workspace, `seccomp` the refused system calls.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path

from outlive.config import home
from outlive.errors import OutliveError
from outlive.regular import real_path
from outlive.tools.permissions import seccomp
from outlive.tools.permissions.sandbox_protection import Protection, Unprotectable
from outlive.tools.processes.programs import find_program

INNER_ID = 1000
"""User and group inside the sandbox if we are root outside."""


class SandboxUnavailable(OutliveError):
    """A sandbox was requested and is not available."""


@dataclass(slots=True)
class Launch:
    """How to start one command: arguments, inherited descriptors, and clean-up after it."""

    argv: list[str]
    descriptors: tuple[int, ...] = ()
    clear_up: Callable[[], None] | None = None

    def started(self) -> None:
        """Close our descriptors, once the process was started or failed to start."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()

    def ended(self) -> None:
        """Clean up, once the process has ended."""
        if self.clear_up is not None:
            self.clear_up()
            self.clear_up = None


class Sandbox:
    """Starts commands. `protected` are paths that stay read-only inside writable folders."""

    def __init__(
        self,
        root: Path,
        extra: Iterable[Path] = (),
        on: bool = False,
        network: bool = False,
        *,
        protected: Iterable[Path] = (),
    ) -> None:
        self.root = root.resolve()
        self.extra = tuple(real_path(path) for path in extra)
        self.on = on
        self.network = network
        own = Path(os.path.realpath(sys.prefix))  # outlive's own code runs outside the sandbox
        self.protected = (*(path.absolute() for path in protected), own)
        self._running: set[object] = set()

    def add(self, folder: Path) -> None:
        """Let commands write in another folder, because the user said so."""
        self.extra = (*self.extra, folder.resolve())

    def problem(self) -> str:
        """Why no sandbox is available, or nothing. Tried for real, once a process."""
        program = find_program("bwrap", self._writable)
        if program is None:
            return "bubblewrap is not installed (the program bwrap; on Debian: apt install bubblewrap)"
        return _problem(program)

    def launch(self, command: str) -> Launch:
        """How to run a shell command, inside the sandbox when it is on. Raises SandboxUnavailable."""
        if not self.on:
            return Launch([shell(), "-c", command])
        if why := self.problem():
            raise SandboxUnavailable(
                f"no sandbox: {why}. Nothing was run; only the user can let commands run without it"
            )
        lock = _lock_file(self.root)
        with _locked(lock, fcntl.LOCK_SH) as held:
            try:
                protection = Protection(self._writable, self.protected)
                walls = protection.walls()
            except (Unprotectable, OSError) as error:
                raise SandboxUnavailable(f"no sandbox: {error}. Nothing was run") from None
            filter_fd, held_fd = descriptors = (_filter(), os.dup(held))
        if self.network:
            walls = ["--share-net", "--ro-bind-try", _RESOLVER, _RESOLVER, *walls]
        program = find_program("bwrap", self._writable) or "bwrap"
        argv = [*_start(program), *_base(), *walls, "--tmpfs", str(lock.parent), "--chdir", str(self.root)]
        argv += ["--seccomp", str(filter_fd), "--sync-fd", str(held_fd), "--"]
        argv += [*passing_shell(), "-c", _NO_INPUT, shell(), command]
        running = object()
        self._running.add(running)
        return Launch(argv, descriptors, partial(self._clear_up, running, lock, protection))

    def _clear_up(self, running: object, lock: Path, protection: Protection) -> None:
        """Remove placeholders unless another sandbox in this workspace uses them; the last one removes them."""
        self._running.discard(running)
        until = time.monotonic() + _KILL_WAIT_SECONDS
        while not self._running:
            with suppress(OSError), _locked(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
                protection.remove_placeholders()
                return
            if time.monotonic() > until:
                return  # a sandbox of another process
            time.sleep(0.005)

    @property
    def _writable(self) -> tuple[Path, ...]:
        return (self.root, *self.extra)


_KILL_WAIT_SECONDS = 0.5
"""Seconds for the kernel to end the processes of a sandbox after bubblewrap itself has ended."""
_RESOLVER = "/run/systemd/resolve"
_NO_INPUT = 'exec "$0" -c "$1" </dev/null'
"""The command's empty input is the sandbox's own /dev/null, not the machine's."""


def shell() -> str:
    """The path of bash if there is one, since models write bash; else /bin/sh."""
    return "/bin/bash" if Path("/bin/bash").exists() else shutil.which("bash") or "/bin/sh"


def passing_shell() -> list[str]:
    """A shell that runs no start-up file: without `-p` bash runs the file in BASH_ENV."""
    program = shell()
    return [program, "-p"] if program.endswith("bash") else [program]


_SYSTEM = "/usr/sbin:/usr/bin:/sbin:/bin"
_READ_ONLY_DEVICES = f"""
m() {{ PATH={_SYSTEM} mount "$@"; }}
for d in null zero full random urandom tty; do
  m --bind /dev/$d /dev/$d && m -o remount,bind,ro /dev/$d || exit 1
done
exec "$@"
"""


def _start(bubblewrap: str) -> list[str]:
    """Bubblewrap; for root, inside a first namespace with devices mounted read-only. They still work, but root owns
    them and could otherwise change their modes for the whole machine. Bubblewrap has no option for that."""
    if os.getuid() != 0:
        return [bubblewrap]
    unshare = shutil.which("unshare", path=_SYSTEM) or "unshare"
    first = [unshare, "--user", "--map-root-user", "--mount", "--propagation", "private"]
    return [*first, "/bin/sh", "-c", _READ_ONLY_DEVICES, "sh", bubblewrap]


def _base() -> list[str]:
    """Options of every sandbox. The user inside is never root, which some programs and files treat specially."""
    user, group = os.getuid() or INNER_ID, os.getgid() or INNER_ID
    argv = ["--unshare-all", "--unshare-user", "--uid", str(user), "--gid", str(group)]
    argv += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    argv += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in _writable_of_proc():
        argv += ["--ro-bind", path, path]
    # /proc/1 exposes files of the process that started the sandbox
    argv += ["--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]
    for own in ("/tmp", "/var/tmp", "/run"):  # noqa: S108 - its own; /run holds sockets of services
        argv += ["--tmpfs", own]
    return argv


def _writable_of_proc() -> list[str]:
    """Writable entries of /proc about the machine: /proc/sys checks the user id outside, so root in any namespace may
    write there without a capability."""
    with os.scandir("/proc") as entries:
        general = [entry for entry in entries if not entry.name.isdigit() and not entry.is_symlink()]
        return sorted(entry.path for entry in general if entry.is_dir() or entry.stat().st_mode & 0o222)


def _filter() -> int:
    """A descriptor from which bubblewrap reads the seccomp program."""
    code = seccomp.program(os.uname().machine)
    assert code is not None  # noqa: S101 - `problem` has checked it
    descriptor = os.memfd_create("outlive-seccomp")
    os.write(descriptor, code)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _lock_file(root: Path) -> Path:
    """The lock that every running sandbox of a workspace holds; commands inside cannot see it."""
    folder = home() / "sandboxes"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / sha256(os.fsencode(root)).hexdigest()[:32]


@contextmanager
def _locked(path: Path, how: int) -> Iterator[int]:
    """Hold a lock on a file; yields its descriptor, which can be passed on."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, how)
        yield descriptor
    finally:
        os.close(descriptor)


@cache
def _problem(program: str) -> str:
    machine = os.uname().machine
    if seccomp.program(machine) is None:
        return f"there is no list of system calls for this machine ({machine}); x86_64 and aarch64 have one"
    descriptor = _filter()
    argv = [*_start(program), *_base(), "--seccomp", str(descriptor), "--", "/bin/sh", "-c", "exit 0"]
    try:
        tried = subprocess.run(  # noqa: S603 - our own arguments
            argv, capture_output=True, text=True, timeout=20, check=False, pass_fds=[descriptor]
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be started ({error})"
    finally:
        os.close(descriptor)
    if tried.returncode:
        errors = tried.stderr.strip().splitlines()
        reason = errors[-1] if errors else tried
        return f"bubblewrap does not work here, perhaps user namespaces are forbidden ({reason})"
    return ""
