"""Fixtures for tests in a real Chromium. Without one they are skipped, and the summary of the run says so."""

from collections.abc import Iterator
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Of a module, because Playwright keeps an event loop running until it is stopped."""
    if not PATH_OF_BROWSER:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PATH_OF_BROWSER, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A fresh page of 1280 × 800. The test fails if the page logs an error or asks another host for anything."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)  # for a busy machine
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.expected_errors = errors
    """A test that provokes an error empties this list."""
    yield page
    context.close()
    assert not [text for text in errors if SERVER_GONE not in text]
