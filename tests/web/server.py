"""A real `outlive web` process for tests."""

import json
import shutil
import signal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tests.engines import worker_environment
from tests.fork_server import fork_server

TIMEOUT = 60
"""Seconds that an answer may take on a busy machine."""


class WebServer:
    """Runs in a folder until it is stopped. `home` is the user's folder of outlive."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        home: Path | None = None,
        port: int = 0,
        command: str = "web",
        environment: dict[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.home = home or folder / ".home"
        self.process = fork_server().start(
            [command, "--no-open", "--json", "--port", str(port), *options],
            folder=folder,
            environment=worker_environment() | {"OUTLIVE_HOME": str(self.home)} | (environment or {}),
        )
        line = self.process.stdout.readline()
        assert line, self._errors()
        self.url: str = json.loads(line)["url"]
        """With the token in its fragment, as a person opens it."""
        parts = urlsplit(self.url)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.token = parts.fragment.removeprefix("token=")
        self.port = parts.port or 0

    def get(self, path: str, **options: Any) -> httpx2.Response:
        """Ask as a program that has the token."""
        headers = {"Authorization": f"Bearer {self.token}"} | options.pop("headers", {})
        return httpx2.get(self.origin + path, headers=headers, **{"timeout": TIMEOUT} | options)

    def post(self, path: str, body: object = None, **options: Any) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}"} | options.pop("headers", {})
        return httpx2.post(self.origin + path, json=body or {}, headers=headers, **{"timeout": TIMEOUT} | options)

    def json(self, path: str) -> Any:
        response = self.get(path)
        assert response.status_code == 200, response.text
        return response.json()

    def sessions(self, query: str = "") -> Any:
        """The list of sessions, asked for until it has every summary: the server reads many logs in several steps."""
        while (found := self.json(f"/api/w/{self.workspace}/sessions{query}"))["incomplete"]:
            pass
        return found

    @property
    def workspace(self) -> str:
        """The id of the first workspace."""
        return str(self.json("/api/about")["workspaces"][0]["id"])

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self._reap()

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """End it, as Ctrl-C does unless another signal is named; its exit code."""
        self.process.send_signal(number)
        return self._reap()

    def _reap(self) -> int:
        code = self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()
        return code

    def _errors(self) -> str:
        return self.process.stderr.read()


def get(url: str, **options: Any) -> httpx2.Response:
    """Ask as a stranger."""
    return httpx2.get(url, timeout=TIMEOUT, **options)


def closed(server: WebServer) -> bool:
    """Whether its port answers no more."""
    try:
        get(server.origin)
    except httpx2.TransportError:
        return True
    return False


BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
PATH_OF_BROWSER = next((path for name in BROWSERS if (path := shutil.which(name, path="/usr/bin"))), "")
