"""Without a terminal: lines in, lines out, no escape codes, an exit code that a script can use."""

import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.chat.test_terminal import PATIENCE, transcript
from tests.engines import ROOT, worker_environment


def talk(scene: str, folder: Path, words: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "tests.cli.chat.scenes", scene, str(folder)],
        input=words.encode(),
        capture_output=True,
        cwd=ROOT,
        env={**worker_environment(), "PYTHONIOENCODING": "utf-8", **more},
        timeout=300,
        check=False,
    )


def test_each_line_of_a_pipe_is_a_prompt_and_the_answer_is_plain(tmp_path: Path) -> None:
    run = talk("quick", tmp_path, "one\ntwo \\\nlines\n/cost\n")
    text = run.stdout.decode()
    assert (run.returncode, run.stderr) == (0, b"")
    assert "\x1b" not in text
    assert "\r" not in text
    for part in (
        "> one\n",
        "First.\n",
        "● bash echo 1; false ✗ exit 1\n",
        "> two\n  lines\n",
        "Second.\n",
        "requests  3",
    ):
        assert part in text
    assert text.index("First.") < text.index("> two")


def test_nobody_is_there_to_give_leave_so_the_answer_is_no(tmp_path: Path) -> None:
    run = talk("asking", tmp_path, "do it\n")
    assert "the user said no: there is no terminal" in run.stdout.decode()
    assert not (tmp_path / "allowed.txt").exists()


def test_a_run_that_failed_is_told_by_the_exit_code(tmp_path: Path) -> None:
    run = talk("failing", tmp_path, "do it\n")
    assert run.returncode == 1
    assert "✗ no such model" in run.stdout.decode()


def test_a_sink_that_cannot_show_everything_gets_what_it_can(tmp_path: Path) -> None:
    run = talk("quick", tmp_path, "one\n", PYTHONIOENCODING="ascii")
    assert run.returncode == 0
    assert b"First." in run.stdout


class Lines:
    """A scene at a terminal on which nothing is drawn."""

    def __init__(self, master: int, process: "subprocess.Popen[bytes]") -> None:
        self.master = master
        self.process = process
        self.seen = b""

    def until(self, text: str) -> None:
        while text.encode() not in self.seen:
            if not select.select([self.master], [], [], PATIENCE)[0]:
                self.process.kill()
                pytest.fail(f"waited in vain for {text!r} after {self.seen!r}")
            self.seen += os.read(self.master, 4096)

    def type(self, line: str) -> None:
        os.write(self.master, f"{line}\n".encode())

    def leave(self) -> None:
        os.write(self.master, b"\x04")
        assert self.process.wait(timeout=300) == 0


@contextmanager
def lines_of(scene: str, folder: Path, **more: str) -> Iterator[Lines]:
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tests.cli.chat.scenes", scene, str(folder)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**worker_environment(), **more},
        start_new_session=True,
    ) as process:
        os.close(slave)
        yield Lines(master, process)
    os.close(master)


def test_a_dumb_terminal_gets_lines_and_can_answer(tmp_path: Path) -> None:
    with lines_of("asking", tmp_path, TERM="dumb") as shown:
        shown.until("> ")
        shown.type("do it")
        shown.until("a for always bash")
        shown.type("y")
        shown.until("a for always edit_file")
        shown.type("not this one")
        shown.until("All done.")
        shown.leave()
    assert b"\x1b" not in shown.seen
    assert b"the user said no: not this one" in shown.seen
    assert (tmp_path / "allowed.txt").exists()


def test_plain_mode_at_a_terminal_says_everything_in_lines_of_words(tmp_path: Path) -> None:
    with lines_of("asking", tmp_path, TERM="xterm-256color", SCENE_TERMINAL="plain = true") as shown:
        shown.until("> ")
        shown.type("/mode")
        shown.until("4. bypass, asks nothing")
        shown.type("1")
        shown.until("> ")
        shown.type("do it")
        shown.until(
            "permission needed: bash echo allowed > allowed.txt\r\n  type y for yes, n for no, and why, a for always"
        )
        shown.type("y")
        shown.until("tool: bash echo allowed > allowed.txt done")
        shown.until("permission needed: edit_file parser.py")
        shown.type("not this one")
        shown.until("tool: edit_file parser.py failed")
        shown.until("All done.")
        shown.leave()
    assert b"\x1b" not in shown.seen
    assert not [mark for mark in "\u25cf\u2713\u2717\u280b" if mark.encode() in shown.seen]


def test_a_command_typed_while_the_agent_works_is_obeyed_and_never_told_the_model(tmp_path: Path) -> None:
    with lines_of("short", tmp_path, TERM="dumb") as shown:
        shown.until("> ")
        shown.type("wait for it")
        shown.type("/cost")
        shown.until("requests")
        shown.type("/cots")
        shown.until("there is no /cots")
        shown.type("and this")
        shown.until("queued")
        shown.until("I heard both.")
        shown.leave()
    log = transcript(tmp_path)
    assert "and this" in log
    assert "/co" not in log
