"""The page of a session in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from outlive.agent import Session
from outlive.agent.recall import pages_of
from outlive.events import Checkpointed, Compacted
from outlive.messages import Text, ToolCall
from outlive.stores.logs.names import subagent_id
from tests.web.axe import assert_accessible
from tests.web.made import answer, long_log, started, store_in, talked
from tests.web.server import WebServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebServer]:
    server = WebServer(tmp_path)
    yield server
    server.stop()


def open_session(page: Any, server: WebServer, session: str = "talk", query: str = "") -> None:
    page.goto(server.url)
    page.get_by_role("heading", name="Sessions").wait_for()
    page.goto(f"{server.origin}/w/{server.workspace}/sessions/{session}{query}")
    page.get_by_role("region", name="What was said and done").wait_for()


def test_a_session_opens_from_the_list_by_keyboard(page: Any, server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 3)
    page.goto(server.url)
    page.get_by_role("listitem").filter(has_text="Please go through part 0").first.wait_for()
    assert_accessible(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.get_by_text("I look at src/module_2.py.").wait_for()
    page.locator("main:focus").wait_for()  # the keyboard goes on in the new page
    page.get_by_text("Request 3", exact=True).wait_for()
    assert_accessible(page)


def test_what_another_process_does_appears_at_once(page: Any, server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 2)
    open_session(page, server)
    page.get_by_text("2 requests").first.wait_for()
    with Session.resume(store_in(tmp_path), "talk", window=24_000) as session:
        for number in range(2, 12):
            answer(session, number)
        page.get_by_text("I look at src/module_11.py.").wait_for()
        page.get_by_text("12 requests").first.wait_for()
        page.get_by_text("working").wait_for()
        page.wait_for_function("document.getAnimations().length === 0")  # the system asks for reduced motion
        page.get_by_role("region", name="Passes").get_by_role("button").first.wait_for()
    expect(page.locator("article.item.assistant")).to_have_count(12)


def test_a_tool_call_opens_to_its_diff_and_result(page: Any, server: WebServer, tmp_path: Path) -> None:
    call = ToolCall("c1", "edit_file", {"path": "a.py", "old_text": "x = 1\n", "new_text": "x = 2\n"})
    with started(tmp_path) as session:
        session.user_said("Change x <script>alert(1)</script> \u202eabc")
        session.assistant_said((Text("Now."), call))
        session.tool_finished("c1", "changed a.py " + "y" * 5_000)
    open_session(page, server)
    page.get_by_text("Change x <script>alert(1)</script> �abc").last.wait_for()
    assert not page.get_by_text("x = 2").is_visible()
    page.get_by_text("edit_file").click()
    page.get_by_text("+x = 2").wait_for()
    page.get_by_role("button", name="Show all (5,013 characters)").click()
    page.get_by_role("button", name="Show all").wait_for(state="detached")
    expect(page.locator(".call-result")).to_contain_text("y" * 5_000)


def test_a_pass_tells_what_left_and_a_handle_gives_it_back(page: Any, server: WebServer, tmp_path: Path) -> None:
    events = talked(tmp_path)
    passed = [event for event in events if isinstance(event, Compacted)][-1]
    open_session(page, server)
    page.get_by_role("region", name="Passes").get_by_role("button", name=f"event {passed.id}").click()
    panel = page.get_by_role("dialog", name=f"Pass of event {passed.id}")
    panel.get_by_text(f"{passed.receipt.before:,} → {passed.receipt.after:,} tokens").wait_for()
    assert_accessible(page)
    panel.get_by_role("tab", name="Before and after").click()
    panel.get_by_text(re.compile("condensed")).first.wait_for()
    panel.get_by_role("tab", name="Why lines stayed").click()
    panel.get_by_text(re.compile("last mention of")).first.wait_for()
    panel.get_by_role("tab", name="What left").click()
    handle = panel.get_by_role("button", name=re.compile(r"^@h\d+$")).first
    name = handle.inner_text()
    handle.click()
    shown = page.get_by_role("dialog", name=name)
    exact = pages_of(events).get(name).text
    shown.get_by_text(f"{len(exact.encode()):,} bytes").wait_for()
    assert shown.locator(".bytes pre").inner_text() == exact.rstrip("\n")
    with page.expect_download() as download:
        shown.get_by_role("link", name="Download").click()
    assert Path(download.value.path()).read_bytes() == exact.encode()
    page.keyboard.press("Escape")
    shown.wait_for(state="detached")
    expect(panel).to_be_visible()
    page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    expect(page).not_to_have_url(re.compile("pass="))


def test_the_scrubber_goes_through_time(page: Any, server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 12)
    open_session(page, server, query="?at=1")
    panel = page.get_by_role("dialog", name="What the model was shown")
    panel.get_by_text("Request 1 of 12").wait_for()
    expect(panel.get_by_text("I look at src/module_0.py.")).to_have_count(0)
    assert_accessible(page)
    panel.get_by_role("button", name="The next request").click()
    panel.get_by_text("I look at src/module_0.py.").first.wait_for()
    scrubber = panel.get_by_role("slider", name="Request")
    scrubber.focus()
    page.keyboard.press("End")
    panel.get_by_text("Request 12 of 12").wait_for()
    panel.get_by_text("condensed by rule").first.wait_for()
    expect(page).to_have_url(re.compile("at=12"))


def test_the_cursor_of_the_chart_moves_by_keys(page: Any, server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 12)
    open_session(page, server)
    chart = page.get_by_role("slider")
    chart.focus()
    page.keyboard.press("Home")
    page.get_by_text("Request 1", exact=True).wait_for()
    page.keyboard.press("p")
    page.keyboard.press("Space")
    page.get_by_role("dialog", name=re.compile("Pass of event")).wait_for()
    page.keyboard.press("Escape")
    chart.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_text("Request 2 of 12").wait_for()


def test_the_page_goes_on_after_the_server_was_killed(page: Any, server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 2)
    open_session(page, server)
    page.get_by_text("I look at src/module_1.py.").wait_for()
    server.kill()
    page.get_by_text("reconnecting").wait_for()
    with Session.resume(store_in(tmp_path), "talk", window=24_000) as session:
        answer(session, 2)
    again = WebServer(tmp_path, port=server.port)
    try:
        page.get_by_text("I look at src/module_2.py.").wait_for()
        page.get_by_text("reconnecting").wait_for(state="detached")
        expect(page.locator("article.item.assistant")).to_have_count(3)
    finally:
        server.process = again.process  # the fixture ends it
        page.expected_errors.clear()


def test_two_browsers_see_the_same(page: Any, new_page: Any, server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 1)
    other = new_page()
    open_session(page, server)
    open_session(other, server)
    with Session.resume(store_in(tmp_path), "talk", window=24_000) as session:
        answer(session, 1)
        for one in (page, other):
            one.get_by_text("I look at src/module_1.py.").wait_for()


def test_an_event_of_a_long_log_is_found_by_its_link(page: Any, server: WebServer, tmp_path: Path) -> None:
    store_in(tmp_path).replace("long", long_log(10_000))
    open_session(page, server, "long", "?event=4002")
    found = page.locator('[data-event="4002"]')
    found.wait_for()
    expect(found).to_be_visible()
    page.get_by_role("button", name="Jump to newest").click()
    page.locator('[data-event="9998"]').wait_for()
    assert page.locator("article.item").count() <= 500


def test_older_items_come_when_they_are_asked_for(page: Any, server: WebServer, tmp_path: Path) -> None:
    store_in(tmp_path).replace("long", long_log(2_000))
    open_session(page, server, "long")
    page.get_by_role("button", name=re.compile("Show older")).click()
    page.locator("article.item").nth(60).wait_for()


def test_a_search_leads_to_the_event(page: Any, server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 12)
    page.goto(server.url)
    page.get_by_role("searchbox").fill("value_7003")
    page.get_by_role("region", name="Found in the logs").get_by_role("link").first.click()
    page.wait_for_url(re.compile(r"event=\d+"))
    page.locator("article.chosen").wait_for()


def test_a_subagent_is_nested(page: Any, server: WebServer, tmp_path: Path) -> None:
    child = subagent_id("talk")
    with started(tmp_path) as session, started(tmp_path, child) as below:
        link = {"parent": "talk", "session": child, "description": "count the files"}
        session.log(Checkpointed, label="subagent", data=link)
        below.user_said("Count them.")
        below.assistant_said((Text("There are twelve."),))
    open_session(page, server)
    page.get_by_text("count the files").click()
    page.get_by_text("There are twelve.").wait_for()
    page.goto(server.origin)
    page.get_by_role("button", name="1 sub-agent").click()
    page.get_by_role("link").filter(has_text="Count them.").wait_for()


def test_it_works_on_a_narrow_screen(page: Any, server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 12)
    page.set_viewport_size({"width": 390, "height": 844})
    open_session(page, server)
    page.get_by_text("I look at src/module_11.py.").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_accessible(page)
    page.get_by_role("region", name="Passes").get_by_role("button").first.click()
    page.get_by_role("tab", name="Before and after").click()
    page.get_by_text(re.compile("condensed")).first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_accessible(page)


def test_a_fork_is_made_and_opened(page: Any, tmp_path: Path) -> None:
    talked(tmp_path, 2)
    server = WebServer(tmp_path, "--control")
    try:
        open_session(page, server)
        page.get_by_role("button", name="Fork", exact=True).click()
        page.get_by_role("dialog").get_by_role("textbox").fill("another-way")
        page.get_by_role("dialog").get_by_role("button", name="Fork").click()
        page.wait_for_url(re.compile("another-way"))
        page.get_by_text("Forked from talk").wait_for()
    finally:
        server.stop()
        page.expected_errors.clear()  # the page loses its stream


def test_a_pass_is_taken_back_from_its_panel(page: Any, tmp_path: Path) -> None:
    passed = [event.id for event in talked(tmp_path, 12) if isinstance(event, Compacted)][-1]
    server = WebServer(tmp_path, "--control")
    try:
        open_session(page, server, query=f"?pass={passed}")
        panel = page.get_by_role("dialog")
        panel.get_by_role("button", name="Undo this pass").click()
        panel.get_by_text("taken back").wait_for()
        page.get_by_text(f"Took back the pass of event {passed}").wait_for()
    finally:
        server.stop()
        page.expected_errors.clear()  # the page loses its stream
