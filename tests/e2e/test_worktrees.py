"""Linked worktrees share what their main checkout keeps; submodules do not; a bare repository is no workspace."""

import os
import subprocess
from pathlib import Path

import pytest

from outlive.testing import Simulator, call, say
from tests.cli.command import Outlive
from tests.e2e.conftest import Client
from tests.e2e.test_attacks import on_a_terminal


def git(folder: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=t", "-c", "user.email=t@example", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "src").mkdir()
    (folder / "src" / "a.py").write_text("a = 1\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return folder


@pytest.fixture
def main(tmp_path: Path) -> Path:
    return repository(tmp_path.resolve() / "main")


@pytest.fixture
def linked(main: Path) -> Path:
    git(main, "worktree", "add", "-q", "../linked")
    return main.parent / "linked"


def outlive(folder: Path) -> Outlive:
    here = Outlive(folder)
    here.environment["OUTLIVE_HOME"] = str(folder.parent / "home")
    return here


def test_a_worktree_has_the_tasks_of_its_main_checkout(main: Path, linked: Path) -> None:
    assert outlive(main).task("create", "one", "--json").json["id"] == 1
    assert outlive(linked / "src").task("create", "two", "--json").json["id"] == 2
    for folder in (main, main / "src", linked, linked / "src"):
        ready = outlive(folder).task("ready", "--json").json
        assert [task["subject"] for task in ready] == ["one", "two"]
        assert [task["subject"] for task in outlive(folder).task("list", "--json").json] == ["one", "two"]
    assert not (linked / ".tasks").exists()
    found = outlive(linked / "src")("where", "--json").json
    assert (found["workspace"], found["project"]) == (str(linked), str(main))
    assert found["store"]["tasks"] == str(main / ".tasks")
    assert found["linked"] == f"a linked git worktree of {main}"
    assert str(main / ".tasks") in outlive(linked)("where").out


def test_a_worktree_that_was_moved_is_still_followed(main: Path, linked: Path) -> None:
    git(main, "worktree", "move", "../linked", "../moved")
    outlive(main).task("create", "one")
    assert len(outlive(main.parent / "moved").task("ready", "--json").json) == 1


def test_a_worktree_named_relative_to_its_repository_is_followed(main: Path, linked: Path) -> None:
    """As `git worktree add --relative-paths` of newer versions writes them."""
    admin = main / ".git" / "worktrees" / "linked"
    (linked / ".git").write_text(f"gitdir: {os.path.relpath(admin, linked)}\n")
    (admin / "gitdir").write_text(f"{os.path.relpath(linked / '.git', admin)}\n")
    assert outlive(linked)("where", "--json").json["project"] == str(main)


def test_a_worktree_with_settings_of_its_own_stands_alone(main: Path, linked: Path) -> None:
    (linked / "outlive.toml").write_text("[context]\nwindow = 50000\n")
    outlive(main).task("create", "one")
    assert outlive(linked).task("ready", "--json").json == []
    found = outlive(linked)("where", "--json").json
    assert found["project"] == str(linked)
    assert "of its own" in found["linked"]


def test_the_checked_out_copy_of_the_main_settings_is_not_an_own_file(main: Path) -> None:
    (main / "outlive.toml").write_text("[context]\nwindow = 50000\n")
    git(main, "add", "-A")
    git(main, "commit", "-qm", "settings")
    git(main, "worktree", "add", "-q", "../linked")
    outlive(main).task("create", "one")
    found = outlive(main.parent / "linked")("where", "--json").json
    assert found["store"]["tasks"] == str(main / ".tasks")
    assert found["unused"] == [str(main.parent / "linked" / "outlive.toml")]


@pytest.mark.parametrize("how", ["another's", "made up", "within"])
def test_a_git_file_that_is_not_named_back_is_not_followed(main: Path, linked: Path, how: str) -> None:
    """It may have come with an archive and name any folder."""
    stranger = main.parent / "stranger"
    stranger.mkdir()
    admin = {"another's": main / ".git/worktrees/linked", "made up": main / ".git/worktrees/stranger"}.get(
        how, main / ".git"
    )
    (stranger / ".git").write_text(f"gitdir: {admin}\n")
    outlive(main).task("create", "one")
    assert outlive(stranger).task("ready", "--json").json == []
    assert outlive(stranger)("where", "--json").json["project"] == str(stranger)


@pytest.mark.parametrize("poison", ["pipe", "link", "huge", "bytes"])
def test_a_poisoned_git_file_is_contained(tmp_path: Path, poison: str) -> None:
    path = tmp_path / ".git"
    if poison == "pipe":
        os.mkfifo(path)
    elif poison == "link":
        path.symlink_to("/dev/zero")
    else:
        path.write_bytes(b"gitdir: " + (b"/x" * 2**20 if poison == "huge" else b"\xff\0\n"))
    assert outlive(tmp_path)("where", "--json").json["project"] == str(tmp_path.resolve())


def test_trust_and_rules_of_the_main_checkout_count_in_a_worktree(main: Path, linked: Path) -> None:
    (main / "outlive.toml").write_text('[permissions]\nallow = ["bash(pwd)"]\n')
    steps = [call("bash", command="pwd"), say("ok")]
    with Simulator([*steps, *steps]) as sim:
        client = Client(linked, sim)
        assert "not trusted" in client("-p", "x").err
        assert sim.requests[1].last_results()[0].is_error
        assert str(main / "outlive.toml") in on_a_terminal(client, "trust", typed="y\n")
        assert client("-p", "x").code == 0
        assert sim.requests[-1].last_results()[0].text.strip() == str(linked), "commands run in the worktree"


def test_an_agent_in_a_worktree_works_there_and_is_kept_in_the_main_checkout(main: Path, linked: Path) -> None:
    steps = [
        call("write_file", path="src/b.py", content="b = 2\n"),
        call("write_file", path=str(main / "src" / "c.py"), content="c = 3\n"),
        say("done"),
    ]
    with Simulator([*steps, say("again"), say("in main")]) as sim:
        client = Client(linked, sim)
        first = client("-p", "Work.", "--permission-mode", "accept-edits", "--output-format", "json").json
        assert (linked / "src" / "b.py").exists()
        assert not (main / "src" / "c.py").exists()
        assert not (linked / ".transcripts").exists()
        assert len(list(main.glob(".transcripts/*.jsonl"))) == 1
        refused = Client(main, sim)("-p", "Go on.", "--continue")
        assert refused.code == 2, "that session is of another worktree"
        again = client("-p", "Go on.", "--continue", "--output-format", "json").json
        assert again["session"] == first["session"]


def test_a_submodule_is_a_workspace_of_its_own(main: Path) -> None:
    repository(main.parent / "library")
    git(main, "submodule", "add", "-q", str(main.parent / "library"), "lib")
    outlive(main).task("create", "one")
    below = outlive(main / "lib" / "src")
    assert below.task("ready", "--json").json == []
    assert below("where", "--json").json["project"] == str(main / "lib")


def test_a_bare_repository_is_refused(main: Path) -> None:
    git(main.parent, "clone", "-q", "--bare", str(main), "bare.git")
    for folder in (main.parent / "bare.git", main.parent / "bare.git" / "refs", main / ".git" / "objects"):
        for command in (("where",), ("task", "ready", "--json"), ("task", "create", "x"), ("-p", "x")):
            refused = outlive(folder)(*command)
            assert (refused.code, refused.out) == (1, "")
            assert "is a git repository without a checkout" in refused.err
            assert "git worktree add" in refused.err
    assert not list(main.parent.rglob("*task_1.json"))


def test_worktrees_of_a_bare_repository_share_only_what_lies_beside_it(main: Path) -> None:
    project = main.parent / "project"
    project.mkdir()
    git(project, "clone", "-q", "--bare", str(main), ".bare")
    for name in ("one", "two"):
        git(project / ".bare", "worktree", "add", "-q", "-b", name, str(project / name))
    outlive(project / "one").task("create", "alone")
    assert outlive(project / "two").task("ready", "--json").json == []
    assert "no main checkout" in outlive(project / "two")("where").out
    (project / ".git").write_text("gitdir: ./.bare\n")
    outlive(project / "one").task("create", "shared")
    assert [task["subject"] for task in outlive(project / "two").task("ready", "--json").json] == ["shared"]
    assert (project / ".tasks" / "task_1.json").exists()
