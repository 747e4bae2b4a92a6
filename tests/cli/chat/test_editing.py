"""The input in the user's own editor, and with the keys of vim."""

import asyncio
from pathlib import Path

import pytest

from outlive.cli.chat.input.editing import EditorFailed, edited
from tests.cli.chat.test_terminal import Open, needs_tmux, transcript


def script(folder: Path, text: str) -> str:
    """An editor that is a shell script; `$1` is the file."""
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_the_file_is_for_its_owner_alone_and_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = (
        'stat -c %a "$2" "$(dirname "$2")" > "$1"; echo "$2" >> "$1"; cat "$2" >> "$1"; printf "new\nlines\n" > "$2"'
    )
    monkeypatch.setenv("VISUAL", f"{script(tmp_path, keep)} '{tmp_path}/seen by it'")
    assert asyncio.run(edited("old")) == "new\nlines"
    file_mode, folder_mode, name, text = (tmp_path / "seen by it").read_text().splitlines()
    assert (file_mode, folder_mode, text) == ("600", "700", "old")
    assert not Path(name).parent.exists()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("/no/such/editor", "cannot be started"),
        ("'", "cannot be read as a command"),
        ("false", "ended with exit code 1; the prompt is as it was"),
    ],
)
def test_the_failure_of_an_editor_is_said(command: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", command)
    with pytest.raises(EditorFailed, match=says):
        asyncio.run(edited("text"))


def test_a_link_in_the_place_of_the_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", script(tmp_path, 'ln -sf /etc/passwd "$1"'))
    with pytest.raises(EditorFailed, match="cannot be read"):
        asyncio.run(edited("text"))


@needs_tmux
def test_ctrl_g_edits_the_input_and_ctrl_c_in_the_editor_stops_nothing(terminal: Open, tmp_path: Path) -> None:
    wait = f"until [ -e '{tmp_path}/go' ]; do sleep 0.05; done"
    wait = f'trap \'echo interrupted\' INT; cat "$1"; {wait}; echo edited > "$1"'
    window = terminal("short", VISUAL=script(tmp_path, wait))
    window.type("begin")
    window.until("bash sleep 2")
    window.tmux("send-keys", "-t", "main", "-l", "first draft")
    window.until("> first draft")
    window.keys("C-g")
    window.until("\nfirst draft\n")
    window.keys("C-c")
    window.until("interrupted")
    (tmp_path / "go").touch()
    window.until("\n> edited\n")
    window.until("I heard both.")
    window.keys("Enter")
    window.until("Third.")
    assert "edited" in transcript(tmp_path)
    assert "Interrupted" not in transcript(tmp_path)


@needs_tmux
def test_an_editor_that_fails_leaves_the_input_as_it_was(terminal: Open) -> None:
    window = terminal("quick", VISUAL="false")
    window.tmux("send-keys", "-t", "main", "-l", "my words")
    window.until("> my words")
    window.keys("C-g")
    window.until("ended with exit code 1")
    window.until("\n> my words\n")


@needs_tmux
def test_keys_of_vim(terminal: Open, tmp_path: Path) -> None:
    window = terminal("slow", SCENE_TERMINAL='keys = "vim"')
    window.until("  insert · sonnet")
    window.tmux("send-keys", "-t", "main", "-l", "one two three")
    window.until("> one two three")
    window.keys("Escape")
    window.until("  normal · sonnet")
    window.keys("0", "d", "w", "A")
    window.until("> two three")
    window.until("  insert · sonnet")
    window.type(" four")
    window.until("    started")
    window.keys("Escape")  # to normal mode, nothing else
    window.until("  normal · sonnet")
    assert "interrupted" not in window.screen()
    window.keys("Escape")
    window.until("⏹ interrupted ·")
    assert "two three four" in transcript(tmp_path)
