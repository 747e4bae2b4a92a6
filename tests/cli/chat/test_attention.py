"""The title of the window, the bell and notifications: said once, and not to somebody who looks."""

import os
import pty
import re
import select
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from outlive.cli.chat.attention import LONG_SECONDS, Attention, State, notification
from outlive.cli.chat.preferences import Preferences
from tests.cli.chat.test_terminal import PATIENCE, Open, needs_tmux, transcript
from tests.engines import ROOT, worker_environment


class Watched:
    """Attention with a clock of its own, and what it wrote."""

    def __init__(self, **wanted: object) -> None:
        self.now = 0.0
        self.written: list[str] = []
        self.attention = Attention(
            self.written.append,
            Preferences(**wanted),  # type: ignore[arg-type]
            {"TERM": "xterm"},
            clock=lambda: self.now,
        )

    def goes(self, state: State, after: float = 0.0) -> str:
        """What is written when it goes to a state."""
        self.now += after
        before = len(self.written)
        self.attention.update(state, "Fix the parser", "bash make" if state == "needs you" else "")
        return "".join(self.written[before:])


def test_the_title_says_the_state_and_is_written_only_when_it_changes() -> None:
    watched = Watched()
    assert watched.goes("idle") == "\x1b]2;idle · Fix the parser\x07"
    assert watched.goes("idle") == ""
    assert watched.goes("working") == "\x1b]2;working · Fix the parser\x07"
    assert Watched(title=False).goes("working") == ""


@pytest.mark.parametrize(("seconds", "rings"), [(LONG_SECONDS - 1, False), (LONG_SECONDS + 1, True)])
def test_without_focus_reports_only_long_work_rings(seconds: float, rings: bool) -> None:
    watched = Watched(title=False)
    watched.goes("working")
    assert (watched.goes("idle", after=seconds) == "\x07") is rings
    assert watched.goes("idle", after=60) == ""


def test_a_question_that_stays_open_rings_once_it_is_long() -> None:
    watched = Watched(title=False)
    watched.goes("working")
    assert watched.goes("needs you", after=1) == ""
    assert watched.goes("needs you", after=LONG_SECONDS) == "\x07"
    assert watched.goes("needs you", after=60) == ""


def test_nobody_who_looks_is_rung_for_and_who_looks_away_is_at_once() -> None:
    watched = Watched(title=False)
    watched.attention.focused = True
    watched.goes("working")
    assert watched.goes("needs you", after=60) == ""
    watched.attention.focused = False
    assert watched.goes("needs you") == "\x07"
    watched.goes("working")
    assert watched.goes("idle", after=0.1) == "\x07"


def test_off_is_silent_and_asks_for_no_reports() -> None:
    watched = Watched(title=False, notify="off")
    watched.attention.focused = False
    watched.attention.begin()
    watched.goes("working")
    assert watched.goes("idle", after=60) == ""
    watched.attention.end()
    assert watched.written == []


def test_a_notification_says_what_is_needed() -> None:
    watched = Watched(title=False, notify="desktop")
    watched.attention.focused = False
    watched.goes("working")
    assert watched.goes("needs you") == "\x1b]9;outlive needs you: bash make\x07\x07"


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"TERM": "xterm-kitty"}, "\x1b]9;done: a,b\x07"),
        ({"TERM": "foot"}, "\x1b]777;notify;done;a,b\x07"),
        ({"VTE_VERSION": "7000", "TERM": "xterm"}, "\x1b]777;notify;done;a,b\x07"),
        ({"TMUX": "/tmp/x", "TERM": "screen"}, "\x1bPtmux;\x1b\x1b]9;done: a,b\x07\x1b\\"),
    ],
)
def test_each_terminal_gets_the_code_it_knows(environment: dict[str, str], code: str) -> None:
    assert notification("done", "a;b", environment) == code


def test_a_title_holds_no_escape_codes() -> None:
    watched = Watched()
    watched.attention.update("idle", "a\x1b]0;owned\x07\nb" * 50)
    assert watched.written[0].count("\x1b") == 1
    assert len(watched.written[0]) < 100


@needs_tmux
def test_the_window_is_named_after_the_session_and_its_state(terminal: Open) -> None:
    window = terminal("asking")

    def title() -> str:
        return window.tmux("display-message", "-p", "-t", "main", "#{pane_title}").strip()

    window.type("do it")
    window.when(lambda _: title() == "needs you · do it", "the title of a question")
    window.keys("C-c")
    window.when(lambda _: title() == "idle · do it", "the title at rest")
    window.keys("C-d")
    window.until("EXIT 0")
    assert "do it" not in title()


def test_a_terminal_that_reports_its_focus_is_rung_and_left_as_it_was(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    with subprocess.Popen(
        [sys.executable, "-m", "tests.cli.chat.scenes", "quick", str(tmp_path)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**worker_environment(), "TERM": "xterm-256color"},
        start_new_session=True,
    ) as process:
        os.close(slave)
        seen = b""

        def until(pattern: bytes) -> None:
            nonlocal seen
            while not re.search(pattern, seen, re.DOTALL):
                assert select.select([master], [], [], PATIENCE)[0], f"{pattern!r} was not seen in {seen!r}"
                seen += os.read(master, 65536)

        try:
            until(rb"\x1b\[\?1004h.*200k")
            os.write(master, b"\x1b[Ogo\r")  # the focus goes elsewhere, then words are typed (as by a script)
            until(rb"idle \xc2\xb7 go\x07.*?\x07")
            assert "text='go'" in transcript(tmp_path)  # the report was no text
            os.write(master, b"\x04")
            until(rb"\x1b\[\?1004l.*\x1b\]2;\x07\x1b\[23;2t")
            assert process.wait(timeout=PATIENCE) == 0
        finally:
            process.kill()
    os.close(master)
