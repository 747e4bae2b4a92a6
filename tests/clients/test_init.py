"""`outlive init`: what is written into a client's files, and taken out again."""

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from outlive import __version__
from outlive.clients.setup import TARGETS
from outlive.clients.setup.targets import PACKAGE
from tests.cli.command import Outlive

MINE: dict[str, Any] = {
    "hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "mine"}]}]},
    "other": {"ä": 1},
}
CLIENTS = Path(os.environ.get("OUTLIVE_CLIENTS") or Path.home() / ".cache" / "outlive-clients")
CODEX = CLIENTS / "codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
CLAUDE = CLIENTS / "claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user with settings of their own, written in their own way."""
    home = tmp_path / "home"
    for name in (".claude/skills", ".codex", ".gemini", ".cursor", ".kimi-code", ".outlive", "work"):
        (home / name).mkdir(parents=True)
    (home / ".codex/hooks.json").write_text(json.dumps(MINE, indent=3, ensure_ascii=False))
    (home / ".codex/config.toml").write_text('# mine\nmodel = "x"\n[mcp_servers.other]\ncommand = "y"')
    (home / ".codex/config.toml").chmod(0o600)
    (home / ".codex/hooks.json").chmod(0o666)
    (home / "dotfiles.json").write_text('{"mcpServers": {"theirs": {"command": "z"}}}\n')
    (home / ".cursor/mcp.json").symlink_to(home / "dotfiles.json")
    (home / ".claude/settings.json").write_text("{}")
    return home


@pytest.fixture
def outlive(home: Path) -> Outlive:
    command = Outlive(home / "work")
    command.environment |= {"HOME": str(home), "OUTLIVE_HOME": str(home / ".outlive")}
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_DIR", "CURSOR_DIR", "KIMI_DIR"):
        command.environment.pop(name, None)
    return command


def snapshot(home: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and folder below, with its mode and content."""
    found = {}
    for path in sorted(home.rglob("*")):
        data = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(home))] = (path.lstat().st_mode, data)
    return found


@pytest.mark.parametrize("client", TARGETS)
def test_undo_leaves_no_trace(outlive: Outlive, home: Path, client: str) -> None:
    before = snapshot(home)
    assert outlive("init", client, "--check").code == 1
    assert outlive("init", client, "--yes").code == 0
    changed = snapshot(home)
    assert changed != before
    assert outlive("init", client, "--check").code == 0
    again = outlive("init", client, "--yes", "--json").json
    assert again == {"client": client, "changed": []}
    assert snapshot(home) == changed
    assert outlive("init", client, "--undo", "--yes").code == 0
    assert snapshot(home) == before
    assert "nothing of outlive" in outlive("init", client, "--undo", "--yes").out


def test_what_is_the_users_stays_and_comes_first(outlive: Outlive, home: Path) -> None:
    outlive("init", "codex", "--yes")
    form = json.loads((home / ".codex/hooks.json").read_text())
    assert form["hooks"]["PostToolUse"][0] == MINE["hooks"]["PostToolUse"][0]
    assert "hook codex" in form["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    (of_results,) = form["hooks"]["PostToolUse"][1]["hooks"]
    assert (of_results["type"], of_results["server"]) == ("mcp_tool", "outlive"), "no process for each result"
    assert form["other"] == {"ä": 1}
    assert '\n   "hooks"' in (home / ".codex/hooks.json").read_text()
    assert (home / ".codex/config.toml").read_text().startswith('# mine\nmodel = "x"\n[mcp_servers.other]\n')
    assert (home / ".codex/config.toml").stat().st_mode & 0o777 == 0o600
    outlive("init", "cursor", "--yes")
    assert (home / ".cursor/mcp.json").is_symlink()
    assert set(json.loads((home / "dotfiles.json").read_text())["mcpServers"]) == {"theirs", "outlive"}


def test_a_file_that_was_edited_since_loses_only_what_is_ours(outlive: Outlive, home: Path) -> None:
    outlive("init", "codex", "--yes")
    path, toml = home / ".codex/hooks.json", home / ".codex/config.toml"
    form = json.loads(path.read_text())
    form["hooks"]["Stop"] = [{"hooks": [{"type": "command", "command": "later"}]}]
    path.write_text(json.dumps(form))
    toml.write_text(toml.read_text() + '[later]\na = "b"\n')
    assert outlive("init", "codex", "--undo", "--yes").code == 0
    form = json.loads(path.read_text())
    assert form == {
        **MINE,
        "hooks": {**MINE["hooks"], "Stop": [{"hooks": [{"type": "command", "command": "later"}]}]},
    }
    assert toml.read_text().endswith('command = "y"\n[later]\na = "b"\n')
    assert "outlive" not in toml.read_text()


def test_edits_between_two_set_ups_stay_after_undo(outlive: Outlive, home: Path) -> None:
    outlive("init", "codex", "--yes")
    path = home / ".codex/hooks.json"
    form = json.loads(path.read_text())
    form["hooks"]["Stop"] = [{"hooks": [{"type": "command", "command": "later"}]}]
    del form["hooks"]["SessionEnd"]
    path.write_text(json.dumps(form))
    assert outlive("init", "codex", "--yes").code == 0, "an outdated set-up is renewed"
    assert outlive("init", "codex", "--undo", "--yes").code == 0
    later = {"Stop": form["hooks"]["Stop"]}
    assert json.loads(path.read_text()) == {**MINE, "hooks": {**MINE["hooks"], **later}}


@pytest.mark.parametrize("with_begin", [True, False])
def test_what_a_client_writes_between_our_marks_is_the_users(outlive: Outlive, home: Path, with_begin: bool) -> None:
    """Codex puts new tables before the last comment of the file, and drops the comment of a table it writes again."""
    outlive("init", "codex", "--yes")
    toml = home / ".codex/config.toml"
    theirs = '# theirs\n[mcp_servers.foo]\ncommand = "y"\n\n[features]\na = true\n'
    ours = toml.read_text().removesuffix("# <<< outlive\n")
    ours = ours if with_begin else ours.replace("# >>> outlive\n", "")
    toml.write_text(
        f'{ours}\n[mcp_servers.outlive.tools.recall]\napproval_mode = "approve"\n\n{theirs}# <<< outlive\n'
    )
    outlive("init", "codex", "--yes")
    assert outlive("init", "codex", "--check").code == 0
    assert outlive("init", "codex", "--undo", "--yes").code == 0
    assert toml.read_text() == f'# mine\nmodel = "x"\n[mcp_servers.other]\ncommand = "y"\n\n{theirs}'


def test_what_codex_itself_writes_stays(outlive: Outlive, home: Path) -> None:
    program = shutil.which("codex") or (str(CODEX) if CODEX.exists() else "")
    if not program:
        pytest.skip("no codex on this machine: python -m bench.clients.install codex")
    toml = home / ".codex/config.toml"
    outlive("init", "codex", "--yes")
    for command in (["features", "enable", "unified_exec"], ["mcp", "add", "foo", "--", "program"]):
        subprocess.run([program, *command], env={"HOME": str(home)}, capture_output=True, check=True)
    assert "unified_exec" in toml.read_text()
    assert outlive("init", "codex", "--undo", "--yes").code == 0
    assert tomllib.loads(toml.read_text()) == {
        "model": "x",
        "mcp_servers": {"other": {"command": "y"}, "foo": {"command": "program"}},
        "features": {"unified_exec": True},
    }
    assert "outlive" not in toml.read_text()


def test_a_table_that_cannot_be_taken_out_safely_is_left_alone(outlive: Outlive, home: Path) -> None:
    outlive("init", "codex", "--yes")
    toml = home / ".codex/config.toml"
    text = toml.read_text().partition("# >>> outlive")[0]
    toml.write_text(
        text + '[mcp_servers]\nz = { command = "z" }\noutlive = { command = "outlive", args = ["mcp"] }\n'
    )
    before = toml.read_bytes()
    refused = outlive("init", "codex", "--undo", "--yes")
    assert refused.code == 1
    assert "cannot be told from yours" in refused.err
    assert toml.read_bytes() == before


def test_a_set_up_that_was_interrupted_is_undone_byte_for_byte(outlive: Outlive, home: Path) -> None:
    path = home / ".codex/hooks.json"
    path.write_text('{"n": 1.0e5,   "hooks": {}}')
    before = snapshot(home)
    outlive("init", "codex", "--yes")
    path.write_text('{"n": 1.0e5,   "hooks": {}}')  # the journal was written, this file was not
    assert outlive("init", "codex", "--undo", "--yes").code == 0
    assert snapshot(home) == before
    outlive("init", "pi", "--yes")
    shutil.rmtree(home / ".pi")
    assert "nothing of outlive" in outlive("init", "pi", "--undo", "--yes").out
    assert snapshot(home) == before


def test_undo_of_several_clients_in_any_order_leaves_no_trace(outlive: Outlive, home: Path) -> None:
    (home / ".outlive").rmdir()
    before = snapshot(home)
    for order in (("codex", "pi"), ("pi", "codex")):
        for client in ("codex", "pi"):
            assert outlive("init", client, "--yes").code == 0
        (home / ".outlive/run").mkdir()
        (home / ".outlive/run/hooks-1.sock").touch()  # of a server that was killed
        (home / ".outlive/hooks.failed").touch()
        for client in order:
            assert outlive("init", client, "--undo", "--yes").code == 0
        assert snapshot(home) == before


def test_the_exact_changes_are_shown_and_nothing_is_written_without_a_yes(outlive: Outlive, home: Path) -> None:
    before = snapshot(home)
    result = outlive("init", "codex")
    assert result.code == 1
    assert "+++ " in result.out
    assert "+[mcp_servers.outlive]" in result.out
    assert "--yes" in result.err
    assert snapshot(home) == before


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (".codex/hooks.json", "{", "hooks.json: is not valid JSON"),
        (".codex/hooks.json", "[]", "not a JSON object"),
        (".codex/hooks.json", '{"hooks": []}', "'hooks' is not what it should be"),
        (".codex/config.toml", "a = ", "is not valid TOML"),
        (".codex/config.toml", '[mcp_servers.outlive]\ncommand = "mine"\n', "that outlive did not write"),
    ],
)
def test_a_file_that_cannot_be_understood_is_named_and_nothing_is_changed(
    outlive: Outlive, home: Path, file: str, text: str, said: str
) -> None:
    (home / file).write_text(text)
    before = snapshot(home)
    result = outlive("init", "codex", "--yes")
    assert result.code == 1
    assert said in result.err
    assert "nothing was changed" in result.err
    assert snapshot(home) == before


def test_an_outdated_set_up_is_seen_and_renewed(outlive: Outlive, home: Path) -> None:
    outlive("init", "claude-code", "--yes")
    hooks = home / ".claude/skills/outlive/hooks/hooks.json"
    hooks.write_text(hooks.read_text().replace("SessionEnd", "Stop"))
    status = outlive("init", "--json").json[0]
    assert (status["client"], status["found"], status["installed"], status["current"]) == (
        "claude-code",
        True,
        True,
        False,
    )
    outlive("init", "claude-code", "--yes")
    assert outlive("init", "claude-code", "--check").code == 0


def test_undo_goes_back_to_before_the_first_time(outlive: Outlive, home: Path) -> None:
    before = snapshot(home)
    outlive("init", "codex", "--yes")
    hooks = home / ".codex/hooks.json"
    hooks.write_text(hooks.read_text().replace("SessionEnd", "Stop"))
    assert outlive("init", "codex", "--yes").code == 0
    assert outlive("init", "codex", "--check").code == 0
    assert "Stop" not in hooks.read_text(), "what an earlier version had written goes"
    outlive("init", "codex", "--undo", "--yes")
    assert snapshot(home) == before


def test_the_plugin_starts_this_outlive(outlive: Outlive, home: Path) -> None:
    outlive("init", "claude-code", "--yes")
    folder = home / ".claude/skills/outlive"
    for path, word in ((folder / "hooks/hooks.json", '"hook"'), (folder / ".mcp.json", '"mcp"')):
        text = path.read_text()
        json.loads(text)
        assert word in text
    (server,) = json.loads((folder / ".mcp.json").read_text())["mcpServers"].values()
    assert Path(server["command"]).is_absolute()
    assert os.access(server["command"], os.X_OK)


def test_the_server_knows_where_codex_keeps_its_sessions(outlive: Outlive, home: Path) -> None:
    outlive.environment["CODEX_HOME"] = str(home / "codex")
    outlive("init", "codex", "--yes")
    form = tomllib.loads((home / "codex/config.toml").read_text())
    assert form["mcp_servers"]["outlive"]["env"] == {"CODEX_HOME": str(home / "codex")}


def test_the_plugin_of_the_package_needs_no_machine() -> None:
    for path in (PACKAGE / "plugin").rglob("*"):
        assert not path.is_file() or b"/work" not in path.read_bytes()
    assert json.loads((PACKAGE / "plugin" / ".claude-plugin" / "plugin.json").read_text())["version"] == __version__
    assert (PACKAGE / "plugin" / "LICENSE").read_bytes() == (PACKAGE.parents[2] / "LICENSE").read_bytes()


def test_claude_code_itself_finds_the_plugin_valid(tmp_path: Path) -> None:
    program = shutil.which("claude") or (str(CLAUDE) if CLAUDE.exists() else "")
    if not program:
        pytest.skip("no claude on this machine: python -m bench.clients.install claude-code")
    copy = tmp_path / "plugin"
    shutil.copytree(PACKAGE / "plugin", copy)
    done = subprocess.run(
        [program, "plugin", "validate", str(copy)], capture_output=True, text=True, env={"HOME": str(tmp_path)}
    )
    assert "Validation passed" in done.stdout + done.stderr
