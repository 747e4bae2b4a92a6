"""At a real terminal, in tmux: typed keys go in, what a person would see comes out."""

import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from rich.cells import cell_len

from outlive.stores import open_stores
from tests.engines import ROOT, worker_environment

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="NO TMUX: the terminal is not tested as a whole")
pytestmark = needs_tmux
PATIENCE = float(os.environ.get("OUTLIVE_TEST_PATIENCE", "300"))


class Terminal:
    """One window with the program in it."""

    def __init__(
        self, socket: Path, scene: str, folder: Path, *, columns: int, rows: int, more: dict[str, str]
    ) -> None:
        self.socket = socket
        env = {**worker_environment(), "LANG": "C.UTF-8", "TERM": "tmux-256color", **more}
        words = [f"{key}={value}" for key, value in env.items() if key not in ("COLUMNS", "LINES")]
        command = ["env", "-i", *words, sys.executable, "-m", "tests.cli.chat.scenes", *scene.split(), str(folder)]
        shell = f"cd {shlex.quote(str(ROOT))}; {shlex.join(command)}; echo EXIT $?; read wait"
        size = ["-x", str(columns), "-y", str(rows)]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "main", *size, shell)

    def tmux(self, *words: str) -> str:
        environment = {key: value for key, value in os.environ.items() if key != "TMUX"} | {"LANG": "C.UTF-8"}
        return subprocess.run(
            ["tmux", "-u", "-S", str(self.socket), *words],
            capture_output=True,
            encoding="utf-8",
            check=True,
            env=environment,
        ).stdout

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", "-t", "main", *keys)

    def type(self, words: str) -> None:
        self.tmux("send-keys", "-t", "main", "-l", words)
        self.until(words.splitlines()[-1][-20:])
        self.keys("Enter")

    def screen(self, *options: str) -> str:
        shown = self.tmux("capture-pane", "-p", "-J", "-S", "-500", "-t", "main", *options)
        return "\n".join(line.rstrip() for line in shown.split("\n"))

    def until(self, text: str, *options: str) -> str:
        """Wait until it is seen."""
        return self.when(lambda shown: text in shown, text, *options)

    def when(self, seen: Callable[[str], bool], what: str, *options: str) -> str:
        end = time.monotonic() + PATIENCE
        while not seen(shown := self.screen(*options)):
            assert time.monotonic() < end, f"{what!r} was not seen:\n{shown}"
            time.sleep(0.03)
        return shown

    def resize(self, columns: int) -> None:
        self.tmux("resize-window", "-t", "main", "-x", str(columns))


Open = Callable[..., Terminal]


def transcript(folder: Path) -> str:
    store = open_stores(f"files:{folder / '.tasks'}").logs
    (info,) = store.sessions()
    return str(store.read(info.id))


def test_a_conversation_from_the_first_word_to_leaving(terminal: Open) -> None:
    window = terminal("quick")
    window.type("look around")
    shown = window.until("First.")
    assert "> look around\n\n● bash echo 1; false ✗ exit 1\n    1\n\nFirst.\n" in shown
    window.keys("C-o")
    window.when(lambda shown: "command echo 1; false" in shown and "working" not in shown, "idle")
    window.keys("C-d")
    assert "outlive --resume " in window.until("EXIT 0")


def test_words_typed_meanwhile_are_queued_and_then_heard(terminal: Open) -> None:
    window = terminal("short")
    window.type("go")
    window.until("bash sleep 2")
    window.type("and the docs")
    window.until("queued > and the docs")
    shown = window.until("I heard both.")
    assert "queued" not in shown
    assert shown.index("● bash sleep 2") < shown.index("> and the docs") < shown.index("I heard both.")


def test_ctrl_c_stops_the_tool_and_twice_when_idle_leaves(terminal: Open) -> None:
    window = terminal("slow")
    window.type("go")
    window.until("    started")
    window.type("not heard yet")
    window.until("queued > not heard yet")
    window.keys("C-c")
    shown = window.until("⏹ interrupted ·")
    assert "● bash echo started; sleep 30 ⏹ interrupted" in shown
    window.until("\n> not heard yet\n")  # given back, to be sent again or not
    window.keys("C-c", "C-c")
    window.until("EXIT 0")


def test_escape_stops_what_runs_and_nothing_else(terminal: Open) -> None:
    window = terminal("slow")
    window.keys("Escape")
    window.type("run it")
    window.until("started")
    window.keys("Escape")
    window.until("⏹ interrupted ·")
    window.keys("C-c", "C-c")
    window.until("EXIT 0")


def test_a_question_is_answered_by_a_key(terminal: Open, tmp_path: Path) -> None:
    window = terminal("asking")
    window.type("do it")
    window.until("a always bash(echo allowed > allowed.txt*)")
    assert not (tmp_path / "allowed.txt").exists()
    window.until("\x1b[36my", "-e")
    window.keys("y")
    shown = window.until("? edit_file parser.py")
    assert "● bash echo allowed > allowed.txt ✓" in shown
    assert "  -    return name, value\n  +    return name.strip(), value.strip()\n" in shown
    window.when(lambda shown: shown.count("\x1b[36my") == 1, "armed", "-e")
    window.keys("n")
    window.until("why:")
    window.type("too early, y")
    shown = window.until("All done.")
    assert "the user said no: too early, y" in shown
    assert "strip" not in (tmp_path / "parser.py").read_text()


def test_a_sentence_that_is_being_written_answers_no_question(terminal: Open, tmp_path: Path) -> None:
    window = terminal("asking")
    window.type("do it")
    window.tmux("send-keys", "-t", "main", "-l", "wait")
    window.until("send what you are writing")
    window.tmux("send-keys", "-t", "main", "-l", " yes")
    window.until("> wait yes")
    window.keys("Enter")
    window.until("queued > wait yes")
    window.until("\x1b[36my", "-e")
    assert not (tmp_path / "allowed.txt").exists()
    window.keys("y")
    window.until("? edit_file parser.py")
    assert (tmp_path / "allowed.txt").exists()


def test_an_answer_that_came_too_early_is_given_again_and_leaves_nothing_behind(
    terminal: Open, tmp_path: Path
) -> None:
    window = terminal("asking")
    window.type("do it")
    window.until("? bash echo allowed")
    window.keys("y")
    window.until("\x1b[36my", "-e")
    window.keys("y")
    assert "\n> y" not in window.until("? edit_file parser.py")


def test_enter_at_a_question_does_nothing_until_an_arrow_key_chose_an_answer(terminal: Open, tmp_path: Path) -> None:
    window = terminal("asking")
    window.type("do it")
    window.until("\x1b[36my", "-e")
    window.keys("Enter", "Enter", "Down")
    assert "? bash echo allowed" in window.until("▸ y yes")
    assert not (tmp_path / "allowed.txt").exists()
    window.keys("Enter")
    window.until("? edit_file parser.py")
    assert (tmp_path / "allowed.txt").exists()
    window.until("\x1b[36my", "-e")
    window.keys("Up")
    window.until("▸ n no, and why")
    window.keys("Enter")
    window.until("why:")
    window.type("too early")
    assert "the user said no: too early" in window.until("All done.")


def test_escape_is_no_and_ctrl_c_at_a_question_is_no(terminal: Open, tmp_path: Path) -> None:
    window = terminal("asking")
    window.type("do it")
    window.until("\x1b[36my", "-e")
    window.keys("Escape")
    window.until("? edit_file parser.py")
    window.until("\x1b[36my", "-e")
    window.keys("C-c")
    window.until("⏹ interrupted ·")
    assert not (tmp_path / "allowed.txt").exists()
    assert "strip" not in (tmp_path / "parser.py").read_text()


def test_a_window_made_narrow_and_wide_while_words_arrive_shows_each_once(terminal: Open) -> None:
    window = terminal("rambling", columns=100)
    window.type("go")
    window.until("Paragraph 3")
    window.resize(40)
    window.until("Paragraph 5")
    window.resize(70)
    window.until("Paragraph 7")
    window.resize(31)
    window.until("Paragraph 14")
    shown = window.when(lambda shown: "working" not in shown, "rest")
    numbers = re.findall(r"Paragraph (\d+)", shown)
    assert numbers == [str(number) for number in range(1, 15)]
    assert shown.count("\n> \n") + shown.count("\n>\n") == 1
    assert shown.count("/ 200k") == 1


def test_code_longer_than_the_window_is_printed_whole_and_once(terminal: Open) -> None:
    window = terminal("code", rows=16)
    window.type("go")
    shown = window.until("That is all.")
    assert re.findall(r"# line (\d+)", shown) == [str(number) for number in range(1, 61)]


def test_a_large_paste_is_a_placeholder_and_goes_out_in_full(terminal: Open, tmp_path: Path) -> None:
    window = terminal("quick")
    wall = "".join(f"row {number}\n" for number in range(1, 501))
    (tmp_path / "wall.txt").write_text(wall)
    window.tmux("load-buffer", str(tmp_path / "wall.txt"))
    window.tmux("paste-buffer", "-p", "-t", "main")
    window.until("> [pasted 500 lines]")
    window.type(" please")
    window.until("First.")
    assert "row 500\\n please" in transcript(tmp_path)


def test_a_small_paste_keeps_its_lines_and_is_not_sent(terminal: Open, tmp_path: Path) -> None:
    window = terminal("quick")
    (tmp_path / "few.txt").write_text("one\ntwo")
    window.tmux("load-buffer", str(tmp_path / "few.txt"))
    window.tmux("paste-buffer", "-p", "-t", "main")
    assert "> one\n  two\n" in window.until("  two")
    window.keys("M-Enter")
    window.type("three\\")
    window.type("four")
    window.until("First.")
    assert "one\\ntwo\\nthree\\nfour" in transcript(tmp_path)


def test_lines_that_arrive_in_one_go_are_one_message_though_nothing_marks_a_paste(
    terminal: Open, tmp_path: Path
) -> None:
    window = terminal("quick")
    (tmp_path / "few.txt").write_text("".join(f"row {number}\n" for number in range(1, 31)) + "the end")
    window.tmux("load-buffer", str(tmp_path / "few.txt"))
    window.tmux("paste-buffer", "-t", "main")
    window.until("  the end")
    time.sleep(0.1)  # an Enter by hand is not that close behind
    window.keys("Enter")
    window.until("First.")
    assert "row 1\\nrow 2\\nrow 3\\n" in transcript(tmp_path)
    assert "row 30\\nthe end" in transcript(tmp_path)


def test_forty_columns_are_enough(terminal: Open) -> None:
    window = terminal("prose", columns=40)
    window.type("修正 please")
    shown = window.until("Done.")
    assert all(
        cell_len(line) <= 40 for line in window.tmux("capture-pane", "-p", "-S", "-", "-t", "main").split("\n")
    )
    assert "> 修正 please" in shown
    assert "表示幅の広い文字 also fit." in shown


def test_without_colour_there_is_no_colour(terminal: Open) -> None:
    window = terminal("quick", NO_COLOR="1")
    window.type("go")
    shown = window.until("First.", "-e")
    colours = [code for codes in re.findall(r"\x1b\[([0-9;]*)m", shown) for code in codes.split(";")]
    assert not [code for code in colours if re.fullmatch(r"[349][0-7]|10[0-7]|[34]8", code)]
    assert "1" in colours  # bold is no colour


def test_what_a_model_writes_cannot_set_the_title_or_the_clipboard(terminal: Open) -> None:
    window = terminal("evil")
    window.type("go")
    window.until("The end.")
    assert "owned" not in window.tmux("display-message", "-p", "-t", "main", "#{pane_title}")
    assert "␛]52;c;" in window.screen()
    assert "visible" in window.screen()


def test_completion_and_history_help_with_typing(terminal: Open) -> None:
    window = terminal("quick")
    window.keys("/", "c", "o", "s")
    window.until("/cost  what the session used")
    window.keys("Tab", "Enter", "Enter")
    window.until("nothing yet")
    window.type("first words")
    window.until("First.")
    window.keys("C-r", "w", "o", "r", "d")
    window.until("> first words")
    window.keys("Enter", "C-d")
    again = terminal("quick")
    again.keys("Up")
    again.until("\n> first words\n")


def test_shift_tab_walks_through_the_modes_but_never_to_bypass(terminal: Open) -> None:
    window = terminal("quick")
    for mode in ("accept-edits", "plan", "ask"):
        window.keys("BTab")
        window.until(f"next pass at 27k · {mode} ·")


def test_what_libraries_print_does_not_go_across_the_screen(terminal: Open) -> None:
    window = terminal("noisy")
    window.type("go")
    shown = window.until("First.")
    assert "· a library prints\n· and warns\n● noise ✓" in shown


IDLE_AGAIN = rb"First\..*\x1b\[0;36m> "
"""The answer, and after it a prompt in the colour that it has when nothing works."""


def test_everything_goes_out_in_whole_pictures(tmp_path: Path) -> None:
    """Each drawing is one write between the marks of synchronized output, so that no half of one is ever seen."""
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
        try:
            for drawn, keys in ((b"200k", b"go\r"), (IDLE_AGAIN, b"\x04"), (b"goes on with this session", b"")):
                while not re.search(drawn, seen, re.DOTALL):
                    seen += os.read(master, 65536)
                os.write(master, keys)
            with suppress(OSError):
                while more := os.read(master, 65536):
                    seen += more
            assert process.wait(timeout=300) == 0, seen[-2000:]
        finally:
            process.kill()
    os.close(master)
    between = re.sub(rb"\x1b\[\?2026h.*?\x1b\[\?2026l", b"", seen, flags=re.DOTALL)
    assert between.strip() == b""
    assert seen.count(b"\x1b[?2026h") == seen.count(b"\x1b[?2026l")
    assert b"\x1b[?1049h" not in seen  # never the alternate screen
    assert b"\x1b[6n" not in seen  # and no question to the terminal that it might not answer


def test_sigterm_leaves_in_good_order(terminal: Open) -> None:
    window = terminal("slow")
    window.type("go")
    window.until("    started")
    shell = window.tmux("display-message", "-p", "-t", "main", "#{pane_pid}").strip()
    program = subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True, check=True).stdout.split()[0]
    os.kill(int(program), signal.SIGTERM)
    window.until("EXIT 0")
