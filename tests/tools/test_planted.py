"""Whatever lies under the name of a file of settings or instructions: it is refused by name, or it does not count."""

from collections.abc import Callable
from pathlib import Path

import pytest

from outlive.agent.log.world import World
from outlive.cli.chat.input.history import ProjectHistory
from outlive.config import Workspace
from outlive.config.dotenv import DotEnv
from outlive.config.home import project_folder, trusted
from outlive.errors import ConfigError
from outlive.tools.instructions import Instructions
from outlive.tools.permissions.modes import remember_mode, resumed_mode
from outlive.tools.permissions.trust import remember, remembered
from outlive.tools.skills import Skills
from tests.planted import PLANTS, endless, ends, fifo, huge, plant, untouched

Plant = Callable[[Path], None]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("OUTLIVE_HOME", str(tmp_path / "home"))
    return tmp_path / "work"


@pytest.mark.parametrize("kind", PLANTS)
def test_planted_settings_are_refused_by_name(root: Path, kind: Plant) -> None:
    path = root / "outlive.toml"
    plant(kind, path)
    with ends(), pytest.raises(ConfigError, match=rf"^{path}: is "):
        Workspace.read(root)


@pytest.mark.parametrize("kind", PLANTS)
def test_a_planted_env_is_refused_by_name_unless_it_is_a_folder(root: Path, kind: Plant) -> None:
    path = root / ".env"
    plant(kind, path)
    if path.is_dir() and not path.is_symlink():
        assert DotEnv(Workspace.read(root)).variables == {}, "a virtual environment may have that name"
        return
    with ends(), pytest.raises(ConfigError, match=rf"^{path}: is "):
        DotEnv(Workspace.read(root))


def test_the_users_own_settings_may_be_a_link(root: Path) -> None:
    home = root.parent / "home"
    (root.parent / "dotfiles.toml").write_text('[agent]\nmodel = "x"\n')
    (home / "outlive.toml").symlink_to(root.parent / "dotfiles.toml")
    assert Workspace.read(home).agent == {"model": "x"}
    (home / "outlive.toml").unlink()
    endless(home / "outlive.toml")
    with pytest.raises(ConfigError, match="a device"):
        Workspace.read(home)


@pytest.mark.parametrize("kind", PLANTS)
@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md"])
def test_planted_instructions_say_nothing(root: Path, kind: Plant, name: str) -> None:
    plant(kind, root / name)
    with ends():
        text = Instructions(root).text()
    assert "precious" not in text
    assert len(text) < 100_000


@pytest.mark.parametrize("kind", PLANTS)
def test_a_planted_skill_is_none(root: Path, kind: Plant) -> None:
    plant(kind, root / "skills/evil/SKILL.md")
    (root / "skills/good").mkdir()
    (root / "skills/good/SKILL.md").write_text("---\nname: good\ndescription: helps\n---\n")
    with ends():
        assert [*Skills(root).found()] == ["good"]


@pytest.mark.parametrize("kind", PLANTS)
def test_a_planted_history_of_prompts_is_left_alone(root: Path, kind: Plant) -> None:
    path = root / ".outlive/history"
    plant(kind, path)
    history = ProjectHistory(root / ".outlive")
    with ends():
        assert list(history.load_history_strings()) == []
        history.store_string("hello")
    assert untouched(path)


def test_a_folder_of_ours_that_is_a_link_gets_no_history_of_prompts(root: Path, tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (elsewhere / "history").write_text('"not ours"\n')
    (root / ".outlive").symlink_to(elsewhere)
    history = ProjectHistory(root / ".outlive")
    history.store_string("hello")
    assert list(history.load_history_strings()) == []
    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"history": '"not ours"\n'}


def test_a_long_history_of_prompts_is_read_from_its_end(root: Path) -> None:
    path = root / ".outlive/history"
    plant(huge, path)
    history = ProjectHistory(root / ".outlive")
    history.store_string("\nthe last")
    with path.open("ab") as file:
        file.write(b'"newest"\n')
    assert next(iter(history.load_history_strings())) == "newest"


@pytest.mark.parametrize("kind", PLANTS)
def test_what_the_user_allowed_is_not_read_from_a_planted_file(root: Path, kind: Plant) -> None:
    remember(root, "bash(make)")
    path = project_folder(root) / "permissions.json"
    plant(kind, path)
    with ends(), pytest.raises(ConfigError, match=str(path)):
        remembered(root)
    trust_file = root.parent / "home/trusted.json"
    plant(kind, trust_file)
    with ends(), pytest.raises(ConfigError, match=str(trust_file)):
        trusted(root / "outlive.toml", "digest")


@pytest.mark.parametrize("kind", PLANTS)
def test_a_wide_mode_does_not_come_from_a_planted_file(root: Path, kind: Plant) -> None:
    remember_mode(root, "s", "bypass")
    (path,) = (project_folder(root) / "modes").iterdir()
    assert resumed_mode(root, ["s"], "bypass") == "bypass"
    plant(kind, path)
    with ends():
        assert resumed_mode(root, ["s"], "bypass") == "ask"


@pytest.mark.parametrize("kind", [fifo, endless, huge])
def test_a_file_that_the_log_names_is_looked_at_within_bounds(root: Path, kind: Plant) -> None:
    plant(kind, root / "seen.txt")
    with ends():
        assert World(root).hash("seen.txt") == ""
