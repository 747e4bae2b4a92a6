"""What a clone, or a program in the folder, can plant under the name of a file that the harness keeps."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

GUARD = 120
"""Seconds after which a test is ended that would otherwise hang the suite. No claim rests on it."""
PRECIOUS = "precious\n"


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def link(path: Path) -> None:
    """To a file of the user that nobody may read or write through it."""
    victim(path).write_text(PRECIOUS)
    path.symlink_to(victim(path))


def circle(path: Path) -> None:
    """A link to itself."""
    path.symlink_to(path.name)


def folder(path: Path) -> None:
    path.mkdir()
    (path / "file").touch()


def unix_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(path.name)
    finally:
        os.chdir(here)


def huge(path: Path) -> None:
    """Two GiB of nothing, which take no room."""
    with path.open("wb") as file:
        file.truncate(2 * 2**30)


def nested(path: Path) -> None:
    """JSON with more levels than any reader takes."""
    path.write_text('{"a": ' + "[" * 10_000 + "]" * 10_000 + "}\n")


PLANTS: tuple[Callable[[Path], None], ...] = (fifo, endless, link, circle, folder, unix_socket, huge)


def victim(path: Path) -> Path:
    return Path(os.environ["OUTLIVE_HOME"]) / f"victim-of-{path.name.strip('.')}"


def plant(kind: Callable[[Path], None], path: Path) -> None:
    """Put it in the place of whatever is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    kind(path)


def untouched(path: Path) -> bool:
    """Whether nothing was written through a link."""
    return not victim(path).exists() or victim(path).read_text() == PRECIOUS


@contextmanager
def ends() -> Iterator[None]:
    """End what hangs."""

    def stop(number: int, frame: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(GUARD)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
