"""The socket of a workspace: where it is, how its one server is started, and how requests are sent to it.

The folder of the socket is the user's own (0700), the socket 0600. A lock that the kernel releases with its process
says which server is alive, so a socket without one is a leftover of a killed server and is removed by the next.
"""

import fcntl
import hashlib
import json
import os
import socket
import stat
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from outlive import __version__
from outlive.config import Workspace, home
from outlive.errors import OutliveError
from outlive.private import make_private

MAX_PATH_BYTES = 100
"""Bytes of the path of a socket; the system takes about 107."""
START = 20.0
"""Seconds that a server may take to start."""
PATIENCE = 30.0
"""Seconds for an answer."""
NO_SERVER = "no_server"
"""The code of errors: there is no server, and none could be started."""


def socket_path(workspace: Workspace) -> Path:
    """The socket of a workspace: in the user's own folder, or in a private one in /tmp if that path is too long."""
    name = hashlib.sha256(f"{workspace.root}\0{workspace.store_url}".encode()).hexdigest()[:16] + ".sock"
    path = home() / "run" / name
    return path if len(os.fsencode(path)) <= MAX_PATH_BYTES else _short_folder() / name


def _short_folder() -> Path:
    return Path(tempfile.gettempdir()) / f"outlive-{os.getuid()}"


def private_folder(folder: Path) -> None:
    """Make the folder of the socket, or check that it is ours alone. Raises OutliveError (`no_server`)."""
    with suppress(FileExistsError):
        make_private(folder)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise OutliveError(f"{folder}: is not a folder of yours, so no socket is put there", code=NO_SERVER)
    folder.chmod(0o700)


def lock(path: Path) -> int | None:
    """Take the lock of a socket; None while another process has it. It lasts as long as its descriptor."""
    while True:
        descriptor = os.open(lock_path(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        with suppress(FileNotFoundError):
            if os.stat(lock_path(path)).st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        os.close(descriptor)  # a server that ended has just removed it


def lock_path(path: Path) -> Path:
    return path.with_suffix(".lock")


def ask(path: Path, request: dict[str, Any], *, seconds: float = PATIENCE) -> dict[str, Any]:
    """Send one request and return the answer. Raises OSError if no server answers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        connection.connect(str(path))
        connection.sendall(json.dumps(request).encode() + b"\n")
        with connection.makefile("rb") as lines:
            line = lines.readline()
    if not line.endswith(b"\n"):
        raise ConnectionResetError("the server ended before it answered")
    answer: dict[str, Any] = json.loads(line)
    return answer


def ensure(workspace: Workspace) -> Path:
    """Start a server of this version unless one runs; returns its socket. Raises OutliveError (`no_server`)."""
    path = socket_path(workspace)
    if (version := running(path)) == __version__:
        return path
    if version:
        end(path)
    private_folder(path.parent)
    until = time.monotonic() + START
    with tempfile.TemporaryFile() as errors:
        started = _spawn(workspace, errors.fileno())
        while not running(path):
            ended, code = os.waitpid(started, os.WNOHANG) if started else (0, 0)
            if code:
                errors.seek(0)
                said = errors.read().decode(errors="replace").strip()
                raise OutliveError(f"the server for {workspace.root} did not start: {said}", code=NO_SERVER)
            started = 0 if ended else started  # another process was faster, and answers soon
            if time.monotonic() > until:
                raise OutliveError(
                    f"the server for {workspace.root} did not answer in {START:.0f} seconds", code=NO_SERVER
                )
            time.sleep(0.02)
    return path


def _spawn(workspace: Workspace, errors: int) -> int:
    """Start a server that outlives this process and its terminal; returns its process."""
    nothing = os.open(os.devnull, os.O_RDWR)
    streams = enumerate((nothing, nothing, errors))
    try:
        return os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "outlive", "-C", str(workspace.root), "serve"],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, given, number) for number, given in streams],
            setpgroup=0,
        )
    finally:
        os.close(nothing)


def running(path: Path) -> str:
    """The version of the server at this socket; empty if there is none."""
    try:
        return str(ask(path, {"do": "ping"}).get("version", ""))
    except (OSError, ValueError):
        return ""


def end(path: Path) -> bool:
    """Ask a server to end and wait until it has; returns whether there was one."""
    try:
        ask(path, {"do": "end"})
    except (OSError, ValueError):
        return False
    until = time.monotonic() + START
    while time.monotonic() < until and path.exists():
        time.sleep(0.02)
    return True
