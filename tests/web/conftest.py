"""Fixtures for tests in a real Chromium. Without one they are skipped, and the summary of the run says so."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.web.server import PATH_OF_BROWSER

QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)
"""As root Chromium has no sandbox of its own; the rest keeps it from asking for anything but our page."""

SERVER_GONE = "net::ERR_"
"""In what the browser logs when the server of a test ends before its page."""
PATIENCE = 60_000
"""Milliseconds, for a busy machine."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Of a module, because Playwright keeps an event loop running until it is stopped."""
    if not PATH_OF_BROWSER:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PATH_OF_BROWSER, args=list(QUIET), timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture
def new_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Makes pages, each of a browser of its own: `new_page(390, 844)`. The test fails if one logs an error."""
    made = []

    def make(width: int = 1280, height: int = 800) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        errors: list[str] = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.expected_errors = errors
        """A test that provokes an error empties this list."""
        made.append(page)
        return page

    yield make
    for page in made:
        page.context.close()
    assert not [text for page in made for text in page.expected_errors if SERVER_GONE not in text]


@pytest.fixture
def page(new_page: Callable[..., Any]) -> Any:
    """A fresh page of 1280 × 800."""
    return new_page()
