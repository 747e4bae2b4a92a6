"""The list of sessions in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from outlive.agent import Session
from outlive.stores.logs.files import FileLogStore
from tests.talk import talk
from tests.web.server import WebServer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[WebServer]:
    server = WebServer(folder)
    yield server
    server.stop()


def test_a_session_of_another_process_appears_without_a_reload(page: Any, server: WebServer, folder: Path) -> None:
    page.goto(server.url)
    page.get_by_text("No sessions here yet").wait_for()
    expect(page).not_to_have_url(re.compile("#"))
    with Session.start(FileLogStore(folder, durability="process"), id="first") as session:
        talk(session, 3)
        row = page.get_by_role("listitem").filter(has_text="Please go through part 0")
        row.wait_for()
        row.get_by_text("working").wait_for()
    page.reload()
    page.get_by_text("can be resumed").wait_for()


def test_a_browser_without_the_token_is_told_what_to_do(page: Any, server: WebServer) -> None:
    page.goto(server.origin)
    page.get_by_text("This browser is not signed in").wait_for()
    page.expected_errors.clear()
