"""A process that has loaded what `outlive` loads, and forks for each command.

Loading a provider's SDK takes more processor time than most end-to-end tests. Tests that need a process of their own
(to kill it, or to see what it loads) start one in the usual way.
"""

import atexit
import gc
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

LOADED = (
    *("anthropic", "openai", "rich.console", "click", "numpy", "outlive.cli.app", "outlive.cli.agent.start"),
    *("outlive.agent.factory", "outlive.models.anthropic.model", "outlive.models.openai.model"),
)


class ForkServer:
    """Runs commands of outlive in forks of a prepared process."""

    def __init__(self, folder: Path) -> None:
        self._address = str(folder / "fork-server")
        self._process = subprocess.Popen([sys.executable, "-m", "tests.fork_server", self._address])

    def run(
        self, arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], stdin: str | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run one command to its end, as `subprocess.run` would."""
        ours, theirs = zip(*(os.pipe() for _ in range(2)), strict=True)
        source, sink = (os.open(os.devnull, os.O_RDONLY), -1) if stdin is None else os.pipe()
        with self._connect() as connection:
            request = json.dumps([list(arguments), str(folder), dict(environment)]).encode()
            socket.send_fds(connection, [len(request).to_bytes(8, "big")], [source, *theirs])
            connection.sendall(request)
            for descriptor in (source, *theirs):
                os.close(descriptor)
            texts = ["", ""]
            readers = [threading.Thread(target=_read, args=(pipe, texts, at)) for at, pipe in enumerate(ours)]
            for reader in readers:
                reader.start()
            if stdin is not None:
                with suppress(BrokenPipeError), open(sink, "w", encoding="utf-8") as feed:
                    feed.write(stdin)
            for reader in readers:
                reader.join()
            code = int.from_bytes(connection.recv(4), "big", signed=True)
        return subprocess.CompletedProcess(["outlive", *arguments], code, *texts)

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


def _read(pipe: int, texts: list[str], at: int) -> None:
    with open(pipe, encoding="utf-8") as stream:
        texts[at] = stream.read()


def serve(address: str) -> None:
    """Take requests for ever."""
    for name in LOADED:
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
    for descriptor in descriptors:
        os.close(descriptor)
    _, status = os.waitpid(child, 0)
    connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
    return 0


def _become(request: Any, descriptors: Sequence[int]) -> NoReturn:
    """Run the command line as if it had just been started; how it ends is how this process ends."""
    arguments, folder, environment = request
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
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
