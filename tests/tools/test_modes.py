"""A log cannot give itself rights: a wide mode is resumed only if the user chose it on this machine."""

from pathlib import Path

import pytest

from outlive.tools.permissions.modes import remember_mode, resumed_mode


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTLIVE_HOME", str(tmp_path / "home"))


def test_what_the_user_chose_survives_a_resume(tmp_path: Path) -> None:
    remember_mode(tmp_path, "s1", "bypass")
    assert resumed_mode(tmp_path, ["s1"], "bypass") == "bypass"
    remember_mode(tmp_path, "s1", "accept-edits")
    assert resumed_mode(tmp_path, ["s1"], "accept-edits") == "accept-edits"
    assert resumed_mode(tmp_path, ["fork", "s1"], "accept-edits") == "accept-edits"


def test_a_log_that_came_with_the_folder_is_asked_about(tmp_path: Path) -> None:
    for mode in ("bypass", "accept-edits", "", "yolo"):
        assert resumed_mode(tmp_path, ["s1"], mode) == "ask"


def test_a_log_that_claims_more_than_was_chosen_is_asked_about(tmp_path: Path) -> None:
    remember_mode(tmp_path, "s1", "accept-edits")
    assert resumed_mode(tmp_path, ["s1"], "bypass") == "ask"
    assert resumed_mode(tmp_path, ["../s1"], "accept-edits") == "ask"
    assert resumed_mode(tmp_path / "other", ["s1"], "accept-edits") == "ask"


def test_what_narrows_needs_nobodys_word(tmp_path: Path) -> None:
    assert resumed_mode(tmp_path, ["s1"], "plan") == "plan"
    assert resumed_mode(tmp_path, ["s1"], "ask") == "ask"
