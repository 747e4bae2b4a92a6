"""Replays in a real browser."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.web import recordings
from tests.web.axe import assert_accessible
from tests.web.server import WebServer


@pytest.fixture
def server(page: Any, tmp_path: Path) -> Iterator[WebServer]:
    server = WebServer(tmp_path)
    yield server
    page.goto("about:blank")
    server.stop()


def dropped(page: Any, server: WebServer, data: bytes) -> None:
    page.goto(server.url)
    page.get_by_role("link", name="Replay").click()
    page.get_by_label("Transcript", exact=True).set_input_files(
        {"name": "session.jsonl", "mimeType": "application/jsonl", "buffer": data}
    )


def test_a_dropped_transcript_shows_policies_passes_and_misses_and_a_smaller_window_more_passes(
    page: Any, server: WebServer
) -> None:
    dropped(page, server, recordings.claude_code())
    page.get_by_text("Go through the modules.").wait_for()
    page.get_by_text("Played", exact=True).wait_for()
    page.get_by_text("Everything fits this window").wait_for()
    names = [one.bounding_box() for one in page.locator(".cost-chart .name").all()]
    assert len(names) == 5  # all at one point
    assert min(abs(one["y"] - other["y"]) for one, other in combinations(names, 2)) > 10
    slider = page.get_by_label("Window in tokens")
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_role("region", name="Passes").get_by_text("Before message").first.wait_for()
    page.get_by_role("region", name="Recorded cache misses").get_by_text("misses paid for").wait_for()
    page.get_by_role("region", name="Policies side by side").get_by_role("button", name="lean").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Requests under policy lean").wait_for()
    assert_accessible(page)


def test_a_file_that_is_no_transcript_is_refused_with_words(page: Any, server: WebServer) -> None:
    dropped(page, server, b"hello\n")
    page.get_by_role("alert").get_by_text("no format that is known").wait_for()
    page.expected_errors.clear()
    page.get_by_role("button", name="Choose a file").wait_for()
