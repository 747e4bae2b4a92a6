"""`/add-dir`: the user lets tools use another folder, in this session and when it is resumed on this machine."""

import shutil
from pathlib import Path

from outlive.testing import Simulator, call, say
from tests.cli.chat.test_terminal import pytestmark as needs_tmux
from tests.e2e.conftest import Client
from tests.e2e.terminal import window

pytestmark = needs_tmux


def test_a_folder_is_added_by_the_user_and_stays_for_the_session(folder: Path) -> None:
    beside = folder.parent / "beside"
    beside.mkdir()
    (beside / "notes.txt").write_text("the ford is at dawn\n")
    look = call("read_file", path=str(beside / "notes.txt"))
    with Simulator([look, say("Not yet."), look, say("Found."), look, say("Again."), look, say("Not here.")]) as sim:
        with window(sim, folder) as shown:
            shown.type("look")
            shown.until("Not yet.")
            shown.type("/add-dir ../nowhere")
            shown.until("there is no folder ../nowhere")
            shown.type("/add-dir ../beside")
            shown.until("tools may use it")
            shown.type("and now?")
            shown.until("Found.")
            shown.type("/add-dir")
            shown.until(f"tools may use {folder}")
            shown.type("/context")
            shown.until("tools may also use")
        client = Client(folder, sim)
        assert client("-p", "once more", "--continue").out == "Again.\n"
        assert client("-p", "in a new session").out == "Not here.\n"
        last = [results[-1].text for request in sim.requests if (results := request.results())]
        assert ["ford" in text for text in last] == [False, False, True, True, True, False]
        assert "Only the user can add a folder" in last[0]
        assert f"Other folders that your tools may use: {beside}" in str(sim.requests[2].body)


def test_a_log_alone_adds_no_folder_and_one_that_is_gone_is_said(folder: Path) -> None:
    beside = folder.parent / "beside"
    beside.mkdir()
    (beside / "notes.txt").write_text("the ford is at dawn\n")
    look = call("read_file", path=str(beside / "notes.txt"))
    with Simulator([say("Fine."), look, say("No."), say("Gone.")]) as sim:
        with window(sim, folder) as shown:
            shown.type("/add-dir ../beside")
            shown.until("tools may use it")
            shown.type("hello")
            shown.until("Fine.")
        kept = folder.parent / "home/projects"
        kept.rename(folder.parent / "elsewhere")  # as on another machine
        client = Client(folder, sim)
        assert client("-p", "look", "--continue").out == "No.\n"
        assert not any("ford" in result.text for result in sim.requests[-1].results())
        shutil.rmtree(kept)
        (folder.parent / "elsewhere").rename(kept)
        shutil.rmtree(beside)
        assert "is gone" in client("-p", "again", "--continue").err
