"""Each lesson from its first step to its last in a real browser, as a visitor would take it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.axe import assert_accessible
from tests.web.server import WebServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    server = WebServer(tmp_path_factory.mktemp("empty"), command="learn")
    yield server
    server.stop()


@pytest.fixture
def lessons(page: Any, server: WebServer) -> Any:
    """The page that `outlive learn` opens."""
    page.goto(server.url)
    page.get_by_role("heading", name="Learn").wait_for()
    return page


def begin(page: Any, lesson: str) -> None:
    page.get_by_role("link", name=lesson).click()


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def see(page: Any, text: str) -> None:
    page.get_by_text(text).first.wait_for()


def finish_step(page: Any, after: str, following: str) -> None:
    """The step says that it is done; the next one begins, and its heading has the focus."""
    page.locator(".guide-task.done").get_by_text(after).wait_for()
    press(page, "Next")
    page.get_by_role("heading", name=following).wait_for()
    page.locator("h1:focus").wait_for()


def task(page: Any, number: int) -> Any:
    return page.get_by_role("group", name="The task graph").get_by_role("button", name=re.compile(f"^Task {number}:"))


def complete(page: Any, number: int) -> None:
    task(page, number).click()
    press(page, "Complete")
    see(page, f"Task {number} is completed.")


def file_on_disk(page: Any, number: int) -> str:
    """A task file, read past the server."""
    folder = page.locator(".task-file header [title]").get_attribute("title")
    return (Path(folder) / f"task_{number}.json").read_text()


LIT = (
    "text => [...document.querySelectorAll('.task-file mark')].map(mark => mark.textContent).join('').includes(text)"
)


def see_lit(page: Any, text: str) -> None:
    """Wait until the parts of the file that are marked as changed hold a text."""
    page.wait_for_function(LIT, arg=text)


def test_the_dependency_graph_from_start_to_end(lessons: Any) -> None:
    page = lessons
    begin(page, "Dependency graph")
    task(page, 2).click()
    page.get_by_role("heading", name="task_2.json").wait_for()
    assert page.get_by_label("Text of task_2.json").text_content() == file_on_disk(page, 2)
    finish_step(page, "This is the real file", "Complete a task")

    complete(page, 1)
    see(page, "Now ready: 2 and 3.")
    see_lit(page, '"status": "completed"')
    page.get_by_role("button", name="task_2.json, changed").click()
    page.get_by_role("heading", name="task_2.json").wait_for()
    see_lit(page, '"blockedBy": []')
    assert page.get_by_label("Text of task_2.json").text_content() == file_on_disk(page, 2)
    finish_step(page, "Something became ready", "All, not one")

    complete(page, 2)
    page.get_by_role("button", name="Task 4: Answer queries, blocked").wait_for()
    complete(page, 3)
    page.get_by_role("button", name="Task 4: Answer queries, ready").wait_for()
    finish_step(page, "only when both were finished", "What cannot be done")

    task(page, 7).click()
    press(page, "Complete")
    page.get_by_role("alert").get_by_text("cannot complete task 7: blocked by 5, 6").wait_for()
    finish_step(page, "Refused. Nothing was written", "Make a cycle")

    task(page, 1).click()
    page.get_by_label("Let it wait for").select_option(label="7 Release")
    press(page, "Add the arrow")
    page.get_by_role("alert").get_by_text(re.compile(r"closes the cycle 1 -> 7 -> .* -> 1")).wait_for()
    finish_step(page, "names the whole cycle", "Take it back")

    task(page, 2).click()
    press(page, "Reopen")
    see(page, "Task 2 is open again. Blocked again: 4 and 6.")
    page.get_by_role("button", name="Task 4: Answer queries, blocked").wait_for()
    finish_step(page, "blocked again", "A worker takes a task")

    press(page, "Start ada")
    see(page, "ada claimed task 2.")
    page.get_by_role("heading", name="task_2.json").wait_for()
    page.get_by_role("button", name="Task 2: Write the parser, in progress, held by ada").wait_for()
    process = int(page.get_by_text(re.compile(r"^process \d+$")).text_content().split()[1])
    os.kill(process, 0)
    finish_step(page, "ada holds a task", "Kill the worker")

    press(page, "Kill ada")
    see(page, f"Process {process} was killed.")
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    see(page, "the lease of ada ran out")
    page.get_by_role("button", name="Task 2: Write the parser, ready").wait_for()
    finish_step(page, "The lease ran out", "Another takes over")

    press(page, "Start bob")
    see(page, "bob claimed task 2.")
    press(page, "Late ada completes")
    page.get_by_role("alert").get_by_text("is stale").wait_for()
    press(page, "Let bob finish")
    see(page, "bob completed task 2")
    assert '"result": "done by bob"' in file_on_disk(page, 2)
    finish_step(page, "the token is stale", "Do it in your own project")

    see(page, "outlive task claim --owner me")
    page.get_by_role("link", name="On to lesson 2").click()
    page.get_by_role("heading", name="What a model sees").wait_for()
    page.get_by_role("link", name="All lessons").click()
    page.get_by_role("link", name="Dependency graph").get_by_text("Finished").wait_for()


def test_compression_survival_from_start_to_end(lessons: Any) -> None:
    page = lessons
    begin(page, "Compression survival")
    page.locator("summary").click()
    see(page, "Some customers are charged twice")
    finish_step(page, "that is all it knows", "Two lists")

    todo = page.get_by_role("region", name="To-do list in the conversation")
    tasks = page.get_by_role("region", name="Tasks on disk")
    facts = page.get_by_role("region", name="Where is it now?")
    todo.get_by_text("6 of 6 items are in the window.").wait_for()
    press(page, "Next")

    page.get_by_role("slider", name="Window").fill("20000")
    todo.get_by_text("Nothing of it is in the window.").wait_for()
    expect(tasks.get_by_role("listitem")).to_have_count(6)
    finish_step(page, "the to-do list has left the window", "What left can be recalled")

    facts.get_by_role("listitem").filter(has_text="The to-do list").get_by_text("left; a handle").wait_for()
    facts.get_by_role("button", name=re.compile("^Recall @h4")).click()
    recalled = page.get_by_role("dialog", name="recall @h4")
    recalled.get_by_text("RETRY_AFTER_SECONDS = 47").wait_for()
    page.keyboard.press("Escape")
    recalled.wait_for(state="detached")
    finish_step(page, "exact text, read from the log", "Press compact")

    press(page, "Compact now")
    page.get_by_text(re.compile(r"A pass \(collapse \+ auto\): [\d,]+ → [\d,]+ tokens\.")).wait_for()
    finish_step(page, "The receipt of the pass", "Restart")

    press(page, "Restart the server's session")
    see(page, "the same.")
    finish_step(page, "byte for byte", "Swap the agent")

    press(page, "Swap the agent")
    see(page, "second agent, new session")
    facts.get_by_role("listitem").filter(has_text="What you asked").get_by_text("only in the first").wait_for()
    facts.get_by_role("listitem").filter(has_text="The open tasks").get_by_text("in the window").wait_for()
    finish_step(page, "knows what is open", "Rung by rung")

    page.get_by_role("tab", name="spool").focus()
    for rung in ("snip", "micro", "collapse", "auto", "reactive"):
        page.keyboard.press("ArrowRight")
        page.get_by_role("tab", name=rung, selected=True).wait_for()
        page.get_by_text(re.compile(f"The receipt says: .*{rung}")).wait_for()
    finish_step(page, "at every rung", "Do it in your own project")
    see(page, "outlive recall @h4")
    page.get_by_role("link", name="On to the quiz").click()
    see(page, "Question 1 of 10")


def test_a_round_of_the_quiz_keeps_its_score(lessons: Any) -> None:
    page = lessons
    begin(page, "Quiz")
    right = 0
    for number in range(1, 11):
        see(page, f"Question {number} of 10")
        page.get_by_role("radio").first.check()
        press(page, "Ask the engine")
        see(page, "What the engine did:")
        page.get_by_text("right", exact=True).wait_for()
        right += page.get_by_text("Right.", exact=True).count()
        if number == 1:
            press(page, "Read the code that decided")
            page.get_by_role("dialog").get_by_text("src/outlive/").wait_for()
            page.keyboard.press("Escape")
            press(page, "Read the documentation")
            page.get_by_role("dialog").get_by_text("docs/").wait_for()
            assert page.get_by_role("dialog").locator(".markdown p, .markdown li").count()
            page.keyboard.press("Escape")
        press(page, "See the result" if number == 10 else "Next question")
    page.get_by_role("heading", name=f"{right} of 10").wait_for()
    page.get_by_role("link", name="All lessons").first.click()
    page.reload()
    page.get_by_role("link", name="Quiz").get_by_text(f"Best round: {right} of 10").wait_for()


def test_the_graph_can_be_worked_with_the_keyboard_alone(lessons: Any) -> None:
    page = lessons
    begin(page, "Dependency graph")
    task(page, 1).wait_for()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.task") == "1":
            break
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="2 Write the parser").wait_for()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press(" ")
    page.get_by_role("heading", name="1 Design the schema").wait_for()
    page.get_by_role("button", name="Complete", exact=True).press("Enter")
    see(page, "Now ready: 2 and 3.")


def test_progress_is_kept_and_a_lesson_can_be_restarted(lessons: Any) -> None:
    page = lessons
    begin(page, "Dependency graph")
    complete(page, 1)
    press(page, "Next")
    page.reload()
    page.get_by_role("heading", name="Complete a task").wait_for()
    page.get_by_role("button", name="Task 1: Design the schema, completed").wait_for()
    press(page, "Restart the lesson")
    page.get_by_role("heading", name="A plan is a graph").wait_for()
    page.get_by_role("button", name="Task 1: Design the schema, ready").wait_for()
    see(page, "Your turn")


SLOW_ANSWERS = """
const quick = fetch;
window.fetch = async (path, options) => {
  const answer = await quick(path, options);
  if (options?.method === "POST") await new Promise((resolve) => setTimeout(resolve, 3000));
  return answer;
};
"""
"""Longer than the page waits before it looks again."""


def test_what_an_action_did_is_shown_though_the_page_looks_again_meanwhile(lessons: Any) -> None:
    page = lessons
    begin(page, "Dependency graph")
    page.get_by_role("button", name=re.compile("^Step 7")).click()
    press(page, "Start ada")
    see(page, "ada claimed")
    page.evaluate(SLOW_ANSWERS)
    press(page, "Kill ada")
    see(page, "was killed.")


def test_a_lesson_goes_on_after_the_server_was_restarted(page: Any, tmp_path: Path) -> None:
    first = WebServer(tmp_path, command="learn")
    page.goto(first.url)
    begin(page, "Dependency graph")
    complete(page, 1)
    first.kill()
    second = WebServer(tmp_path, command="learn", port=first.port)
    task(page, 2).click()
    press(page, "Complete")
    see(page, "has no scratch store yet")
    page.expected_errors.clear()
    press(page, "Try again")
    page.get_by_role("button", name="Task 1: Design the schema, ready").wait_for()
    second.stop()


LESSONS = {"graph": "task_1.json", "survival": "Where is it now?", "quiz": "Question 1 of 10"}


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_lessons_are_accessible(lessons: Any, server: WebServer, lesson: str) -> None:
    page = lessons
    assert_accessible(page)
    page.goto(f"{server.origin}/learn/{lesson}")
    see(page, LESSONS[lesson])
    if lesson == "graph":
        task(page, 7).click()
        press(page, "Complete")
        page.get_by_role("alert").wait_for()
        page.get_by_role("button", name=re.compile("^Step 7")).click()
        press(page, "Start ada")
        see(page, "ada claimed")
    elif lesson == "survival":
        page.get_by_role("slider").fill("12000")
        see(page, "left; a handle leads to it")
        page.locator("summary").click()
        see(page, "Instructions")
        assert_accessible(page)
        page.get_by_role("button", name=re.compile("^Step 8")).click()
        see(page, "The receipt says")
    else:
        page.get_by_role("radio").first.check()
        press(page, "Ask the engine")
        see(page, "What the engine did:")
    assert_accessible(page)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("lesson", LESSONS)
def test_the_lessons_fit_a_telephone_and_a_screen(lessons: Any, server: WebServer, lesson: str, width: int) -> None:
    page = lessons
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{server.origin}/learn/{lesson}")
    see(page, LESSONS[lesson])
    steps = page.get_by_role("list", name="Steps").get_by_role("button")
    for number in range(max(steps.count(), 1)):
        if steps.count():
            steps.nth(number).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert_accessible(page)
