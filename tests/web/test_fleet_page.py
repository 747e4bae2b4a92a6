"""The page of the fleet in a real browser: what workers do, questions for a person, and what control may do."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from outlive.stores import Stores, open_stores
from outlive.stores.tasks.records import Task
from outlive.tasks.graph import TaskGraph
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import PERSON, WorkerRecord
from tests.engines import Engine
from tests.web.axe import assert_accessible
from tests.web.server import WebServer

QUESTION = "Drop the column <b>old</b>, or keep it?"


@pytest.fixture
def stores(files: Engine) -> Iterator[Stores]:
    with open_stores(files.url) as stores:
        yield stores


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebServer]:
    server = WebServer(tmp_path, "--control")
    yield server
    server.stop()


def claimed(stores: Stores, subject: str) -> Task:
    """A task that the worker `build-7` has begun to work on."""
    graph, board = TaskGraph(stores.tasks), FleetBoard(stores.fleet)
    task = graph.claim(graph.create(subject).id, owner="build-7", ttl=timedelta(minutes=5))
    board.begin(task, worker="build-7", machine="ada/boot")
    return task


def asking(stores: Stores, subject: str) -> Task:
    """A task whose agent has asked a person."""
    task = claimed(stores, subject)
    assert task.lease is not None
    token = task.lease.token
    FleetBoard(stores.fleet).end(task.id, token, "asks", QUESTION, counts=False, phase="waiting", question=QUESTION)
    return TaskGraph(stores.tasks).hold(task.id, owner=PERSON, token=token)


def enroll(stores: Stores) -> None:
    board = FleetBoard(stores.fleet)
    record = WorkerRecord(
        machine="ada/boot", pid=1, slots=2, started=board.now(), expires=board.now() + timedelta(hours=1)
    )
    board.change(WorkerRecord, "build-7", lambda _old, _now: record, announce=True)


def visit(page: Any, server: WebServer) -> None:
    page.goto(server.url)
    page.get_by_role("link", name="Fleet").click()
    page.get_by_role("heading", name="Fleet", exact=True).wait_for()


def test_without_workers_it_says_how_to_start_one(page: Any, server: WebServer) -> None:
    visit(page, server)
    page.get_by_text("outlive work --slots 2").wait_for()
    assert_accessible(page)


def test_a_question_is_answered_and_the_task_is_ready_again(page: Any, server: WebServer, stores: Stores) -> None:
    task = asking(stores, "Rename the column")
    visit(page, server)
    page.get_by_text(QUESTION).wait_for()  # as text, and not as markup
    assert_accessible(page)
    page.get_by_role("textbox", name=f"Answer to task {task.id}").fill("Keep it.")
    page.get_by_role("button", name="Answer").click()
    page.get_by_text("1 task ready").wait_for()
    assert FleetBoard(stores.fleet).run(task.id).answer == "Keep it."
    assert TaskGraph(stores.tasks).get(task.id).ready


def test_work_of_other_processes_appears_and_can_be_cancelled(page: Any, server: WebServer, stores: Stores) -> None:
    enroll(stores)
    visit(page, server)
    page.get_by_role("region", name="Workers").get_by_text("0 of 2 slots").wait_for()
    task = claimed(stores, "Write the parser")
    row = page.get_by_role("region", name="In work")
    row.get_by_text("Write the parser").wait_for()
    row.get_by_role("timer").wait_for()
    row.get_by_role("button", name="Cancel …").click()
    row.get_by_role("button", name=f"Cancel task {task.id}").click()
    row.wait_for(state="detached")
    assert TaskGraph(stores.tasks).get(task.id).status == "cancelled"


def test_a_long_name_fits_a_phone(new_page: Callable[..., Any], server: WebServer, stores: Stores) -> None:
    page = new_page(390, 844)
    claimed(stores, "a_name_without_any_space_" * 4)
    visit(page, server)
    page.get_by_role("region", name="In work").get_by_text("a_name_without_any_space_").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert_accessible(page)


def test_a_worker_is_drained(page: Any, server: WebServer, stores: Stores) -> None:
    enroll(stores)
    visit(page, server)
    page.get_by_role("button", name="Drain").click()
    page.get_by_text("draining").wait_for()
    record = FleetBoard(stores.fleet).get(WorkerRecord, "build-7")
    assert record is not None
    assert record.drain_by is not None


def test_without_control_it_only_shows(page: Any, tmp_path: Path, stores: Stores) -> None:
    asking(stores, "Rename the column")
    enroll(stores)
    server = WebServer(tmp_path)
    try:
        visit(page, server)
        page.get_by_text("outlive fleet answer 1 TEXT").wait_for()
        expect(page.get_by_role("button", name="Drain")).to_have_count(0)
        for path in ("tasks/1/answer", "workers/build-7/drain"):
            assert server.post(f"/api/w/{server.workspace}/fleet/{path}", {}).status_code == 403
    finally:
        server.stop()
