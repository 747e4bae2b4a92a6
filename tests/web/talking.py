"""Talking to an agent over HTTP: a server with control, a simulated model, and the stream of what happens."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import httpx2

from outlive.testing import Simulator
from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step
from tests.web.server import WebServer

MODEL = "anthropic:claude-sonnet-5-5"


def environment(sim: Simulator) -> dict[str, str]:
    return {**sim.env(), "MODEL_ID": MODEL}


@contextmanager
def serving(folder: Path, sim: Simulator, *options: str, **more: Any) -> Iterator[WebServer]:
    """A server whose agents talk to the simulator."""
    server = WebServer(folder, *(options or ("--control",)), environment=environment(sim), **more)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


class Held:
    """A brain that gives its steps in order, each only when it is let go."""

    def __init__(self, *steps: Step) -> None:
        self._steps = iter(steps)
        self._turn = threading.Semaphore(0)
        self.asked = threading.Semaphore(0)
        """Released whenever the model is asked."""

    def __call__(self, request: SeenRequest) -> Step:
        self.asked.release()
        self._turn.acquire()
        return next(self._steps)

    def let_go(self, times: int = 1) -> None:
        self._turn.release(times)


class Talk:
    """One session, as a program that has the token drives it."""

    def __init__(self, server: WebServer, session: str) -> None:
        self.server = server
        self.session = session
        self.base = f"/api/w/{server.workspace}/sessions/{session}/talk"

    @classmethod
    def start(cls, server: WebServer, text: str, **more: str) -> "Talk":
        answer = server.post(f"/api/w/{server.workspace}/talk", {"text": text, **more}, timeout=60)
        assert answer.status_code == 200, answer.text
        return cls(server, answer.json()["session"])

    def post(self, path: str, **body: object) -> httpx2.Response:
        return self.server.post(f"{self.base}/{path}", body, timeout=60)

    def ok(self, path: str, **body: object) -> Any:
        answer = self.post(path, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, path: str, **body: object) -> dict[str, str]:
        answer = self.post(path, **body)
        assert answer.status_code in (400, 403, 404, 409), answer.text
        error: dict[str, str] = answer.json()["error"]
        return error

    def happenings(self) -> Iterator[tuple[str, Any]]:
        """Every event of the stream with its data, from now on; the first is the snapshot."""
        headers = {"Authorization": f"Bearer {self.server.token}"}
        with httpx2.stream("GET", self.server.origin + self.base, headers=headers, timeout=60) as response:
            assert response.status_code == 200
            name = ""
            for line in response.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield name, json.loads(value)

    def until(self, reached: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """The first state that fits. Fails after a minute, in which the stream says only that it lives."""
        silent, state = 0, None
        for name, data in self.happenings():
            silent = silent + 1 if name == "alive" else 0
            state = data if name == "state" else data["state"] if name == "snapshot" else state
            if state is not None and reached(state):
                return cast(dict[str, Any], state)
            if silent > 3:
                break
        raise AssertionError(f"it never came to that; at last: {state}")

    def question(self) -> dict[str, Any]:
        """The question that waits."""
        found: dict[str, Any] = self.until(lambda state: state.get("questions"))["questions"][0]
        return found

    def at_rest(self) -> dict[str, Any]:
        return self.until(lambda state: state["open"] and not state["working"])
