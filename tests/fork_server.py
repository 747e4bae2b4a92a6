"""A process that has loaded what `outlive` loads, and forks for each command.

Loading a provider's SDK takes more processor time than most end-to-end tests. Tests of how it
starts (at a terminal, or what it loads) start one in the usual way.
"""

import atexit
import gc
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NoReturn

import outlive

LIBRARIES = ("anthropic", "openai", "psycopg", "rich.console", "rich.table", "numpy")
"""Loaded late by outlive, and slowly."""


class Forked:
    """A command that runs in a fork, with what is used of the interface of `subprocess.Popen`."""

    def __init__(self, connection: socket.socket, out: int, err: int) -> None:
        self._connection = connection
        self.pid = self._number()
        self.stdout, self.stderr = (open(pipe, encoding="utf-8") for pipe in (out, err))  # noqa: SIM115
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._connection], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = self._number()
            self._connection.close()
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self) -> tuple[str, str]:
        """All that it writes, once it has ended."""
        with ThreadPoolExecutor(2) as readers, self.stdout, self.stderr:
            out, err = readers.map(lambda stream: stream.read(), (self.stdout, self.stderr))
        self.wait()
        return out, err

    def _number(self) -> int:
        return int.from_bytes(self._connection.recv(4, socket.MSG_WAITALL), "big", signed=True)


class ForkServer:
    """Runs commands of outlive in forks of a prepared process."""

    def __init__(self, folder: Path) -> None:
        self._address = str(folder / "fork-server")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fork_server", self._address],
            cwd=Path(__file__).parent.parent,  # the first test that needs it may be anywhere
        )

    def run(
        self, arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], stdin: str | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run one command to its end, as `subprocess.run` would."""
        if stdin is None:
            process = self.start(arguments, folder=folder, environment=environment)
            out, err = process.communicate()
        else:
            source, sink = os.pipe()
            process = self.start(arguments, folder=folder, environment=environment, stdin=source)
            with ThreadPoolExecutor(1) as writer:
                writer.submit(_write, sink, stdin)
                out, err = process.communicate()
        return subprocess.CompletedProcess(["outlive", *arguments], process.wait(), out, err)

    def start(
        self,
        arguments: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        stdin: int | None = None,
        terminal: int | None = None,
    ) -> Forked:
        """Start one command in a session of its own, with pipes or at a terminal. Descriptors are closed here."""
        (out, to_out), (err, to_err) = os.pipe(), os.pipe()
        if stdin is None:
            stdin = os.open(os.devnull, os.O_RDONLY)
        streams = [stdin, to_out, to_err] if terminal is None else [terminal] * 3
        connection = self._connect()
        request = json.dumps([list(arguments), str(folder), dict(environment)]).encode()
        socket.send_fds(connection, [len(request).to_bytes(8, "big")], streams)
        connection.sendall(request)
        for descriptor in {stdin, to_out, to_err, *streams}:
            os.close(descriptor)
        return Forked(connection, out, err)

    def _connect(self) -> socket.socket:
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(self._address)
            except (FileNotFoundError, ConnectionRefusedError):
                connection.close()
                assert self._process.poll() is None, "the fork server has ended"
                threading.Event().wait(0.05)
            else:
                return connection

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


@cache
def fork_server() -> ForkServer:
    """The one of this process."""
    folder = tempfile.TemporaryDirectory(prefix="outlive-fork-")
    server = ForkServer(Path(folder.name))
    atexit.register(folder.cleanup)
    atexit.register(server.close)
    return server


def _write(pipe: int, text: str) -> None:
    with suppress(BrokenPipeError), open(pipe, "w", encoding="utf-8") as feed:
        feed.write(text)


def serve(address: str) -> None:
    """Take requests for ever."""
    ours = (module.name for module in walk_packages(outlive.__path__, "outlive.") if "__main__" not in module.name)
    for name in (*LIBRARIES, *ours):
        import_module(name)
    gc.freeze()  # a collection in a child would copy every page
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen()
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            os._exit(_attend(connection))
        connection.close()
        _reap()


def _attend(connection: socket.socket) -> int:
    """Run one request in a child, and send how it ended."""
    size, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
    request = connection.makefile("rb").read(int.from_bytes(size, "big"))
    child = os.fork()
    if child == 0:
        connection.close()
        _become(json.loads(request), descriptors)
    connection.sendall(child.to_bytes(4, "big"))
    for descriptor in descriptors:
        os.close(descriptor)
    _, status = os.waitpid(child, 0)
    connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
    return 0


def _become(request: Any, descriptors: Sequence[int]) -> NoReturn:
    """Run the command line as if it had just been started; how it ends is how this process ends."""
    arguments, folder, environment = request
    os.setsid()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where the tests run under nohup
    random.seed()
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for as long as the process runs
    sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
    sys.argv = ["outlive", *arguments]
    from outlive.cli import main

    main()
    sys.exit()


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


if __name__ == "__main__":
    serve(sys.argv[1])
