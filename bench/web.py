"""How soon the page shows something, against the size of what it shows: `python -m bench.web`.

Logs of 100 to 10,000 events and graphs of 20 to 2,000 tasks, each in a store of its own. Bytes and time of the first
answer of the API, and in a real Chromium the time from the click on the address to the first content.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from tests.web.conftest import QUIET
from tests.web.made import long_log, store_in
from tests.web.server import PATH_OF_BROWSER, WebServer

from outlive.stores import open_stores
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph

EVENTS = (100, 1_000, 10_000)
TASKS = (20, 200, 2_000)
RUNS = 5


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


def _cells(measured: tuple[int, float, float]) -> list[int]:
    size, first, again = measured
    return [round(size / 1000), round(first), round(again)]


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PATH_OF_BROWSER, args=list(QUIET))
        sessions(browser)
        tasks(browser)
        browser.close()


if __name__ == "__main__":
    main()
