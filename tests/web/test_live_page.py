"""Several tabs, lost servers and layouts that stay put, in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from outlive.agent.session import Session
from outlive.messages import Text, ToolCall
from outlive.testing import Fault, Simulator, call, say
from tests.web.made import answer, started, store_in, talked
from tests.web.server import WebServer
from tests.web.talking import Talk, serving

TABS = 8
"""More than a browser opens connections to one host."""
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts.push(entry.value);
}).observe({ type: "layout-shift", buffered: true });
"""
MOST_SHIFT = 0.1
"""What counts as good for the sum of layout shifts (web.dev)."""
AT_END = "box => box.scrollHeight - box.scrollTop - box.clientHeight < 5"
GROW_TWICE = """
box => {
  const lines = () => Object.assign(document.createElement("pre"), { textContent: "\\n".repeat(50) });
  const grow = () => box.firstElementChild.append(lines());
  grow();
  const watch = new ResizeObserver(() => {
    watch.disconnect();
    setTimeout(grow);
  });
  watch.observe(box.firstElementChild);
}
"""
"""The second time after the page has scrolled, and before the browser tells it so."""
HOSTILE = """# Heading <img src=x onerror=alert(1)>

- **bold** and `code`
- [a link](javascript:alert(1)) <script>alert(2)</script>

| a | b |
|---|---|
| <b>1</b> | 2 |

```html
<script>alert(3)</script>
```
**not closed
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebServer]:
    server = WebServer(tmp_path)
    yield server
    if server.process.poll() is None:
        server.stop()


def session_address(server: WebServer, session: str) -> str:
    return f"{server.origin}/w/{server.workspace}/sessions/{session}"


def test_eight_tabs_of_a_session_share_one_stream_and_all_of_them_follow(page: Any, tmp_path: Path) -> None:
    with Simulator([say("Hello.")]) as sim, serving(tmp_path, sim) as server:
        talked(tmp_path, 2)
        page.goto(server.url)
        page.get_by_role("link", name="New session").wait_for()
        tabs = [page, *(page.context.new_page() for _ in range(TABS - 1))]
        for tab in tabs:
            tab.goto(session_address(server, "talk"))
            tab.get_by_text("I look at src/module_1.py.").wait_for()
            tab.get_by_label("Message to the agent").wait_for()
        with Session.resume(store_in(tmp_path), "talk") as session:
            answer(session, 2)
            for tab in tabs:
                tab.get_by_text("I look at src/module_2.py.").wait_for()
        for tab in tabs:
            tab.goto("about:blank")


def test_the_list_follows_an_agent_without_a_flood_of_requests(page: Any, server: WebServer, tmp_path: Path) -> None:
    for number in range(30):
        talked(tmp_path, 1, f"old{number}")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.url)
    page.get_by_role("listitem").first.wait_for()
    asked.clear()
    with started(tmp_path, "busy") as session:
        for number in range(40):
            answer(session, number, lines=5)
        row = page.get_by_role("link").filter(has_text="read_file src/module_39.py")
        row.get_by_text("working").wait_for()
    row.get_by_text("can be resumed").wait_for()
    assert not [url for url in asked if "/summary" in url]


def test_a_server_that_is_gone_is_announced_on_every_page_and_found_again(page: Any, tmp_path: Path) -> None:
    first = WebServer(tmp_path)
    page.goto(first.url)
    page.get_by_text("No sessions here yet").wait_for()
    page.get_by_role("link", name="Learn").click()
    page.get_by_text("Compression survival").first.wait_for()
    first.kill()
    page.get_by_text("The server does not answer.").wait_for()
    again = WebServer(tmp_path, port=first.port)
    page.get_by_text("The server does not answer.").wait_for(state="detached")
    again.stop()
    other = WebServer(tmp_path, "--new-token", port=first.port)
    page.get_by_text("This browser is signed out.").wait_for()
    other.stop()
    page.expected_errors.clear()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_a_long_answer_streams_inside_of_the_conversation_without_layout_jumps(
    new_page: Any, tmp_path: Path, width: int, height: int
) -> None:
    text = "\n\n".join(f"Paragraph {number} " + "word " * 60 for number in range(18))
    with Simulator([say("Short."), say(text)]) as sim, serving(tmp_path, sim) as server:
        talk = Talk.start(server, "Begin.")
        talk.at_rest()
        page = new_page(width, height)
        page.add_init_script(WATCH_SHIFTS)
        page.goto(server.url)
        page.get_by_role("link", name="Sessions").first.wait_for()
        page.goto(session_address(server, talk.session))
        page.get_by_text("Short.").first.wait_for()
        page.get_by_label("Permission mode").wait_for()  # what is below the conversation has its height
        sim.faults.add(Fault.slow(0.01))
        talk.ok("say", text="Tell me everything.")
        box = page.get_by_role("region", name="What was said and done")
        box.get_by_text("Paragraph 9").wait_for()
        field = page.get_by_label("Message to the agent")
        expect(field).to_be_visible()
        place = field.bounding_box()
        box.get_by_text("Paragraph 17").wait_for()
        talk.at_rest()
        assert field.bounding_box() == place
        page.wait_for_function(AT_END, arg=box.element_handle())
        assert page.evaluate("window.shifts.reduce((sum, one) => sum + one, 0)") < MOST_SHIFT
        page.goto("about:blank")


def test_the_end_stays_in_view_though_more_comes_before_the_page_has_scrolled(
    page: Any, server: WebServer, tmp_path: Path
) -> None:
    talked(tmp_path, 8)
    page.goto(server.url)
    page.get_by_role("listitem").first.get_by_role("link").click()
    box = page.get_by_role("region", name="What was said and done")
    box.get_by_text("I look at src/module_7.py.").wait_for()
    page.wait_for_function(AT_END, arg=box.element_handle())
    page.evaluate(GROW_TWICE, box.element_handle())
    page.wait_for_function(
        "box => box.firstElementChild.querySelectorAll(':scope > pre').length === 2", arg=box.element_handle()
    )
    page.wait_for_function(AT_END, arg=box.element_handle())
    page.mouse.move(400, 400)
    page.mouse.wheel(0, -300)
    page.get_by_role("button", name="Jump to newest").click()
    page.wait_for_function(AT_END, arg=box.element_handle())


def test_an_approval_leaves_room_for_the_conversation_and_can_be_answered_on_a_phone(
    new_page: Any, tmp_path: Path
) -> None:
    content = "\n".join(f"line {number}" for number in range(400))
    script = [call("write_file", path="big.txt", content=content), say("Written.")]
    with Simulator(script) as sim, serving(tmp_path, sim) as server:
        talk = Talk.start(server, "Write it.")
        talk.question()
        for width, height in ((1280, 800), (390, 844)):
            page = new_page(width, height)
            page.goto(server.url)
            page.get_by_role("link", name="Sessions").first.wait_for()
            page.goto(session_address(server, talk.session))
            card = page.get_by_role("region", name="Permission: write_file")
            card.wait_for()
            assert page.locator(".talk-scroll").bounding_box()["height"] > 80
            expect(card.get_by_text("bytes")).to_have_count(0)
            expect(page.get_by_role("link", name="1 call needs your approval")).to_have_count(int(width < 1000))
            talk_top = page.locator(".talk").bounding_box()["y"]
            window_top = page.locator("aside.window").bounding_box()["y"]
            assert (talk_top < window_top) == (width < 1000)
            if width < 1000:
                page.get_by_role("link", name="1 call needs your approval").click()
                allow = card.get_by_role("button", name="Allow once")
                expect(allow).to_be_in_viewport()
                expect(allow).to_be_enabled()
                allow.click()
                page.get_by_text("Written.").first.wait_for()
            page.goto("about:blank")


def test_answers_are_shown_as_markdown_and_nothing_in_them_acts(page: Any, server: WebServer, tmp_path: Path) -> None:
    with started(tmp_path, "hostile") as session:
        session.user_said("Show me.")
        session.assistant_said((Text(HOSTILE),))
    asked: list[str] = []
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.goto(server.url)
    page.get_by_text("Show me.").first.click()
    article = page.locator("article.assistant")
    article.get_by_text("Heading <img src=x onerror=alert(1)>").wait_for()
    expect(article.locator(".list li")).to_have_count(2)
    assert article.locator("td").all_inner_texts() == ["<b>1</b>", "2"]
    assert article.locator("pre").inner_text() == "<script>alert(3)</script>"
    expect(article.get_by_text("**not closed")).to_have_count(1)
    expect(article.locator("a:not(.event-link), img, script")).to_have_count(0)
    assert asked == []


def test_the_last_call_of_a_killed_session_is_interrupted_not_waiting(
    page: Any, server: WebServer, tmp_path: Path
) -> None:
    with started(tmp_path, "dead") as session:
        session.user_said("Build it.")
        session.assistant_said((ToolCall("c1", "bash", {"command": "make"}),))
    page.goto(server.url)
    page.get_by_role("link").filter(has_text="Build it.").click()
    page.get_by_role("img", name="interrupted").wait_for()
    expect(page.get_by_role("img", name="waits to start")).to_have_count(0)


def test_addresses_that_name_nothing_say_so_and_pages_have_titles(page: Any, server: WebServer) -> None:
    page.goto(server.url)
    page.get_by_text("No sessions here yet").wait_for()
    assert page.title().startswith("Sessions · ")
    page.goto(f"{server.origin}/w/{server.workspace}/sessions/%E0%A4")
    page.get_by_text("There is no such page").wait_for()
    page.goto(f"{server.origin}/w/{server.workspace}/tasks?task=999")
    page.get_by_text("999").nth(1).wait_for()
    assert page.title().startswith("Tasks · ")
    page.expected_errors.clear()
    page.get_by_role("heading", name="Tasks", exact=True).click()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()


def test_replay_and_navigation_fit_a_phone(new_page: Any, server: WebServer, tmp_path: Path) -> None:
    with started(tmp_path, "long") as session:
        session.user_said("A very long first message that names everything at once, " * 5)
    page = new_page(390, 844)
    page.goto(server.url)
    for name in ("Tasks", "Memory", "Replay"):
        page.get_by_role("navigation").get_by_role("link", name=name).click()
        page.get_by_role("heading", name=name, exact=True).wait_for()
        expect(page.get_by_role("navigation").get_by_role("link", name="Learn")).to_be_in_viewport()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    page.get_by_role("combobox", name="A session of this workspace").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_all_workspaces_are_one_list_and_namesakes_are_told_apart(page: Any, tmp_path: Path) -> None:
    home = tmp_path / "home"
    for parent in ("first", "second"):
        folder = tmp_path / parent / "app"
        folder.mkdir(parents=True)
        with started(folder, f"of-{parent}") as session:
            session.user_said(f"Question of the {parent}.")
        server = WebServer(folder, "--all", home=home)
        if parent == "first":
            server.stop()
    names = [one["name"] for one in server.json("/api/about")["workspaces"]]
    assert sorted(names) == [f"app · {tmp_path}/first", f"app · {tmp_path}/second"]
    page.goto(server.url)
    page.get_by_role("link", name="All workspaces").click()
    page.get_by_role("link").filter(has_text="Question of the second.").wait_for()
    row = page.get_by_role("link").filter(has_text="Question of the first.")
    expect(row).to_contain_text(str(tmp_path / "first"))
    page.get_by_role("searchbox").fill("first")
    page.get_by_role("link").filter(has_text="Question of the second.").wait_for(state="detached")
    row.click()
    page.get_by_role("heading", name="Question of the first.").wait_for()
    server.stop()
