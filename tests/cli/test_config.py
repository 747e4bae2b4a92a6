"""`outlive config`, and the page about settings. `python -m tests.cli.test_config` writes that page."""

from pathlib import Path

import pytest

from outlive.cli.agent.options import run_options
from outlive.cli.config import config_rows
from outlive.cli.fleet.work import work
from outlive.config import Workspace
from outlive.config.home import trust
from outlive.config.settings import SETTINGS, Setting
from outlive.tools.permissions.asking import MODES
from tests.cli.command import Outlive

PAGE = Path(__file__).parent.parent.parent / "docs" / "settings.md"
HEAD = """\
# Settings

Written by `make docs` from the table that checks the files. `outlive config` shows the same, with the values of a
folder and where each comes from.

Settings are in `~/.outlive/outlive.toml` (yours, for all projects) and in the `outlive.toml` of a project, which
wins. What grants something (a model, a wider mode, allow rules, hooks, MCP servers, a store) counts in a project's
file only after `outlive trust`. Options of a command win over both. Besides these there are [hooks](safety.md)
(`[[hooks.EVENT]]`) and [MCP servers](tools.md) (`[mcp.servers.NAME]`).
"""


@pytest.fixture
def outlive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outlive:
    monkeypatch.setenv("OUTLIVE_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    return Outlive(tmp_path / "work")


def row(outlive: Outlive, key: str) -> dict[str, object]:
    (found,) = outlive("config", key, "--json").json
    assert isinstance(found, dict)
    return found


def mine(outlive: Outlive, text: str) -> str:
    path = outlive.folder.parent / "home" / "outlive.toml"
    path.write_text(text)
    return str(path)


def theirs(outlive: Outlive, text: str) -> str:
    path = outlive.folder / "outlive.toml"
    path.write_text(text)
    return str(path)


def test_without_files_everything_is_a_default(outlive: Outlive) -> None:
    rows = outlive("config", "--json").json
    assert [one["key"] for one in rows] == [setting.name for setting in SETTINGS]
    assert {one["origin"] for one in rows} == {"default"}
    assert outlive("config", "--changed", "--json").json == []


def test_the_users_file_counts_and_the_projects_wins(outlive: Outlive) -> None:
    path = mine(outlive, "[context]\nwindow = 50000\npolicy = 'lean'\n[memory]\nextract = 'never'\n")
    assert row(outlive, "context.window") | {"about": ""} == {
        "key": "context.window",
        "value": 50000,
        "origin": path,
        "takes": "number, at least 1000",
        "about": "",
        "option": "--context-window",
        "ignored": None,
    }
    other = theirs(outlive, "[context]\nwindow = 60000\n")
    assert (row(outlive, "context.window")["value"], row(outlive, "context.window")["origin"]) == (60000, other)
    assert row(outlive, "context.policy")["value"] == "lean"
    assert row(outlive, "memory.extract")["value"] == "never"


def test_what_an_untrusted_file_may_not_set_is_shown_as_ignored(outlive: Outlive) -> None:
    theirs(outlive, "[agent]\nmode = 'bypass'\nmax_cost = 2.5\n[permissions]\nallow = ['bash(rm*)']\n")
    assert row(outlive, "agent.mode")["value"] == "ask"
    assert row(outlive, "agent.mode")["ignored"] == "bypass"
    assert row(outlive, "agent.max_cost")["value"] == 2.5
    assert row(outlive, "permissions.allow")["value"] == []
    assert "does not count" in outlive("config", "agent").out
    trust(outlive.folder / "outlive.toml")
    assert row(outlive, "agent.mode")["value"] == "bypass"
    assert row(outlive, "agent.mode")["ignored"] is None
    assert row(outlive, "permissions.allow")["value"] == ["bash(rm*)"]


def test_variables_are_named(outlive: Outlive) -> None:
    (found,) = outlive("config", "agent.model", "--json", MODEL_ID="openai:gpt-6-sol").json
    assert (found["value"], found["origin"]) == ("openai:gpt-6-sol", "MODEL_ID")
    (found,) = outlive("config", "store.url", "--json", OUTLIVE_STORE="sqlite:///x.db").json
    assert (found["value"], found["origin"]) == ("sqlite:///x.db", "OUTLIVE_STORE")


def test_a_password_in_a_store_is_not_shown(outlive: Outlive) -> None:
    shown = outlive("config", "store.url", OUTLIVE_STORE="postgresql://team:hunter2secret@db/work")
    assert "hunter2secret" not in shown.out


def test_an_unknown_key_is_named(outlive: Outlive) -> None:
    refused = outlive("config", "agent.modell")
    assert refused.code == 2
    assert "agent.modell" in refused.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[agent]\nmodell = 'x'", "modell"),
        ("[agent]\nmax_turns = 0", "at least 1"),
        ("[agent]\nmax_turns = true", "number"),
        ("[agent]\nmode = 'plann'", "ask | accept-edits | plan | bypass"),
        ("[agent]\nadd_dirs = [1]", "list of texts"),
        ("[context]\nwindow = 10", "at least 1000"),
        ("[memory]\nrerank = 'yes'", "true | false"),
        ("[mcp]\nservers = 3", "servers"),
        ("[nothing]\nx = 1", "nothing"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_it_takes(outlive: Outlive, text: str, says: str) -> None:
    path = theirs(outlive, text)
    refused = outlive("config")
    assert refused.code == 1
    assert path in refused.err
    assert says in refused.err


def test_thinking_of_the_settings_reaches_the_model(outlive: Outlive) -> None:
    mine(outlive, "[agent]\nthinking = 'sideways'\n")
    refused = outlive("-p", "hi", "--model", "anthropic:claude-sonnet-5-5", ANTHROPIC_API_KEY="x")
    assert "sideways" in refused.err


def test_every_option_that_is_named_exists() -> None:
    @run_options
    def command() -> None: ...

    parameters = [*command.__click_params__, *work.params]  # type: ignore[attr-defined]
    known = {name for parameter in parameters for name in parameter.opts}
    assert {setting.option for setting in SETTINGS if setting.option} <= known
    assert next(setting for setting in SETTINGS if setting.name == "agent.mode").choices == MODES


def test_every_row_is_of_a_setting(tmp_path: Path) -> None:
    assert [one.key for one in config_rows(Workspace.find(tmp_path))] == [setting.name for setting in SETTINGS]


def settings_page() -> str:
    parts = [HEAD]
    for section in dict.fromkeys(setting.section for setting in SETTINGS):
        rows = ["| key | takes | default | option, variable | what it does |", "|---|---|---|---|---|"]
        rows += [_page_row(setting) for setting in SETTINGS if setting.section == section]
        parts += [f"## [{section}]\n", *rows, ""]
    return "\n".join(parts)


def _page_row(setting: Setting) -> str:
    default = "" if setting.default is None else f"`{setting.default!r}`".replace("'", '"')
    also = ", ".join(f"`{name}`" for name in (setting.option, setting.variable) if name)
    return f"| `{setting.key}` | {setting.takes.replace('|', 'or')} | {default} | {also} | {setting.about} |"


def test_the_page_about_settings_is_up_to_date() -> None:
    assert PAGE.read_text() == settings_page(), "run: make docs"


if __name__ == "__main__":
    PAGE.write_text(settings_page())


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("max_cost", "agent.max_cost"),
        ("max-cost", "agent.max_cost"),
        ("durability", "store.durability"),
        ("stor.url", "store.url"),
        ("agnt", "agent"),
    ],
)
def test_a_name_without_its_section_is_told_where_it_is(outlive: Outlive, key: str, meant: str) -> None:
    assert f"did you mean {meant}?" in outlive("config", key).err


def test_a_setting_in_the_wrong_place_of_a_file_is_told_where_it_belongs(outlive: Outlive) -> None:
    for text in ("max_cost = 2\n", "[terminal]\nmax_cost = 2\n"):
        mine(outlive, text)
        assert "max_cost is a setting of [agent]" in outlive("config").err
