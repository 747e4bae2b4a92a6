"""Pictures of the main pages for the documents, of a demo that was played: `python -m tests.web.screenshots`."""

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


def take(page: Any, path: str, name: str, wait_for: str) -> None:
    page.goto(path)
    page.get_by_text(wait_for).first.wait_for()
    page.wait_for_timeout(2000)  # streams stay open, so the network never becomes idle
    page.screenshot(path=DOCS / name)


def main() -> None:
    folder = played()
    server = WebServer(folder, home=folder.parent / "home")
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
            browser.close()
    finally:
        server.stop()
        shutil.rmtree(folder.parent)


if __name__ == "__main__":
    main()
