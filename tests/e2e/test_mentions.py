"""`@file` and `@folder` in a prompt: their content goes with it, as data."""

import json
from pathlib import Path

from outlive.testing import Simulator, call, say
from tests.cli.chat.test_terminal import pytestmark as needs_tmux
from tests.e2e.conftest import MODELS, Client
from tests.e2e.terminal import window

pytestmark = needs_tmux
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738"
    "550000000049454e44ae426082"
)


def attached(sim: Simulator, number: int = -1) -> list[str]:
    return [words for words in sim.requests[number].user_words() if words.startswith("<attached")]


def test_a_file_a_range_and_a_folder_are_put_in_and_it_is_said(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src/app.py").write_text("".join(f"line = {number}\n" for number in range(1, 51)))
    with Simulator([say("I see.")]) as sim, window(sim, folder) as shown:
        shown.type("see @data.txt:3-4, @src/ and @src/app.py; mail anna@src and use @property")
        screen = shown.until("I see.")
        assert "· put in: data.txt, lines 3-4" in screen
        assert "· put in: src/ (1 line)" in screen
        assert "· put in: src/app.py (50 lines)" in screen
        words = attached(sim)
        assert words[0].startswith("<attached-file>data.txt, lines 3-4\n    3\tname_2 = 74\n    4\tname_3 = 111\n")
        assert words[1] == "<attached-folder>src/\nsrc/app.py</attached-folder>"
        assert words[2].startswith("<attached-file>src/app.py\n    1\tline = 1\n")
        assert len(words) == 3
    (log,) = (folder / ".transcripts").glob("*.jsonl")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    (said,) = (event for event in events if event["type"] == "user_said")
    assert [block.get("origin") for block in said["blocks"]][:4] == ["user", "stdin", "stdin", "stdin"]


def test_nothing_outside_of_the_folder_or_denied_is_put_in_and_it_is_said(folder: Path) -> None:
    (folder.parent / "private.txt").write_text("the secret word\n")
    (folder / "link.txt").symlink_to(folder.parent / "private.txt")
    (folder / "denied.txt").write_text("the secret word\n")
    with Simulator([say("No.")]) as sim:
        result = Client(folder, sim)("-p", "@../private.txt @link.txt @denied.txt", "--deny", "read_file(denied.txt)")
        assert result.code == 0, result.err
        words = sim.requests[0].user_words()
    assert not any("secret word" in text for text in words)
    problems = [text for text in words if "not put in: @" in text]
    assert [text.partition("@")[2].partition(":")[0] for text in problems] == [
        "../private.txt",
        "link.txt",
        "denied.txt",
    ]


def test_an_image_is_an_image_and_secrets_are_masked(folder: Path) -> None:
    key = "sk-ant-api03-" + "k7Qx" * 24
    (folder / "dot.png").write_bytes(PIXEL)
    (folder / "keys.txt").write_text(f"{key}\n")
    with Simulator([say("A dot.")]) as sim:
        assert Client(folder, sim)("-p", "what is on @dot.png and @keys.txt?").code == 0
        (message,) = sim.requests[0].body["messages"]
    kinds = [block["type"] for block in message["content"]]
    assert kinds.count("image") == 1
    assert key not in json.dumps(message)


def test_a_file_that_does_not_fit_is_shown_in_part_with_a_handle(folder: Path) -> None:
    wall = "".join(f"row {number} of the wall is here\n" for number in range(1, 2001))
    for name in ("one.txt", "two.txt", "three.txt"):
        (folder / name).write_text(wall.replace("wall", name))
    with Simulator([say("Large.")]) as sim:
        result = Client(folder, sim)("-p", "compare @one.txt @two.txt @three.txt", "--context-window", "32000")
        assert result.code == 0, result.err
        words = attached(sim)
    assert sum(map(len, words)) < 3 * 32_000
    assert any("@h" in text for text in words)


def test_words_queued_meanwhile_bring_their_files_when_they_are_sent(folder: Path) -> None:
    script = [call("bash", command="echo on; sleep 3"), say("Both.")]
    with Simulator(script) as sim, window(sim, folder, "go on", "--mode", "bypass") as shown:
        shown.until("    on")
        shown.type("and @data.txt:7")
        shown.until("queued > and @data.txt:7")
        shown.until("Both.")
        (words,) = attached(sim)
        assert words.startswith("<attached-file>data.txt, line 7\n    7\tname_6 = 222\n[lines 7-7 of 1,000")


def test_a_few_letters_find_the_file(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src/parser_of_headers.py").write_text("x = 1\n")
    with Simulator([say("I see.")]) as sim, window(sim, folder) as shown:
        shown.tmux("send-keys", "-t", "main", "-l", "look at @phead")
        shown.until("src/parser_of_headers.py")
        shown.keys("Tab")
        shown.until("> look at @src/parser_of_headers.py")
        shown.keys("Enter", "Enter")
        shown.until("I see.")
        assert attached(sim)[0].startswith("<attached-file>src/parser_of_headers.py\n    1\tx = 1")


def test_lines_of_a_pipe_may_name_files_too(folder: Path) -> None:
    with Simulator([say("I see."), say("I see.")]) as sim:
        result = Client(folder, sim)("--model", MODELS[0], stdin="look at @data.txt:2\n")
        assert result.code == 0, result.err
        assert "name_1 = 37" in attached(sim)[0]
