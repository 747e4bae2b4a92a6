"""The sandbox, tried with the real thing: what a command can and cannot do inside of it."""

import socket
import subprocess
from pathlib import Path

import pytest

from outlive.tools import sandbox as module
from outlive.tools.sandbox import Sandbox, SandboxUnavailable

WHY_NOT = Sandbox(Path(), on=True).problem()
real = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this machine: {WHY_NOT}")


def run(sandbox: Sandbox, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(sandbox.argv(command), capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    return root.resolve()


def test_without_the_sandbox_a_command_is_just_a_shell_command(root: Path) -> None:
    argv = Sandbox(root).argv("echo hi | tr h H")
    assert argv[1:] == ["-c", "echo hi | tr h H"]
    assert run(Sandbox(root), "echo hi | tr h H").stdout == "Hi\n"


def test_a_sandbox_that_cannot_be_had_is_said_and_nothing_runs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root))
    module._problem.cache_clear()
    try:
        assert "not installed" in Sandbox(root, on=True).problem()
        with pytest.raises(SandboxUnavailable, match="bubblewrap is not installed"):
            Sandbox(root, on=True).argv("true")
        assert Sandbox(root, on=False).argv("true")
    finally:
        module._problem.cache_clear()


def test_a_sandbox_that_does_not_work_is_not_faked(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = root / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{root}:/usr/bin:/bin")
    module._problem.cache_clear()
    try:
        with pytest.raises(SandboxUnavailable, match="No permissions to create new namespace"):
            Sandbox(root, on=True).argv("true")
    finally:
        module._problem.cache_clear()


@real
def test_the_workspace_is_writable_and_the_rest_is_not(root: Path) -> None:
    (root.parent / "other").mkdir()
    done = run(Sandbox(root, on=True), f"pwd; echo x > made; echo y > {root.parent}/other/made; echo z > /etc/made")
    assert done.stdout == f"{root}\n"
    assert (root / "made").read_text() == "x\n"
    assert not (root.parent / "other/made").exists()
    assert not Path("/etc/made").exists()


@real
def test_a_folder_that_was_added_is_writable(root: Path) -> None:
    extra = root.parent / "extra"
    extra.mkdir()
    assert run(Sandbox(root, [extra], on=True), f"echo x > {extra}/made").returncode == 0
    assert (extra / "made").exists()


@real
def test_temporary_files_are_private(root: Path, tmp_path: Path) -> None:
    run(Sandbox(root, on=True), "echo x > /tmp/outlive-sandbox-test")
    assert not Path("/tmp/outlive-sandbox-test").exists()


@real
def test_the_network_is_off_unless_it_is_asked_for(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = f"exec 3<>/dev/tcp/127.0.0.1/{port}"
        assert run(Sandbox(root, on=True), command).returncode != 0
        assert run(Sandbox(root, on=True, network=True), command).returncode == 0


@real
def test_a_command_sees_no_other_processes(root: Path) -> None:
    seen = run(Sandbox(root, on=True), "ls -d /proc/[0-9]* | wc -l").stdout
    assert int(seen) < 8


@real
@pytest.mark.parametrize(
    "attack",
    [
        "echo evil > .git/hooks/pre-commit",
        "echo evil >> .git/config",
        "mv .git/hooks .git/h && mkdir .git/hooks && echo evil > .git/hooks/pre-commit",
        "mv .git old && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
        "rm -rf .git/hooks; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "echo evil > outlive.toml",
        "rm outlive.toml; echo evil > outlive.toml",
        "echo evil > new && mv -f new outlive.toml",
        "echo evil > .outlive/x",
        "echo evil >> .transcripts/s.jsonl; mv .transcripts t; mkdir .transcripts; echo evil > .transcripts/s.jsonl",
        "mv .outlive o; mkdir .outlive; echo evil > .outlive/x",
        "mount -o remount,rw /; umount .git/hooks; echo evil > .git/hooks/pre-commit",
    ],
)
def test_what_would_run_or_widen_rights_later_stays_as_it_is(root: Path, attack: str) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "outlive.toml").write_text("# mine\n")
    (root / ".outlive").mkdir()
    (root / ".transcripts").mkdir()
    run(Sandbox(root, on=True), attack)
    texts = [path.read_text() for path in root.rglob("*") if path.is_file() and path.parent != root]
    assert (root / "outlive.toml").read_text() == "# mine\n"
    assert "evil\n" not in texts


@real
def test_missing_hooks_of_git_cannot_be_made(root: Path) -> None:
    (root / ".git").mkdir()
    run(Sandbox(root, on=True), "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit")
    assert list((root / ".git/hooks").iterdir()) == []


@real
def test_git_still_commits_inside(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    who = "git -c user.name=a -c user.email=a@b"
    done = run(Sandbox(root, on=True), f"echo x > f && git add f && {who} commit -qm x && git log --oneline | wc -l")
    assert done.stdout.strip() == "1", done.stderr


@real
def test_what_the_user_keeps_inside_of_the_workspace_stays_read_only(root: Path) -> None:
    home = root / "home"
    home.mkdir()
    run(Sandbox(root, on=True, keep=[home]), "echo evil > home/x; mv home h2")
    assert list(home.iterdir()) == []


@real
def test_the_end_of_the_sandbox_is_the_end_of_all_that_it_started(root: Path) -> None:
    sandbox = Sandbox(root, on=True)
    with subprocess.Popen(sandbox.argv("setsid sh -c 'echo up; while :; do sleep 0.1; echo x >> beat; done' & wait"),
                          stdout=subprocess.PIPE) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.kill()
        assert process.stdout.read() == b"", "the pipe closes when the last process of the sandbox is gone"
