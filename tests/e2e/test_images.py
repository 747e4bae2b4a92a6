"""Images in a prompt at a real terminal: by pasted, dragged or typed path, and from the clipboard."""

import json
from pathlib import Path

import pytest

from outlive.testing import Simulator, call, say
from tests.cli.chat.test_terminal import pytestmark as needs_tmux
from tests.e2e.terminal import window
from tests.e2e.test_mentions import PIXEL, attached

pytestmark = needs_tmux


def images(sim: Simulator, number: int = -1) -> int:
    return json.dumps(sim.requests[number].body["messages"]).count('"type": "image"')


@pytest.fixture
def shot(folder: Path) -> Path:
    path = folder.parent / "my shot.png"
    path.write_bytes(PIXEL)
    return path


@pytest.mark.parametrize("form", ["{}", "'{}'", "file://{}", "{} "])
def test_a_pasted_path_of_an_image_is_the_image(folder: Path, shot: Path, form: str) -> None:
    text = form.format(shot)
    with Simulator([say("A dot.")]) as sim, window(sim, folder) as shown:
        shown.paste(text, folder)
        shown.until("> [image 1: my shot.png 69 bytes]")
        shown.type(" what is it?")
        assert "· put in: image 1" in shown.until("A dot.")
        assert images(sim) == 1
        assert f"<attached-picture>image 1: {shot}</attached-picture>" in attached(sim)


def test_a_path_that_arrives_as_keys_is_the_image_when_it_is_sent_and_again_from_the_history(
    folder: Path, shot: Path
) -> None:
    with Simulator([say("A dot."), say("The same.")]) as sim, window(sim, folder) as shown:
        shown.type(f"what is '{shot}' ?")
        assert "> what is [image 1: my shot.png 69 bytes] ?" in shown.until("A dot.")
        shown.keys("Up", "Enter")
        shown.until("The same.")
        assert images(sim) == 2


def test_text_about_images_and_files_that_only_have_the_name_stay_text(folder: Path) -> None:
    fake = folder.parent / "fake.png"
    fake.write_text("no image\n")
    with Simulator([say("I see.")]) as sim, window(sim, folder) as shown:
        shown.paste(f"{fake} and /nowhere/x.png", folder)
        shown.until(f"> {fake}"[:60])
        shown.keys("Enter")
        shown.until("I see.")
        assert images(sim) == 0


def test_an_image_that_cannot_be_sent_is_named(folder: Path) -> None:
    broken = folder.parent / "cut.png"
    broken.write_bytes(PIXEL[:50])
    with Simulator([]) as sim, window(sim, folder) as shown:
        shown.paste(str(broken), folder)
        shown.until("cut.png is cut off or damaged")


def test_ctrl_v_pastes_the_image_of_the_clipboard(folder: Path, shot: Path) -> None:
    tools = folder.parent / "tools"
    tools.mkdir()
    (tools / "xclip").write_text(f"#!/bin/sh\nexec cat '{shot}'\n")
    (tools / "xclip").chmod(0o755)
    more = {"PATH": f"{tools}:/usr/bin:/bin", "DISPLAY": ":9"}
    with Simulator([say("A dot.")]) as sim, window(sim, folder, **more) as shown:
        shown.keys("C-v")
        shown.until("> [image 1: clipboard 69 bytes]")
        (tools / "xclip").write_text("#!/bin/sh\nexit 1\n")
        shown.keys("C-v")
        shown.until("there is no image in the clipboard")
        shown.type(" and?")
        shown.until("A dot.")
        assert images(sim) == 1


def test_an_image_waits_in_the_input_while_the_agent_works(folder: Path, shot: Path) -> None:
    script = [call("bash", command="echo on; sleep 600"), say("A dot.")]
    with Simulator(script) as sim, window(sim, folder, "go on", "--mode", "bypass") as shown:
        shown.until("    on")
        shown.paste(str(shot), folder)
        shown.until("> [image 1: my shot.png 69 bytes]")
        shown.keys("Enter")
        shown.until("an image has to wait until the agent rests")
        shown.keys("Escape")
        shown.until("⏹ interrupted ·")
        shown.keys("Enter")
        shown.until("A dot.")
        assert images(sim) == 1
