"""Pictures of the main pages for the documents, of a played demo: `python -m tests.web.screenshots [FOLDER]`.

With a folder, every page goes there, too: at 1280 and 390 pixels, light and dark.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.engines import ROOT, worker_environment
from tests.web.conftest import QUIET
from tests.web.server import PATH_OF_BROWSER, WebServer

DOCS = ROOT / "docs"


def played() -> Path:
    """The folder of a demo that was played. Commands in its log call Python by its name, not by where it is here."""
    arguments = [sys.executable, "-m", "outlive", "demo", "--keep"]
    done = subprocess.run(arguments, env=worker_environment(), capture_output=True, text=True, check=True)
    found = re.search(r"look around: cd (\S+)", done.stdout)
    assert found, done.stdout
    folder = Path(found[1])
    for log in (folder / ".transcripts").glob("*.jsonl"):
        log.write_text(log.read_text().replace(sys.executable, "python").replace(os.path.realpath(folder), "project"))
    return folder


def take(page: Any, path: str, name: str, wait_for: str, folder: Path = DOCS) -> None:
    page.goto(path)
    page.get_by_text(wait_for).first.wait_for()
    page.wait_for_timeout(2000)  # streams stay open, so the network never becomes idle
    page.screenshot(path=folder / name)


def take_all(page: Any, server: WebServer, session: str, prefix: str, folder: Path) -> None:
    """Every main page, to be looked at."""
    base = f"{server.origin}/w/{server.workspace}"
    pages = {
        "list": (f"{base}/sessions", "The ledger reads every notation"),
        "session": (session, "Window over time"),
        "tasks": (f"{base}/tasks", "Tasks"),
        "fleet": (f"{base}/fleet", "Fleet"),
        "memory": (f"{base}/memory", "Memory"),
        "replay": (f"{base}/replay", "Drop a transcript here"),
        "talk": (f"{base}/talk", "New session"),
        "learn": (f"{server.origin}/learn/survival", "Compression survival"),
    }
    for name, (address, text) in pages.items():
        take(page, address, f"{prefix}-{name}.png", text, folder)


def main(others: Path | None) -> None:
    """Pictures of the documents; with `others` every page there, too, at two widths, dark and light."""
    folder = played()
    server = WebServer(folder, "--control", home=folder.parent / "home")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=PATH_OF_BROWSER, args=list(QUIET))
            page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
            page.goto(server.url)
            page.get_by_text("The ledger reads every notation").first.click()
            page.get_by_text("Window over time").wait_for()
            here = page.url
            take(page, here, "web-session.png", "Window over time")
            take(page, f"{server.origin}/w/{server.workspace}/tasks", "web-tasks.png", "Critical path")
            take(page, f"{server.origin}/learn/survival", "web-learn.png", "Compression survival")
            for width in (1280, 390) if others is not None else ():
                for scheme in ("light", "dark"):
                    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
                    page.goto(server.url)
                    page.get_by_text("The ledger reads every notation").first.wait_for()
                    take_all(page, server, here, f"{width}-{scheme}", others or DOCS)
            browser.close()
    finally:
        server.stop()
        shutil.rmtree(folder.parent)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
