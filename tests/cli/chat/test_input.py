"""What helps with typing: pastes, history, completion."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from outlive.cli.chat.input.completing import ChatCompleter
from outlive.cli.chat.input.history import ProjectHistory
from outlive.cli.chat.input.pasting import FOLDED_PASTE_CHARS, Pastes
from outlive.cli.chat.slash import is_command
from outlive.stores.logs.protocol import SessionInfo

WALL = "x y z\n" * 500


def test_a_small_paste_is_what_it_is() -> None:
    assert Pastes().shown("one\r\ntwo\rthree") == "one\ntwo\nthree"


def test_a_large_paste_is_a_placeholder_and_is_sent_in_full() -> None:
    pastes = Pastes()
    shown = pastes.shown(WALL)
    assert shown == "[pasted 500 lines]"
    assert pastes.whole(f"look at {shown} please") == f"look at {WALL} please"


def test_two_pastes_of_the_same_size_do_not_mix() -> None:
    pastes = Pastes()
    first, second = pastes.shown(WALL), pastes.shown(WALL.replace("x", "a"))
    assert first != second
    assert pastes.whole(f"{first}|{second}") == f"{WALL}|{WALL.replace('x', 'a')}"
    assert pastes.shown(WALL) == first


def test_one_long_line_counts_characters() -> None:
    assert Pastes().shown("x" * (FOLDED_PASTE_CHARS + 1)) == "[pasted 2,001 characters]"


def test_history_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / ".outlive"
    os.umask(0o000)
    try:
        history = ProjectHistory(folder)
        history.append_string("first\nwith two lines")
        history.append_string("second")
    finally:
        os.umask(0o022)
    assert stat.S_IMODE((folder / "history").stat().st_mode) == 0o600
    assert list(ProjectHistory(folder).load_history_strings()) == ["second", "first\nwith two lines"]
    assert "history" in (folder / ".gitignore").read_text()


def test_history_does_not_follow_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / ".outlive").mkdir()
    (tmp_path / ".outlive" / "history").symlink_to(victim)
    history = ProjectHistory(tmp_path / ".outlive")
    history.append_string("words")
    assert victim.read_text() == "precious"
    assert list(history.load_history_strings()) == []


def test_damaged_history_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    (tmp_path / "history").write_bytes(b'"good"\n\xff{bad\n"also good"\n')
    assert list(ProjectHistory(tmp_path).load_history_strings()) == ["also good", "good"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("src/app.py", "src/apple.txt", "docs/guide.md", ".git/app", "node_modules/app.js"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


def completed(project: Path, text: str, *, asked: bool = False) -> list[str]:
    found = ChatCompleter(project).get_completions(Document(text), CompleteEvent(completion_requested=asked))
    return [text[: len(text) + one.start_position] + one.text for one in found]


def test_commands_are_completed_with_what_they_are_for(project: Path) -> None:
    assert completed(project, "/re") == ["/receipts", "/recall", "/rewind", "/remember", "/renew", "/resume"]
    (one,) = ChatCompleter(project).get_completions(Document("/cos"), CompleteEvent())
    assert one.display_meta_text == "what the session used and what that cost"
    assert completed(project, "/mode p") == ["/mode plan"]


def test_sessions_are_completed_by_what_tells_them_apart(project: Path) -> None:
    infos = [
        SessionInfo(f"20300101-120000-{name}", 0.0, 0.0, 1, 1, title)
        for name, title in [("abc123", "One"), ("abd456", "Two")]
    ]
    found = ChatCompleter(project, lambda: infos).get_completions(Document("/resume abd"), CompleteEvent())
    assert [(one.text, one.display_meta_text) for one in found] == [("abd456", "Two")]


def test_files_are_completed_after_an_at_sign(project: Path) -> None:
    assert completed(project, "look at @src/ap") == ["look at @src/app.py", "look at @src/apple.txt"]
    assert completed(project, "@do") == ["@docs/", "@docs/guide.md"]
    assert completed(project, "@app") == ["@src/app.py", "@src/apple.txt"]
    assert completed(project, "@guide") == ["@docs/guide.md"]


def test_files_are_found_by_letters_in_order_and_ignored_ones_come_last(project: Path) -> None:
    shutil.rmtree(project / ".git")
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    (project / ".gitignore").write_text("*.log\n")
    for name in ("guided.log", "src/a guide.txt"):
        (project / name).write_text("")
    assert completed(project, "@gde") == ["@docs/guide.md", '@"src/a guide.txt"', "@guided.log"]
    assert completed(project, "@guide") == ["@docs/guide.md", '@"src/a guide.txt"', "@guided.log"]
    assert completed(project, "@doc/nothing") == []


def test_paths_are_completed_when_asked_and_not_before(project: Path) -> None:
    assert completed(project, "see src/ap") == []
    assert completed(project, "see src/ap", asked=True) == ["see src/app.py", "see src/apple.txt"]


@pytest.mark.parametrize(
    ("words", "is_one"), [("/help", True), ("/etc/hosts is odd", False), ("/", False), ("a /b", False)]
)
def test_a_path_is_not_a_command(words: str, is_one: bool) -> None:
    assert is_command(words) is is_one
