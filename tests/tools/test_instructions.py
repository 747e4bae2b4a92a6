"""Project instructions: found, marked with their place, bounded, read again when they change."""

from pathlib import Path

import pytest

from outlive.tools.instructions import MAX_FILE_CHARS, MAX_TOTAL_CHARS, Instructions


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo/app"
    root.mkdir(parents=True)
    (tmp_path / "repo/.git").mkdir()
    return root.resolve()


def test_nothing_there_is_nothing_said(root: Path) -> None:
    assert Instructions(root, root / "home").text() == ""


def test_the_most_general_comes_first_and_each_is_marked(root: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "AGENTS.md").write_text("of the user")
    (tmp_path / "repo/CLAUDE.md").write_text("of the repository")
    (root / "AGENTS.md").write_text("of the app")
    (root / "CLAUDE.md").write_text("also of the app")
    (tmp_path / "AGENTS.md").write_text("above git, a stranger's")
    text = Instructions(root, home).text()
    places = (home / "AGENTS.md", tmp_path / "repo/CLAUDE.md", root / "AGENTS.md", root / "CLAUDE.md")
    assert [line for line in text.splitlines() if line.startswith("[")] == [
        f"[instructions from {place}]" for place in places
    ]
    assert "stranger" not in text


def test_without_git_only_the_root_speaks(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("above")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/AGENTS.md").write_text("here")
    text = Instructions(tmp_path / "w").text()
    assert "here" in text
    assert "above" not in text


def test_the_same_words_come_once(root: Path) -> None:
    (root / "AGENTS.md").write_text("twice")
    (root / "CLAUDE.md").write_text("twice")
    assert Instructions(root).text().count("twice") == 1
    (root / "CLAUDE.md").unlink()
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    assert Instructions(root).text().count("twice") == 1


def test_a_link_to_a_file_of_the_machine_is_not_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")
    (root / "AGENTS.md").symlink_to(tmp_path / "key")
    (root / "sub").mkdir()
    (root / "sub/AGENTS.md").symlink_to(tmp_path / "key")
    instructions = Instructions(root)
    assert "secret" not in instructions.text() + instructions.nested("sub/x.py")


def test_the_users_own_may_be_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.md").write_text("mine")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/AGENTS.md").symlink_to(tmp_path / "dotfiles.md")
    assert "mine" in Instructions(root, tmp_path / "home").text()


def test_what_is_too_long_is_cut_and_that_is_said(root: Path, tmp_path: Path) -> None:
    (root / "AGENTS.md").write_text("é" * (MAX_FILE_CHARS + 50))
    text = Instructions(root).text()
    assert "50 of 32050 characters are left out" in text
    home = tmp_path / "home"
    home.mkdir()
    for number, path in enumerate(
        (home / "AGENTS.md", home / "CLAUDE.md", tmp_path / "repo/AGENTS.md", root / "CLAUDE.md")
    ):
        path.write_text(f"{number}" * MAX_FILE_CHARS)
    text = Instructions(root, home).text()
    assert len(text) < MAX_TOTAL_CHARS + 2000
    assert text.count("cut here") == 2


def test_folders_below_speak_when_something_there_is_touched(root: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "AGENTS.md").write_text("root")
    (root / "a/AGENTS.md").write_text("for a")
    (root / "a/b/CLAUDE.md").write_text("for b")
    instructions = Instructions(root)
    assert "for a" not in instructions.text()
    said = instructions.nested("a/b/new.py")
    assert said.index("for a") < said.index("for b")
    assert "root" not in said.replace(str(root), "")
    assert instructions.nested(str(root / "a/b/other.py")) == ""
    (root / "a/AGENTS.md").write_text("for a, changed")
    assert "changed" in instructions.nested("a/x")
    assert instructions.nested("x.py") == ""
    assert instructions.nested("../../x.py") == ""


def test_a_folder_named_like_instructions_harms_nothing(root: Path) -> None:
    (root / "AGENTS.md").mkdir()
    (root / "CLAUDE.md").write_bytes(b"\xff\xfe text")
    assert "text" in Instructions(root).text()
