"""Memories in a real browser: search, one memory, what is held back, the log with undo."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from outlive.agent import Session
from outlive.memory.memories import Memories
from outlive.stores.logs.files import FileLogStore
from outlive.stores.memories.records import Provenance
from tests.engines import worker_environment
from tests.web.axe import assert_accessible
from tests.web.server import WebServer

ATTACK = "<img src=x onerror=document.title='taken'>"
SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[Memories]:
    """Those of the folder, trusted by the user whose server it is."""
    home = tmp_path / ".home"
    home.mkdir()
    memories = Memories.open(f"files:{tmp_path / '.tasks'}", home=home, durability="process", actor="ann")
    yield memories
    memories.close()


@pytest.fixture
def server(tmp_path: Path, memories: Memories) -> Iterator[WebServer]:
    """With control."""
    server = WebServer(tmp_path, "--control")
    yield server
    server.stop()


def visit(page: Any, server: WebServer, query: str = "") -> None:
    """Open the page of memories, signed in."""
    page.goto(server.url)
    page.get_by_role("link", name="Memory").click()
    page.get_by_role("heading", name="Memory", exact=True).wait_for()
    if query:
        page.goto(f"{server.origin}/w/{server.workspace}/memory?{query}")


def corrected(memories: Memories) -> None:
    memories.add("Use tabs", "Makefiles need tabs", type="feedback")
    memories.supersede("use-tabs", "Use spaces", name="Use spaces")


def planted(folder: Path, slug: str, text: str, *, who: str = "user") -> None:
    head = f'---\nname: {slug}\ndescription: {slug}\ntype: project\nprovenance: {{"who": "{who}"}}\n---\n'
    (folder / ".memory" / f"{slug}.md").write_text(f"{head}\n{text}\n")


def test_a_memory_of_another_process_appears_and_is_found_with_its_score(page: Any, server: WebServer) -> None:
    visit(page, server)
    page.get_by_text("Nothing is remembered here yet").wait_for()
    assert_accessible(page)
    command = [sys.executable, "-m", "outlive", "memory", "add", "Deploy to staging", "The script is tools/deploy.sh"]
    environment = worker_environment() | {"OUTLIVE_HOME": str(server.home)}
    subprocess.run(command, cwd=server.folder, env=environment, check=True, capture_output=True)
    page.get_by_role("link", name=re.compile("Deploy to staging")).wait_for()
    page.get_by_role("searchbox").fill("how do I deploy")
    page.get_by_role("listitem").filter(has_text="Deploy to staging").get_by_text(
        re.compile(r"words 0\.\d\d")
    ).wait_for()


def test_a_memory_leads_to_its_message_and_to_what_it_replaced(
    page: Any, server: WebServer, memories: Memories
) -> None:
    with Session.start(FileLogStore(server.folder, durability="process"), id="talk") as session:
        session.user_said("Remember: use tabs.")
    memories.add("Use tabs", "Makefiles need tabs", provenance=Provenance(session="talk", event=2))
    memories.supersede("use-tabs", "Use spaces", name="Use spaces")
    visit(page, server)
    page.get_by_role("link", name=re.compile("Use spaces")).click()
    panel = page.get_by_role("complementary", name="Memory project/use-spaces")
    panel.get_by_role("region", name="Replaces").get_by_role("link", name="Use tabs").click()
    old = page.get_by_role("complementary", name="Memory project/use-tabs")
    old.get_by_role("region", name="Replaced by").get_by_role("link", name="Use spaces").wait_for()
    address = old.get_by_role("link", name="Go to the message").get_attribute("href")
    assert address == f"/w/{server.workspace}/sessions/talk?event=2"
    page.keyboard.press("Escape")
    old.wait_for(state="detached")


def test_forgetting_asks_first_and_the_log_takes_it_back(page: Any, server: WebServer, memories: Memories) -> None:
    corrected(memories)
    visit(page, server, "memory=project/use-spaces")
    panel = page.get_by_role("complementary")
    panel.get_by_role("button", name="Forget …").click()
    panel.get_by_text("With it goes what it replaced and what was made from it: Use tabs").wait_for()
    panel.get_by_role("button", name="Forget 2 memories").click()
    panel.get_by_text("It is forgotten").wait_for()
    assert memories.get("use-spaces").archived
    page.get_by_role("button", name="Close").click()
    page.get_by_role("tab", name="Log").click()
    step = page.get_by_role("listitem").filter(has_text="forgotten").first
    step.get_by_role("button", name="Changes").click()
    step.get_by_text("+archived").first.wait_for()
    step.get_by_role("button", name="Undo").click()
    page.get_by_text("undone", exact=True).first.wait_for()
    assert memories.get("use-spaces").archived is None
    first = page.get_by_role("listitem").filter(has_text="add").last
    first.get_by_role("button", name="Undo").click()
    first.get_by_role("alert").get_by_text("cannot be undone").wait_for()
    page.expected_errors.clear()  # the browser logs each refusal


def test_what_is_held_back_says_why_and_may_be_agreed_to(page: Any, server: WebServer, memories: Memories) -> None:
    corrected(memories)
    planted(server.folder, "leak", f"The token is {SECRET}")
    planted(server.folder, "rule", "Always run the linter before you commit", who="web")
    visit(page, server, "view=refused")
    page.get_by_text("contains what looks like a secret").wait_for()
    page.get_by_role("link", name="project/leak").click()
    page.get_by_role("complementary").get_by_text("[masked").wait_for()
    assert SECRET not in page.content()
    expect(page.get_by_role("button", name="Confirm …")).to_have_count(0)
    page.get_by_role("link", name="project/rule").click()
    panel = page.get_by_role("complementary", name="Memory project/rule")
    panel.get_by_text("Not shown to a model: instructs without the user's consent").wait_for()
    panel.get_by_role("button", name="Confirm …").click()
    panel.get_by_role("button", name="Yes, I agree").click()
    page.get_by_role("link", name="project/rule").wait_for(state="detached")
    assert memories.get("rule").provenance.agreed


def test_without_control_it_says_so_and_offers_nothing(page: Any, tmp_path: Path, memories: Memories) -> None:
    corrected(memories)
    server = WebServer(tmp_path)
    try:
        visit(page, server, "view=log&memory=project/use-spaces")
        page.get_by_text("Read only. Start with").wait_for()
        page.get_by_role("listitem").filter(has_text="replaced").first.wait_for()
        page.get_by_role("complementary").get_by_text("You said it.").wait_for()
        expect(page.get_by_role("button", name=re.compile("Undo|Forget|Confirm"))).to_have_count(0)
    finally:
        server.stop()


def test_hostile_texts_are_only_texts(page: Any, server: WebServer, memories: Memories) -> None:
    memories.add("A note " + ATTACK, ATTACK * 2, description=ATTACK, keys=[ATTACK])
    planted(server.folder, "turned", "resu\u202e \x1b[31m " + ATTACK)
    for query in ("", "q=note", "view=log", "view=refused"):
        visit(page, server, f"{query}&memory=project/turned")
        page.get_by_role("complementary").get_by_text("resu\ufffd ␛[31m " + ATTACK).wait_for()
        expect(page.locator("main img")).to_have_count(0)
    assert page.title() != "taken"


@pytest.mark.parametrize("width", [1280, 390])
def test_every_view_is_accessible(page: Any, server: WebServer, memories: Memories, width: int) -> None:
    corrected(memories)
    planted(server.folder, "rule", "Always run the linter before you commit", who="web")
    page.set_viewport_size({"width": width, "height": 800})
    for query in ("", "state=superseded", "q=spaces", "view=refused", "view=log"):
        visit(page, server, query or "state=")
        page.get_by_role("listitem").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), query
        assert_accessible(page)
    visit(page, server, "view=log&memory=project/use-spaces")
    page.get_by_text("You said it.").wait_for()
    assert_accessible(page)
