"""Without a terminal: lines in, lines out, no escape codes, an exit code that a script can use."""

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.chat.test_terminal import PATIENCE
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


def test_a_dumb_terminal_gets_lines_and_can_answer(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tests.cli.chat.scenes", "asking", str(tmp_path)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**worker_environment(), "TERM": "dumb"},
        start_new_session=True,
    ) as process:
        os.close(slave)
        seen = b""

        def until(text: bytes) -> None:
            nonlocal seen
            while text not in seen:
                assert select.select([master], [], [], PATIENCE)[0], f"waited in vain for {text!r} after {seen!r}"
                seen += os.read(master, 4096)

        until(b"> ")
        os.write(master, b"do it\n")
        until(b"a for always bash")
        os.write(master, b"y\n")
        until(b"a for always edit_file")
        os.write(master, b"not this one\n")
        until(b"All done.")
        os.write(master, b"\x04")
        assert process.wait(timeout=300) == 0
    os.close(master)
    assert b"\x1b" not in seen
    assert b"the user said no: not this one" in seen
    assert (tmp_path / "allowed.txt").exists()


def test_plain_mode_at_a_terminal_says_everything_in_lines_of_words(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tests.cli.chat.scenes", "asking", str(tmp_path)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**worker_environment(), "TERM": "xterm-256color", "SCENE_TERMINAL": "plain = true"},
        start_new_session=True,
    ) as process:
        os.close(slave)
        seen = b""

        def until(text: str) -> None:
            nonlocal seen
            while text.encode() not in seen:
                if not select.select([master], [], [], PATIENCE)[0]:
                    process.kill()
                    pytest.fail(f"waited in vain for {text!r} after {seen!r}")
                seen += os.read(master, 4096)

        until("> ")
        os.write(master, b"/mode\n")
        until("4. bypass, asks nothing")
        os.write(master, b"1\n")
        until("> ")
        os.write(master, b"do it\n")
        until(
            "permission needed: bash echo allowed > allowed.txt\r\n  type y for yes, n for no, and why, a for always"
        )
        os.write(master, b"y\n")
        until("tool: bash echo allowed > allowed.txt done")
        until("permission needed: edit_file parser.py")
        os.write(master, b"not this one\n")
        until("tool: edit_file parser.py failed")
        until("All done.")
        os.write(master, b"\x04")
        assert process.wait(timeout=300) == 0
    os.close(master)
    assert b"\x1b" not in seen
    assert not [mark for mark in "\u25cf\u2713\u2717\u280b" if mark.encode() in seen]
