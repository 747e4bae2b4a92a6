"""A repository whose settings name a program wherever git would start one: looking at it starts none of them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from outlive.agent.log.world import World
from outlive.testing import Simulator, call, say
from tests.e2e.conftest import Client
from tests.tools.workbench import Workbench

MISSING = "1234567890123456789012345678901234567890"
SETTINGS = """
[core]
 repositoryformatversion = 1
 bare = false
 {worktree}
 fsmonitor = {mark} fsmonitor
 hooksPath = {hooks}
 sshCommand = {mark} ssh
 gitProxy = {mark} proxy
 askPass = {mark} askpass
 editor = {mark} editor
 pager = {mark} pager
 attributesFile = {attributes}
 alternateRefsCommand = {mark} alternates
[extensions]
 partialClone = origin
[remote "origin"]
 url = .
 promisor = true
 uploadpack = {mark} uploadpack;
 receivepack = {mark} receivepack;
[filter "mark"]
 clean = {mark} clean
 smudge = {mark} smudge
 process = {mark} process
 required = true
[diff]
 external = {mark} diff
[diff "mark"]
 command = {mark} diffdriver
 textconv = {mark} textconv
[merge "mark"]
 driver = {mark} merge
[credential]
 helper = !{mark} credential
[gpg]
 program = {mark} gpg
[commit]
 gpgSign = true
[log]
 showSignature = true
[interactive]
 diffFilter = {mark} difffilter
[sequence]
 editor = {mark} sequence
[submodule]
 recurse = true
[alias]
 ls-files = !{mark} alias
[pager]
 ls-files = {mark} pager
 rev-parse = {mark} pager
[trace2]
 eventTarget = {marks}/trace
"""
HOOKS = (
    "pre-commit",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "fsmonitor-watchman",
    "pre-auto-gc",
)


class Trap:
    """A workspace with such a repository as its own (`.git`, from an archive), and one that lies in it as plain
    files, which a clone can bring."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.marks = root.parent / "marks"
        self.marks.mkdir()
        self.mark = root.parent / "mark"
        self.mark.write_text(f'#!/bin/sh\ntouch "{self.marks}/$1"\n')
        self.mark.chmod(0o755)
        hooks = root.parent / "hooks"
        hooks.mkdir()
        for name in HOOKS:
            (hooks / name).write_text(f"#!/bin/sh\n{self.mark} hook-{name}\n")
            (hooks / name).chmod(0o755)
        (root / ".gitattributes").write_text("* filter=mark diff=mark merge=mark\n")
        (root / "src").mkdir(exist_ok=True)
        (root / "src/a.py").write_text("needle = 1\n")
        self._repository(root / ".git", "")
        self._repository(root / "embedded", "worktree = .")
        (root / "embedded/b.py").write_text("needle = 2\n")

    def _repository(self, place: Path, worktree: str) -> None:
        made = self.root.parent / "made"
        subprocess.run(["git", "init", "-q", str(made)], check=True)
        for command in (["--add", "--cacheinfo", f"100644,{MISSING},.gitignore"], ["--skip-worktree", ".gitignore"]):
            subprocess.run(["git", "update-index", *command], cwd=made, check=True)
        shutil.move(made / ".git", place)
        shutil.rmtree(made)
        settings = SETTINGS.format(
            mark=self.mark,
            marks=self.marks,
            hooks=self.root.parent / "hooks",
            attributes=self.root / ".gitattributes",
            worktree=worktree,
        )
        (place / "config").write_text(settings)

    def sprung(self) -> list[str]:
        return sorted(path.name for path in self.marks.iterdir())


@pytest.mark.parametrize("place", [".", "embedded"])
@pytest.mark.parametrize(
    "command", ["-c core.fsmonitor=false ls-files --cached --others --exclude-standard", "status"]
)
def test_the_trap_works_with_real_git(tmp_path: Path, place: str, command: str) -> None:
    (tmp_path / "work").mkdir()
    trap = Trap(tmp_path / "work")
    subprocess.run(["git", *command.split()], cwd=trap.root / place, capture_output=True, check=False)
    assert trap.sprung()


@pytest.mark.parametrize("ripgrep", [True, False])
def test_no_tool_that_only_looks_starts_a_program_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ripgrep: bool
) -> None:
    if not ripgrep:
        monkeypatch.setattr("outlive.tools.builtin.grep.find_program", lambda *about: None)
    bench = Workbench(tmp_path / "work")
    trap = Trap(bench.root)
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(bench.write("rgrc", f"--pre={trap.mark}\n")))
    for place in (".", "embedded", "src"):
        bench.any("glob", pattern="**", path=place)
        bench.any("grep", pattern="needle", path=place)
    assert "src/a.py" in bench.call("glob", pattern="**/a.py").text
    assert "embedded/b.py" in bench.call("grep", pattern="needle").text
    bench.call("read_file", path="embedded/b.py")
    bench.refused("read_file", path="embedded/c.py")
    World(bench.root).head()
    World(bench.root / "embedded").head()
    bench.close()
    assert trap.sprung() == []


def test_a_program_that_the_workspace_brings_is_not_taken_for_ripgrep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(tmp_path / "work")
    trap = Trap(bench.root)
    bin_folder = bench.root / "node_modules/.bin"
    bin_folder.mkdir(parents=True)
    for name in ("rg", "git"):
        shutil.copy(trap.mark, bin_folder / name)
    monkeypatch.chdir(bench.root)
    monkeypatch.setenv("PATH", f"node_modules/.bin:{bin_folder}:{os.environ['PATH']}")
    assert "src/a.py" in bench.call("grep", pattern="needle").text
    bench.call("glob", pattern="**/a.py")
    bench.close()
    assert trap.sprung() == []


@pytest.mark.parametrize("sandbox", [False, True])
def test_a_command_uses_a_repository_that_lies_there_as_files_only_when_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandbox: bool
) -> None:
    bench = Workbench(tmp_path / "work")
    if sandbox and (why := bench.context.sandbox.problem()):
        pytest.skip(why)
    bench.context.sandbox.on = sandbox
    trap = Trap(bench.root)
    shutil.rmtree(bench.root / ".git")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "me")
    refused = bench.any("bash", command="git config user.name; cd embedded && git status").text
    assert refused.startswith("me\n")
    assert "safe.bareRepository" in refused
    assert trap.sprung() == []
    assert "partialclone" in bench.call("bash", command="git --git-dir=embedded config --list").text
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.bareRepository")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "all")
    assert "partialclone" in bench.call("bash", command="cd embedded && git config --list").text
    bench.close()


def test_a_session_in_plan_mode_starts_no_program_of_the_repository(folder: Path) -> None:
    trap = Trap(folder)
    looks = [
        call("glob", pattern="**/*.py"),
        call("glob", pattern="**", path="embedded"),
        call("grep", pattern="needle", path="embedded"),
        call("read_file", path="embedded/b.py"),
        call("bash", command="git status"),
        say("seen"),
    ]
    with Simulator([*looks, say("again"), say("ok")]) as sim:
        client = Client(folder, sim)
        first = client("-p", "Look around.", "--permission-mode", "plan")
        assert (first.code, first.out) == (0, "seen\n"), first.err
        assert "embedded/b.py" in sim.requests[2].last_results()[0].text
        (folder / "embedded/b.py").write_text("changed = 1\n")
        assert client("-p", "And now?", "--continue", "--permission-mode", "plan").code == 0
        client("where")
    assert trap.sprung() == []
