"""Talking to an agent in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from outlive.testing import Fault, Simulator, call, say
from tests.web.axe import assert_accessible
from tests.web.server import WebServer
from tests.web.talking import Held
from tests.web.talking import serving as serving_http

COMMAND = "echo \u202edone; make clean"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "app.py").write_text("VALUE = 1\nOTHER = 2\n")
    return work


@contextmanager
def serving(page: Any, folder: Path, sim: Simulator, *options: str, **more: Any) -> Iterator[WebServer]:
    """A server that the page leaves before it ends, unless the test ended it."""
    with serving_http(folder, sim, *options, **more) as server:
        yield server
        if server.process.poll() is None:
            page.goto("about:blank")


def start(page: Any, server: WebServer, words: str) -> None:
    """Begin a session from the list of sessions."""
    page.goto(server.url)
    page.get_by_role("link", name="New session").click()
    page.get_by_label("First message").fill(words)
    page.get_by_label("First message").press("Enter")
    page.get_by_role("region", name="Talk to the agent").wait_for()


def say_here(page: Any, words: str) -> None:
    page.get_by_label("Message to the agent").fill(words)
    page.get_by_label("Message to the agent").press("Enter")


def test_an_edit_is_approved_with_its_diff_in_view_and_a_command_is_refused(page: Any, folder: Path) -> None:
    edit = call("edit_file", path="app.py", old_text="VALUE = 1", new_text="VALUE = 42")
    script = [call("read_file", path="app.py"), edit, call("bash", command=COMMAND), say("I leave it at that.")]
    with Simulator(script) as sim, serving(page, folder, sim) as server:
        start(page, server, "Set the value to 42.")
        card = page.get_by_role("region", name="Permission: edit_file")
        card.get_by_text("+VALUE = 42").wait_for()
        expect(card.get_by_text("app.py", exact=True)).to_be_visible()
        assert page.evaluate("document.activeElement.tagName") not in ("BUTTON", "A")
        assert_accessible(page)
        assert (folder / "app.py").read_text().startswith("VALUE = 1\n")
        card.get_by_role("button", name="Allow once").click()
        card = page.get_by_role("region", name="Permission: bash")
        card.get_by_text("echo ⟦U+202E⟧done; make clean").wait_for()
        card.get_by_text("1 character that a screen would hide").wait_for()
        assert (folder / "app.py").read_text().startswith("VALUE = 42\n")
        card.get_by_label("Reason for refusing").fill("leave the build alone")
        card.get_by_role("button", name="Refuse").click()
        page.get_by_text("I leave it at that.").first.wait_for()
        assert "leave the build alone" in sim.requests[-1].results()[-1].text
        sim.verify()


def test_a_focused_question_is_answered_by_keys(page: Any, folder: Path) -> None:
    with Simulator([call("bash", command="make again"), say("Ran.")]) as sim, serving(page, folder, sim) as server:
        start(page, server, "Run it.")
        card = page.get_by_role("region", name="Permission: bash")
        card.get_by_role("button", name="Always allow").wait_for()
        expect(card.get_by_role("button", name="Allow once")).to_be_enabled()
        card.focus()
        page.keyboard.press("y")
        page.get_by_text("Ran.").first.wait_for()


def test_words_wait_their_turn_and_an_answer_is_seen_while_it_arrives(page: Any, folder: Path) -> None:
    brain = Held(say("Counting. " * 300), say("Heard you."))
    with Simulator(brain=brain) as sim, serving(page, folder, sim) as server:
        sim.faults.add(Fault.slow(0.1))
        start(page, server, "Count.")
        assert brain.asked.acquire(timeout=60)
        say_here(page, "And then stop.")
        page.get_by_role("group", name="Queued words").get_by_text("And then stop.").wait_for()
        logs = "".join(path.read_text() for path in (folder / ".transcripts").glob("*.jsonl"))
        assert '"user_queued"' in logs
        brain.let_go(2)
        page.get_by_role("region", name="Arriving now").get_by_text("Counting. Counting.").wait_for()
        page.get_by_text("Heard you.").first.wait_for()
        page.get_by_role("group", name="Queued words").wait_for(state="detached")


def test_a_run_is_stopped_and_continued(page: Any, folder: Path) -> None:
    brain = Held(say("Lost."), say("Continued."))
    with Simulator(brain=brain) as sim, serving(page, folder, sim) as server:
        start(page, server, "Think long.")
        assert brain.asked.acquire(timeout=60)
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("Interrupted.").wait_for()
        brain.let_go(2)
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("Continued.").first.wait_for()


def test_a_wider_mode_counts_only_after_its_name_was_typed(page: Any, folder: Path) -> None:
    script = [say("Hello."), call("write_file", path="new.txt", content="x\n"), say("Written.")]
    with Simulator(script) as sim, serving(page, folder, sim) as server:
        start(page, server, "Hi.")
        page.get_by_text("Hello.").first.wait_for()
        mode = page.get_by_label("Permission mode")
        mode.select_option("accept-edits")
        dialog = page.get_by_role("dialog", name="A wider mode: accept-edits")
        dialog.get_by_label("Name of the mode").fill("accept")
        expect(dialog.get_by_role("button", name="Change the mode")).to_be_disabled()
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
        expect(mode).to_have_value("ask")
        mode.select_option("accept-edits")
        page.get_by_label("Name of the mode").fill("accept-edits")
        page.get_by_label("Name of the mode").press("Enter")
        expect(mode).to_have_value("accept-edits")
        say_here(page, "Write it.")
        page.get_by_text("Written.").first.wait_for()
        assert (folder / "new.txt").exists()


def test_a_question_is_there_again_after_a_reload_and_two_browsers_see_it(
    page: Any, new_page: Any, folder: Path
) -> None:
    script = [call("write_file", path="new.txt", content="x\n"), say("As you like.")]
    with Simulator(script) as sim, serving(page, folder, sim) as server:
        start(page, server, "Write it.")
        page.get_by_role("region", name="Permission: write_file").wait_for()
        page.reload()
        card = page.get_by_role("region", name="Permission: write_file")
        card.get_by_text("+x").wait_for()
        second = new_page()
        second.goto(page.url + server.url[server.url.index("#") :])
        theirs = second.get_by_role("region", name="Permission: write_file")
        theirs.get_by_role("button", name="Allow once").wait_for()
        page.route("**/questions/*", lambda route: None)  # held back until the other has answered
        card.get_by_role("button", name="Refuse").click()
        theirs.get_by_role("button", name="Allow once").click()
        second.get_by_text("As you like.").first.wait_for()
        second.goto("about:blank")
        page.get_by_text("As you like.").first.wait_for()
        expect(card).to_have_count(0)
        assert (folder / "new.txt").exists()


def test_a_killed_server_loses_nothing_and_the_session_goes_on(page: Any, folder: Path) -> None:
    brain = Held(say("Never heard."), say("Here again."))
    with Simulator(brain=brain) as sim:
        with serving(page, folder, sim) as server:
            start(page, server, "Begin this.")
            assert brain.asked.acquire(timeout=60)
            server.kill()
        page.get_by_text("The server does not answer").wait_for()
        brain.let_go(2)
        with serving(page, folder, sim, "--control", home=server.home, port=server.port):
            page.get_by_role("button", name="Continue").click()
            page.get_by_text("Here again.").first.wait_for()
        page.expected_errors.clear()  # of the server that was gone


def test_without_a_model_the_page_says_what_is_missing(page: Any, folder: Path) -> None:
    server = WebServer(folder, "--control")
    try:
        page.goto(server.url)
        page.get_by_role("link", name="New session").click()
        page.get_by_label("First message").fill("Hi.")
        page.get_by_role("button", name="Start").click()
        page.get_by_role("alert").get_by_text("ANTHROPIC_API_KEY").first.wait_for()
        expect(page.get_by_label("First message")).to_have_value("Hi.")
        page.expected_errors.clear()  # the refusal itself
        page.goto("about:blank")
    finally:
        server.stop()


@pytest.fixture
def read_only(folder: Path) -> Iterator[WebServer]:
    server = WebServer(folder)
    yield server
    server.stop()


def test_a_read_only_server_offers_no_talk(page: Any, read_only: WebServer) -> None:
    page.goto(read_only.url)
    page.get_by_text("No sessions here yet").wait_for()
    expect(page.get_by_role("link", name="New session")).to_have_count(0)
    page.goto(f"{read_only.origin}/w/{read_only.workspace}/talk")
    page.get_by_text("This server is read only").wait_for()
    page.goto("about:blank")
