"""Tasks in a real browser: graph, board, table, history, one task; alone and while other processes work."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph
from tests.engines import Engine, worker_environment
from tests.web.axe import assert_accessible
from tests.web.server import WebServer

MANY = 2_000
VIEWS = ("graph", "board", "table", "history")
WATCH_PLACES = """
window.places = new Set();
const look = () => {
  const moved = document.querySelector(".graph > g");
  if (moved) places.add(moved.getAttribute("transform"));
  requestAnimationFrame(look);
};
look();
"""


@pytest.fixture
def graph(files: Engine) -> TaskGraph:
    return files.graph()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebServer]:
    """With control."""
    server = WebServer(tmp_path, "--control")
    yield server
    server.stop()


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[WebServer]:
    """Without control."""
    server = WebServer(tmp_path)
    yield server
    server.stop()


def plan(graph: TaskGraph) -> None:
    """1 → 2 → 3 → 5 and 2 → 4 → 5; 1 is done."""
    graph.create("Write the tokenizer", labels=["core"])
    graph.create("Write the parser", labels=["core"], blocked_by=[1], description="Recursive descent.")
    graph.create("Test the parser", labels=["tests"], blocked_by=[2], priority=0)
    graph.create("Write the guide", labels=["docs"], blocked_by=[2])
    graph.create("Release", blocked_by=[3, 4])
    graph.complete(1, result="merged")


def visit(page: Any, server: WebServer, query: str = "") -> None:
    """Open the page of tasks, signed in."""
    page.goto(server.url)
    page.get_by_role("link", name="Tasks").click()
    page.get_by_role("heading", name="Tasks", exact=True).wait_for()
    if query:
        page.goto(f"{server.origin}/w/{server.workspace}/tasks?{query}")


def elsewhere(server: WebServer, *arguments: str) -> None:
    """Do something with tasks in another process, on the command line."""
    environment = worker_environment() | {"OUTLIVE_HOME": str(server.home)}
    command = [sys.executable, "-m", "outlive", "task", *arguments]
    subprocess.run(command, cwd=server.folder, env=environment, check=True, capture_output=True)


def box(page: Any, task: int) -> Any:
    """A task of the graph."""
    return page.locator(f'.scene [data-task="{task}"]')


def place(page: Any) -> str:
    """Where the camera is."""
    return str(page.locator(".graph > g").get_attribute("transform"))


# -- the graph


def test_the_graph_marks_the_critical_path_and_tells_what_a_task_holds_up(
    page: Any, server: WebServer, graph: TaskGraph
) -> None:
    plan(graph)
    visit(page, server)
    box(page, 2).hover()
    status = page.get_by_role("status").filter(has_text="2 Write the parser")
    status.get_by_text("Completing it makes 2 tasks ready; 3 open tasks wait for it").wait_for()
    expect(page.locator(".lit .becomes-ready")).to_have_count(2)
    expect(page.locator(".lit [data-task]")).to_have_count(4)
    expect(box(page, 2)).to_have_class(re.compile("critical"))
    expect(box(page, 1)).not_to_have_class(re.compile("critical"))
    page.get_by_text("Critical path, the longest chain of open tasks: 2 → 3 → 5").wait_for()


def test_a_click_opens_a_task_and_the_back_button_closes_it(page: Any, server: WebServer, graph: TaskGraph) -> None:
    plan(graph)
    visit(page, server)
    box(page, 2).click()
    panel = page.get_by_role("complementary", name="Task 2")
    panel.get_by_text("Recursive descent.").wait_for()
    panel.get_by_role("link", name="Test the parser").click()
    page.get_by_role("complementary", name="Task 3").wait_for()
    page.go_back()
    page.get_by_role("complementary", name="Task 2").wait_for()
    page.go_back()
    page.get_by_role("complementary").wait_for(state="detached")


def test_the_graph_is_moved_by_drag_wheel_and_keys(page: Any, server: WebServer, graph: TaskGraph) -> None:
    plan(graph)
    page.add_init_script(WATCH_PLACES)
    visit(page, server)
    box(page, 1).wait_for()
    seen = [place(page)]
    assert page.evaluate("[...places]") == seen  # it fits from the first frame on

    def moved() -> None:
        page.wait_for_function(
            "before => document.querySelector('.graph > g').getAttribute('transform') !== before", arg=seen[-1]
        )
        seen.append(place(page))

    canvas = page.get_by_role("application", name="Task graph")
    canvas.focus()
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "+", "-", "+"):
        page.keyboard.press(key)
        moved()
    page.keyboard.press("0")
    moved()
    assert seen[-1] == seen[0]
    corner = canvas.bounding_box()
    page.mouse.move(corner["x"] + 20, corner["y"] + corner["height"] - 20)
    page.mouse.wheel(0, -300)
    moved()
    page.mouse.down()
    page.mouse.move(corner["x"] + 160, corner["y"] + corner["height"] - 60)
    page.mouse.up()
    moved()
    page.get_by_role("button", name="Fit").click()
    moved()
    assert seen[-1] == seen[0]
    expect(page.get_by_role("complementary")).to_have_count(0)  # a drag opens nothing


def test_the_graph_works_from_the_keyboard(page: Any, server: WebServer, graph: TaskGraph) -> None:
    plan(graph)
    visit(page, server)
    page.get_by_role("application", name="Task graph").focus()
    page.keyboard.press("n")
    page.get_by_role("status").filter(has_text="1 Write the tokenizer: completed").wait_for()
    page.keyboard.press("n")
    page.get_by_role("status").filter(has_text="2 Write the parser: ready").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("complementary", name="Task 2").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("complementary").wait_for(state="detached")
    page.wait_for_function("document.activeElement.getAttribute('aria-label') === 'Task graph'")


def test_finding_in_the_graph_lights_what_was_meant(page: Any, server: WebServer, graph: TaskGraph) -> None:
    plan(graph)
    visit(page, server)
    page.get_by_role("searchbox", name="Find in the graph").fill("parser")
    page.get_by_role("status").filter(has_text="2 tasks with “parser”").wait_for()
    expect(page.locator(".lit [data-task]")).to_have_count(2)


# -- changes by others


def test_what_other_processes_do_appears_and_the_selection_stays(
    page: Any, server: WebServer, graph: TaskGraph
) -> None:
    plan(graph)
    visit(page, server)
    box(page, 3).click()
    panel = page.get_by_role("complementary", name="Task 3")
    panel.locator(".badge").first.filter(has_text="blocked").wait_for()
    elsewhere(server, "claim", "2", "--owner", "worker-7")
    page.locator('.scene [data-task="2"].in_progress').wait_for()
    elsewhere(server, "complete", "2")
    panel.locator(".badge").first.filter(has_text="ready").wait_for()
    elsewhere(server, "create", "Made elsewhere", "--blocked-by", "5")
    box(page, 6).wait_for()
    expect(panel).to_be_visible()
    page.get_by_role("tab", name="Board").click()
    page.get_by_role("region", name="Blocked").get_by_text("Made elsewhere").wait_for()
    page.get_by_role("tab", name="Table").click()
    page.get_by_role("listitem").filter(has_text="Made elsewhere").wait_for()
    elsewhere(server, "cancel", "6")
    page.get_by_role("listitem").filter(has_text="Made elsewhere").get_by_text("cancelled").wait_for()
    page.get_by_role("tab", name="History").click()
    page.get_by_role("list", name="Changes").first.get_by_text("cancel").first.wait_for()
    expect(panel).to_be_visible()


def test_lease_clocks_count_down_until_the_lease_runs_out(page: Any, server: WebServer, graph: TaskGraph) -> None:
    graph.create("Quick")
    graph.create("Slow")
    graph.claim(1, owner="sprinter", ttl=timedelta(seconds=8))
    graph.claim(2, owner="walker", ttl=timedelta(minutes=50))
    visit(page, server, "view=board")
    slow = page.get_by_role("link", name=re.compile("walker")).get_by_role("timer")
    first = slow.inner_text()
    assert re.fullmatch(r"lease \d\d:\d\d", first)
    page.get_by_text("lease ran out").wait_for()
    expect(slow).not_to_have_text(first)


# -- board, table, history


def test_the_table_is_sorted_filtered_and_walked_with_arrow_keys(
    page: Any, server: WebServer, graph: TaskGraph
) -> None:
    plan(graph)
    visit(page, server, "view=table")
    rows = page.get_by_role("list", name="Tasks").get_by_role("link")
    rows.first.filter(has_text="Test the parser").wait_for()  # the most urgent
    page.get_by_role("button", name=re.compile("^Task")).click()
    rows.first.filter(has_text="Write the tokenizer").wait_for()
    page.get_by_role("button", name=re.compile("^Task")).click()
    rows.first.filter(has_text="Release").wait_for()
    page.get_by_label("Filter by label").select_option("core")
    page.get_by_text("2 tasks match").wait_for()
    page.get_by_label("Filter by state").select_option("ready")
    page.get_by_text("1 task match").wait_for()
    page.reload()  # the address says it all
    page.get_by_text("1 task match").wait_for()
    page.get_by_role("button", name="Clear").click()
    page.get_by_text("5 tasks", exact=True).wait_for()
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("complementary", name="Task 4").wait_for()
    page.get_by_role("searchbox").fill("nothing like it")
    page.get_by_text("No task matches").wait_for()


def test_two_thousand_tasks_open_and_only_a_part_is_in_the_document(
    page: Any, server: WebServer, graph: TaskGraph
) -> None:
    drafts = [
        TaskDraft(subject=f"Job {number}", key=str(number), blocked_by=(f"{number - 10}",) if number >= 10 else ())
        for number in range(MANY)
    ]
    graph.create_many(drafts)
    visit(page, server, "view=table&sort=id")
    page.get_by_text(f"{MANY:,} tasks").wait_for()
    assert page.locator(".task-table a").count() < 120
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.task-table a')].some(row => / Job (9|10)\\d\\d/.test(row.innerText))"
    )
    assert page.locator(".task-table a").count() < 200
    page.get_by_role("tab", name="Graph").click()
    page.locator(".scene [data-task]").first.wait_for(state="attached")
    page.get_by_text(f"{MANY - 10:,} blocked").wait_for()
    page.get_by_role("searchbox").fill("Job 1777")
    page.get_by_role("status").filter(has_text="1 task with").wait_for()
    page.locator('.lit [data-task="1778"] text').first.wait_for()  # shown, and large enough to be read


def test_an_empty_store_says_what_tasks_are_for(page: Any, server: WebServer) -> None:
    visit(page, server)
    page.get_by_text("No tasks here yet").wait_for()
    assert_accessible(page)


# -- control


def test_a_task_is_made_claimed_and_completed(page: Any, server: WebServer, graph: TaskGraph) -> None:
    visit(page, server)
    page.get_by_role("button", name="New task").click()
    dialog = page.get_by_role("dialog", name="New task")
    dialog.get_by_label("Subject").fill("Write the parser")
    dialog.get_by_label("Description").fill("Recursive descent.")
    dialog.get_by_label("Labels").fill("core, parser")
    dialog.get_by_role("button", name="Create").click()
    panel = page.get_by_role("complementary", name="Task 1")
    panel.get_by_text("Recursive descent.").wait_for()
    assert graph.get(1).labels == ("core", "parser")
    graph.create("Test it", blocked_by=[1])
    panel.get_by_role("link", name="Test it").wait_for()

    panel.get_by_role("button", name="Claim …").click()
    panel.get_by_label("Owner").fill("ann")
    panel.get_by_role("button", name="Claim", exact=True).click()
    panel.get_by_text("Held by ann").wait_for()
    panel.get_by_role("button", name="Release").click()
    panel.get_by_text("Released.").wait_for()
    panel.get_by_role("button", name="Complete …").click()
    panel.get_by_label("Result").fill("it works")
    panel.get_by_role("button", name="Complete", exact=True).click()
    panel.get_by_role("status").get_by_role("link", name="2 Test it").wait_for()
    assert graph.get(1).result == "it works"
    panel.get_by_role("button", name="Reopen").click()
    panel.get_by_role("button", name="Cancel …").click()
    panel.get_by_role("button", name="Cancel the task").click()
    panel.get_by_text("Cancelled.").wait_for()
    assert graph.get(1).status == "cancelled"


def test_edits_send_only_what_was_changed(page: Any, server: WebServer, graph: TaskGraph) -> None:
    plan(graph)
    visit(page, server, "task=5")
    page.get_by_role("button", name="Edit …").click()
    dialog = page.get_by_role("dialog", name="Edit task 5")
    dialog.get_by_label("Subject").fill("Release 1.0")
    dialog.get_by_label("Waits for these tasks").fill("3")
    graph.update(5, description="written meanwhile")
    dialog.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="Release 1.0").wait_for()
    task = graph.get(5)
    assert task.depends_on == (3,)
    assert task.description == "written meanwhile"


def test_refusals_are_shown_in_the_words_of_the_graph(page: Any, server: WebServer, graph: TaskGraph) -> None:
    plan(graph)
    visit(page, server, "task=2")
    page.get_by_role("button", name="Edit …").click()
    dialog = page.get_by_role("dialog", name="Edit task 2")
    dialog.get_by_label("Waits for these tasks").fill("1, 5")
    dialog.get_by_role("button", name="Save").click()
    alert = dialog.get_by_role("alert")
    alert.get_by_text("that closes the cycle 2 -> 5 -> 3 -> 2").wait_for()
    alert.get_by_text("remove one of these edges first").wait_for()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    expect(page.get_by_role("complementary", name="Task 2")).to_be_visible()
    page.get_by_role("complementary").get_by_role("link", name="Test the parser").click()
    panel = page.get_by_role("complementary", name="Task 3")
    panel.get_by_role("button", name="Complete …").click()
    panel.get_by_role("button", name="Complete", exact=True).click()
    panel.get_by_role("alert").get_by_text("blocked by 2").wait_for()
    assert not graph.get(3).finished
    panel.get_by_role("button", name="Complete it anyway").click()
    panel.get_by_text("Completed.").wait_for()
    assert graph.get(3).finished
    page.expected_errors.clear()  # the browser logs each refusal


def test_without_control_it_says_so_and_offers_nothing(page: Any, reading: WebServer, graph: TaskGraph) -> None:
    plan(graph)
    visit(page, reading, "task=2")
    page.get_by_text("Read only. Start with").wait_for()
    panel = page.get_by_role("complementary", name="Task 2")
    panel.get_by_text("Recursive descent.").wait_for()
    expect(panel.get_by_role("button", name=re.compile("Claim|Complete|Edit|Cancel"))).to_have_count(0)
    expect(page.get_by_role("button", name="New task")).to_have_count(0)


# -- for everybody


def test_hostile_texts_are_only_texts(page: Any, server: WebServer, graph: TaskGraph, files: Engine) -> None:
    attack = "<img src=x onerror=document.title='taken'>"
    graph.create("Honest", labels=["a"], blocked_by=[])
    graph.create(attack, labels=[attack[:40]], blocked_by=[1], description=attack * 3, owner=attack[:30])
    file = files.path / "task_1.json"
    turned = {"subject": "\u202e" + attack + "\u0007", "labels": [attack], "metadata": {attack: attack}}
    file.write_text(json.dumps(json.loads(file.read_text()) | turned))
    for view in VIEWS:
        visit(page, server, f"view={view}&task=2")
        page.get_by_role("complementary").get_by_text(attack).first.wait_for()
        expect(page.locator("main img")).to_have_count(0)
    visit(page, server, "task=1")
    page.get_by_role("heading", name="\ufffd" + attack + "␇").wait_for()
    assert page.title() != "taken"


def test_every_view_is_accessible(page: Any, server: WebServer, graph: TaskGraph) -> None:
    plan(graph)
    graph.claim(2, owner="worker", ttl=timedelta(hours=2))
    graph.create("Cancelled")
    graph.cancel(6, reason="no")
    shown = {
        "graph": ".scene [data-task]",
        "board": ".task-card",
        "table": "a.task-row",
        "history": ".task-change ins",
    }
    for view, content in shown.items():
        visit(page, server, f"view={view}&task=2")
        page.locator(content).first.wait_for()
        page.get_by_role("complementary").get_by_text("Held by worker").wait_for()
        assert_accessible(page)
    page.get_by_role("button", name="Edit …").click()
    page.get_by_role("button", name="Save").wait_for()
    assert_accessible(page)


def test_it_works_on_a_narrow_screen(page: Any, server: WebServer, graph: TaskGraph) -> None:
    plan(graph)
    page.set_viewport_size({"width": 390, "height": 800})
    for view in VIEWS:
        visit(page, server, f"view={view}")
        page.locator(".scene [data-task], .task-card, a.task-row, .task-change ins").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        assert_accessible(page)
    visit(page, server, "view=table")
    page.get_by_role("link", name=re.compile("Write the parser")).click()
    dialog = page.get_by_role("dialog", name="Task 2")
    dialog.get_by_text("Recursive descent.").wait_for()
    assert_accessible(page)
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    page.go_back()
    dialog.wait_for()
