"""How soon the page shows something, against the size of what it shows: `python -m bench.web`.

Logs of 100 to 10,000 events and graphs of 20 to 2,000 tasks, each in a store of its own. Bytes and time of the first
answer of the API, and in a real Chromium the time from the click on the address to the first content. Then how fast
an agent works while a hundred browsers watch it.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import sync_playwright
from tests.web.conftest import QUIET
from tests.web.made import answer, long_log, started, store_in, streamed
from tests.web.server import PATH_OF_BROWSER, WebServer

from outlive.stores import open_stores
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph

EVENTS = (100, 1_000, 10_000)
TASKS = (20, 200, 2_000)
RUNS = 5
READERS = (0, 1, 100)
STEPS = 200


@contextmanager
def served(folder: Path) -> Iterator[WebServer]:
    server = WebServer(folder)
    try:
        yield server
    finally:
        server.stop()


def asked(server: WebServer, path: str) -> tuple[int, float, float]:
    """Bytes of an answer, milliseconds of the first, and of the fastest of the next."""
    times, size = [], 0
    for _ in range(RUNS):
        began = time.perf_counter()
        size = len(server.get(path, timeout=60).content)
        times.append((time.perf_counter() - began) * 1000)
    return size, times[0], min(times[1:])


def first_content(browser: Any, server: WebServer, path: str, selector: str) -> float:
    """Milliseconds until the browser shows something of the store; the page itself is in its cache."""
    times = []
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url)
    page.get_by_role("navigation").wait_for()
    for _ in range(RUNS):
        page.goto("about:blank")
        began = time.perf_counter()
        page.goto(server.origin + path)
        page.locator(selector).first.wait_for()
        times.append((time.perf_counter() - began) * 1000)
    context.close()
    return min(times)


def sessions(browser: Any) -> None:
    print("| events | conversation, kB | first | again, ms | window, kB | first | again, ms | in the browser, ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for count in EVENTS:
        with tempfile.TemporaryDirectory() as name:
            store_in(Path(name)).replace("long", long_log(count))
            with served(Path(name)) as server:
                base = f"/api/w/{server.workspace}/sessions/long"
                row = [count, *_cells(asked(server, f"{base}/items")), *_cells(asked(server, f"{base}/window"))]
                shown = first_content(browser, server, f"/w/{server.workspace}/sessions/long", "article.item")
                print(f"| {' | '.join(map(str, [*row, round(shown)]))} |", flush=True)


def tasks(browser: Any) -> None:
    print("\n| tasks | table, kB | first | again, ms | graph, kB | first | again, ms | in the browser, ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for count in TASKS:
        with tempfile.TemporaryDirectory() as name:
            graph = TaskGraph(open_stores("files:.tasks", base=Path(name), durability="process").tasks)
            keys = [f"t{n}" for n in range(count)]
            graph.create_many(
                TaskDraft(subject=f"Task {n}", key=keys[n], blocked_by=(keys[n - 1],) if n % 10 else ())
                for n in range(count)
            )
            with served(Path(name)) as server:
                base = f"/api/w/{server.workspace}/tasks"
                row = [count, *_cells(asked(server, base)), *_cells(asked(server, f"{base}/graph"))]
                shown = first_content(browser, server, f"/w/{server.workspace}/tasks", "svg .node, svg [data-task]")
                print(f"| {' | '.join(map(str, [*row, round(shown)]))} |", flush=True)


def readers() -> None:
    """How many steps a second an agent makes while so many browsers watch its session and the list."""
    print("\n| browsers that watch | steps of the agent in a second | requests of the list, ms |")
    print("| --- | --- | --- |")
    for count in READERS:
        with tempfile.TemporaryDirectory() as name, served(Path(name)) as server:
            with (
                started(Path(name), "busy") as session,
                ThreadPoolExecutor(max(count, 1)) as threads,
                ExitStack() as open_,
            ):
                answer(session, 0, lines=5)
                for _ in range(count):
                    threads.submit(_drain, open_.enter_context(_watching(server, "busy")))
                began = time.perf_counter()
                for number in range(1, STEPS):
                    answer(session, number, lines=5)
                rate = STEPS / (time.perf_counter() - began)
                _, _, again = asked(server, f"/api/w/{server.workspace}/sessions")
                open_.close()
            print(f"| {count} | {rate:.0f} | {again:.0f} |", flush=True)


@contextmanager
def _watching(server: WebServer, session: str) -> Iterator[Any]:
    """A stream with the topics of a session's page."""
    headers = {"Authorization": f"Bearer {server.token}"}
    with httpx2.stream("GET", f"{server.origin}/api/stream", headers=headers, timeout=60) as response:
        opened = json.loads(next(streamed(response)).data)["stream"]
        topic = {"workspace": server.workspace}
        log = topic | {"kind": "log", "session": session, "after": 1}
        server.post(f"/api/stream/{opened}", {"add": {"changes": topic | {"kind": "changes"}, "log": log}})
        yield response


def _drain(response: Any) -> None:
    with suppress(Exception):  # it is closed in the middle
        for _ in response.iter_raw():
            pass


def _cells(measured: tuple[int, float, float]) -> list[int]:
    size, first, again = measured
    return [round(size / 1000), round(first), round(again)]


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PATH_OF_BROWSER, args=list(QUIET))
        sessions(browser)
        tasks(browser)
        browser.close()
    readers()


if __name__ == "__main__":
    main()
