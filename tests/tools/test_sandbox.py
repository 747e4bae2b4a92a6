"""The sandbox, tried with the real thing: what a command can and cannot do inside of it."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from outlive.tools.permissions import sandbox as module
from outlive.tools.permissions import seccomp
from outlive.tools.permissions.sandbox import Sandbox, SandboxUnavailable
from tests.engines import ROOT
from tests.tools.workbench import Workbench

WHY_NOT = Sandbox(Path(), on=True).problem()
real = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this machine: {WHY_NOT}")
NOBODY = 65534
WHO = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; set -e; "
WATCHED = {
    *("outlive.toml", ".env", ".outlive", ".memory", ".task_outputs", ".tasks", ".transcripts"),
    *(".git/config", ".git/config.worktree", ".git/commondir", ".git/hooks", ".git/modules", ".git/worktrees"),
    *(".git/branches", ".git/remotes"),
}
VISIBLE = Path("/srv") if os.access("/srv", os.W_OK) else ROOT
"""A folder that the sandbox shows as it is, unlike those for temporary files."""
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
"""One that every user may run."""


def run(sandbox: Sandbox, command: str, user: int | None = None) -> subprocess.CompletedProcess[str]:
    launch = sandbox.launch(command)
    try:
        return subprocess.run(
            launch.argv,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            input="",
            pass_fds=launch.descriptors,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )
    finally:
        launch.started()
        launch.ended()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    return root.resolve()


Sandboxed = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(params=["the user", "another user"])
def anyone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Sandboxed]]:
    """A workspace and a way to run commands in its sandbox, as the user and as one without any rights."""
    other = request.param == "another user"
    if other and os.getuid() != 0:
        pytest.skip("only root can run something as another user; the tests themselves run as one then")
    top = Path(tempfile.mkdtemp(prefix="outlive-sandbox-", dir=VISIBLE)).resolve()
    root, home = top / "work", top / "home"
    for folder in (root, home):
        folder.mkdir()
    monkeypatch.setenv("OUTLIVE_HOME", str(home))

    def sandboxed(command: str, at: Path = root) -> subprocess.CompletedProcess[str]:
        if other:
            top.chmod(0o755)
            for path in (top, *top.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        return run(Sandbox(at, on=True), command, NOBODY if other else None)

    yield root, sandboxed
    shutil.rmtree(top)


def everything(folder: Path) -> dict[str, str | None]:
    """Every file with its text and every folder below, without git's own data."""
    found: dict[str, str | None] = {}
    for path in folder.rglob("*"):
        if not {"objects", "logs", "index"} & set(path.parts):
            found[str(path.relative_to(folder))] = path.read_text() if path.is_file() else None
    return found


def shell(command: str) -> str:
    """Outside of the sandbox."""
    trusting = "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'; "
    done = subprocess.run(["bash", "-c", trusting + WHO + command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def watched(folder: Path) -> dict[str, str | None]:
    """What decides what git runs and what outlive may do."""
    found = everything(folder)
    return {name: text for name, text in found.items() if {name, *map(str, Path(name).parents)} & WATCHED}


def test_without_the_sandbox_a_command_is_just_a_shell_command(root: Path) -> None:
    argv = Sandbox(root).launch("echo hi | tr h H").argv
    assert argv[1:] == ["-c", "echo hi | tr h H"]
    assert run(Sandbox(root), "echo hi | tr h H").stdout == "Hi\n"


def test_a_sandbox_that_cannot_be_had_is_said_and_nothing_runs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root.parent))
    assert "not installed" in Sandbox(root, on=True).problem()
    with pytest.raises(SandboxUnavailable, match="bubblewrap is not installed"):
        Sandbox(root, on=True).launch("true")
    assert Sandbox(root, on=False).launch("true")


def fake_bwrap(folder: Path) -> None:
    (folder / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    (folder / "bwrap").chmod(0o755)


def test_a_sandbox_that_does_not_work_is_not_faked(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_bwrap(root.parent)
    monkeypatch.setenv("PATH", f"{root.parent}:/usr/bin:/bin")
    with pytest.raises(SandboxUnavailable, match="No permissions to create new namespace"):
        Sandbox(root, on=True).launch("true")


def test_a_machine_without_a_list_of_system_calls_has_no_sandbox(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "_MACHINES", {})
    module._problem.cache_clear()
    try:
        with pytest.raises(SandboxUnavailable, match=f"for this machine .{os.uname().machine}."):
            Sandbox(root, on=True).launch("true")
    finally:
        module._problem.cache_clear()


@real
def test_a_program_that_the_workspace_brings_is_not_taken_for_bubblewrap(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_bwrap(root)
    monkeypatch.setenv("PATH", f"{root}:bin:{os.environ['PATH']}")
    assert run(Sandbox(root, on=True), "echo real").stdout == "real\n"


@real
def test_the_workspace_is_writable_and_the_rest_is_not(anyone: tuple[Path, Sandboxed]) -> None:
    root, sandboxed = anyone
    (root.parent / "other").mkdir()
    done = sandboxed(f"pwd; echo x > made; echo y > {root.parent}/other/made; echo z > /etc/made")
    assert done.stdout == f"{root}\n", done.stderr
    assert (root / "made").read_text() == "x\n"
    assert not (root.parent / "other/made").exists()
    assert not Path("/etc/made").exists()


@real
def test_a_folder_that_was_added_is_writable_and_protected_in_the_same_way(root: Path) -> None:
    extra = root.parent / "extra"
    extra.mkdir()
    assert run(Sandbox(root, [extra], on=True), f"echo x > {extra}/made").returncode == 0
    attack = f"cd {extra}; mkdir .tasks .git; echo evil | tee outlive.toml .env .git/config .tasks/x"
    run(Sandbox(root, [extra], on=True), attack)
    assert everything(extra) == {"made": "x\n"}


@real
def test_temporary_files_are_private(root: Path) -> None:
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
def test_a_command_sees_no_other_processes_and_inherits_no_descriptor(root: Path) -> None:
    seen = run(Sandbox(root, on=True), "ls -d /proc/[0-9]* | wc -l; ls /proc/$$/fd; true").stdout.split()
    assert int(seen[0]) < 8
    assert seen[1:] == ["0", "1", "2"]


# -- what would run, or widen rights, later


@pytest.fixture
def with_git(anyone: tuple[Path, Sandboxed]) -> tuple[Path, Sandboxed]:
    root, sandboxed = anyone
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    (root / "outlive.toml").write_text("# mine\n")
    (root / ".outlive").mkdir()
    (root / ".transcripts").mkdir()
    return root, sandboxed


@real
@pytest.mark.parametrize(
    "attack",
    [
        "echo evil > .git/hooks/pre-commit",
        "echo evil >> .git/config",
        "git config core.fsmonitor evil; git config --worktree core.fsmonitor evil",
        "mv .git/hooks .git/h && mkdir .git/hooks && echo evil > .git/hooks/pre-commit",
        "mv .git old && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
        "rm -rf .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "rm -rf .git/hooks; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "cp -r .git away; echo evil > away/hooks/x; echo ../away > .git/commondir",
        "echo ../away > .git/new; mv -f .git/new .git/commondir; ln -sf ../away .git/commondir",
        "echo evil > .git/config.worktree; echo evil > .git/x; mv .git/x .git/config.worktree",
        "mkdir -p .git/modules/m/hooks; echo evil > .git/modules/m/config; echo evil > .git/modules/m/hooks/x",
        "mkdir -p .git/worktrees/w; echo evil > .git/worktrees/w/config.worktree",
        "mkdir -p .git/remotes .git/branches; echo evil > .git/remotes/origin; echo evil > .git/branches/origin",
        "rm -rf .git/worktrees; ln -s .. .git/worktrees; ln -s .. .git/modules",
        "echo evil > outlive.toml",
        "rm outlive.toml; echo evil > outlive.toml",
        "echo evil > new && mv -f new outlive.toml",
        "ln -sf /dev/null outlive.toml; ln -s /dev/null .env",
        "echo evil > .outlive/x",
        "echo evil >> .transcripts/s.jsonl; mv .transcripts t; mkdir .transcripts; echo evil > .transcripts/s.jsonl",
        "mv .outlive o; mkdir .outlive; echo evil > .outlive/x",
        "rmdir .memory .task_outputs .tasks; mkdir .memory; echo evil > .memory/x; echo evil > .task_outputs/x",
        "echo evil > .env; echo evil > .e; mv .e .env; rm -rf .env; mkdir .env; echo evil > .env/x",
        "echo evil > .tasks/task_1.json",
        "mount -o remount,rw /; umount .git/hooks; echo evil > .git/hooks/pre-commit",
        "unshare -rm sh -c 'umount .git/hooks; echo evil > .git/hooks/pre-commit'",
    ],
)
def test_what_would_run_or_widen_rights_later_stays_as_it_is(with_git: tuple[Path, Sandboxed], attack: str) -> None:
    root, sandboxed = with_git
    sandboxed("true")
    before = watched(root)
    sandboxed(attack)
    assert watched(root) == before
    assert "evil" not in subprocess.run(
        ["git", "-c", f"safe.directory={root}", "config", "--list"], cwd=root, capture_output=True, text=True
    ).stdout.replace(str(root), "")  # fmt: skip


@real
def test_the_settings_of_submodules_and_of_other_worktrees_stay_as_they_are(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name in ("modules/m/config", "modules/m/hooks/x", "worktrees/w/commondir", "worktrees/w/gitdir"):
        (root / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / ".git" / name).write_text("mine\n")
    names = "modules/m/config modules/m/hooks/x modules/new worktrees/w/commondir worktrees/w/gitdir"
    attack = f"cd .git; for f in {names} worktrees/w/config.worktree; do echo evil > $f; done"
    run(Sandbox(root, on=True), f"{attack}; mv modules m; mv worktrees w")
    assert "evil\n" not in everything(root / ".git").values()
    assert (root / ".git/modules/m/config").exists()
    assert (root / ".git/worktrees/w/gitdir").exists()


@real
def test_no_repository_can_be_made_where_there_is_none(anyone: tuple[Path, Sandboxed]) -> None:
    root, sandboxed = anyone
    done = sandboxed(
        "git init; mkdir .git; rm -rf .git; ln -s x .git; echo 'gitdir: x' > .git; git init -q in && ls in/.git"
    )
    assert not (root / ".git").exists()
    assert "config" in done.stdout


@real
def test_a_link_in_place_of_something_protected_is_refused_and_nothing_runs(root: Path) -> None:
    (root / "elsewhere").mkdir()
    for name in (".git", ".env", ".memory", "outlive.toml"):
        (root / name).symlink_to("elsewhere")
        with pytest.raises(SandboxUnavailable, match=f"{name} is a symbolic link"):
            Sandbox(root, on=True).launch("echo x > ran")
        (root / name).unlink()
    assert not (root / "ran").exists()


@real
def test_nothing_is_left_behind_and_what_was_left_by_a_crash_is_removed(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    run(Sandbox(root, on=True), "true")
    before = everything(root)
    assert not {"outlive.toml", ".env", ".git/commondir", ".git/config.worktree", ".git/modules"} & set(before)
    crashed = Sandbox(root, on=True).launch("true")  # never told that it ended
    assert {"outlive.toml", ".env", ".git/commondir"} <= set(everything(root))
    assert subprocess.run(["git", "status", "--short"], cwd=root, capture_output=True, check=True).stdout == b""
    crashed.started()
    run(Sandbox(root, on=True), "true")
    assert everything(root) == before


@real
def test_a_second_sandbox_keeps_what_protects_the_first(root: Path) -> None:
    first = Sandbox(root, on=True).launch("echo up; read line; echo evil > outlive.toml; echo evil > .env")
    with subprocess.Popen(first.argv, pass_fds=first.descriptors, stdin=-1, stdout=-1, stderr=-1) as process:
        first.started()
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        run(Sandbox(root, on=True), "true")
        process.communicate(b"\n")
    first.ended()
    assert not (root / "outlive.toml").exists()
    assert not (root / ".env").exists()


@real
def test_while_a_command_runs_git_sees_no_placeholder_and_outlive_reads_no_settings_from_it(root: Path) -> None:
    from outlive.config import Workspace

    subprocess.run(["git", "init", "-q", str(root)], check=True)
    assert run(Sandbox(root, on=True), "git status --short; git add -A; git diff --cached --name-only").stdout == ""
    (root / "outlive.toml").mkdir()
    (root / ".env").mkdir()
    assert Workspace.find(root).agent == {}


@real
def test_stores_further_down_are_protected_with_the_folders_above_them(root: Path) -> None:
    home, store, missing = root / "home", root / "src/deep/tasks", root / "new/place"
    for folder in (home, store):
        folder.mkdir(parents=True)
    (store / "task_1.json").write_text("mine\n")
    sandbox = Sandbox(root, on=True, protected=[home, store, missing, root.parent])
    run(
        sandbox,
        "echo evil > home/x; mv home h2; echo evil > src/deep/tasks/task_1.json; mv src s; mv src/deep d; rm -rf src;"
        "mkdir -p new/place; echo evil > new/place/x; mv new n; echo fine > src/deep/other",
    )
    found = everything(root)
    assert "evil\n" not in found.values()
    assert found["src/deep/tasks/task_1.json"] == "mine\n"
    assert found["src/deep/other"] == "fine\n"
    assert "new/place" in found


@real
def test_a_database_is_protected_with_the_files_beside_it(root: Path) -> None:
    import sqlite3

    database = root / "outlive.db"
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE t(x)")
    connection.commit()
    attack = "for f in '' -wal -shm -journal; do echo evil > outlive.db$f; mv outlive.db$f x$f; done"
    run(Sandbox(root, on=True, protected=[database]), attack)
    connection.execute("INSERT INTO t VALUES (1)")
    connection.commit()
    connection.close()
    assert sqlite3.connect(database).execute("SELECT x FROM t").fetchall() == [(1,)]
    assert not list(root.glob("x*"))


@real
def test_the_python_that_outlive_runs_in_stays_as_it_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".venv/bin").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(root / ".venv"))
    run(Sandbox(root, on=True), "echo evil > .venv/bin/python; mv .venv v")
    assert list((root / ".venv/bin").iterdir()) == []


# -- what still works


@real
def test_git_works_inside(with_git: tuple[Path, Sandboxed]) -> None:
    root, sandboxed = with_git
    done = sandboxed(
        WHO + "echo x > f; git add f; git commit -qm one; git checkout -qb topic; echo y > f; git commit -qam two;"
        "git checkout -q main; echo z > g; git add g; git commit -qm three; git merge -q -m four topic; echo s > f;"
        "git stash -q; git stash pop -q; git checkout -q f; git branch other HEAD~1; git rebase -q other; git tag v1;"
        "git mv g h; git commit -qm five; git gc -q;"
        "git branch -qD other; git reset -q --hard HEAD; git log --oneline | wc -l; git status --short -uno"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 4, done.stdout
    assert "commondir" not in os.listdir(root / ".git")


@real
def test_a_linked_worktree_commits_and_its_repository_keeps_its_settings(anyone: tuple[Path, Sandboxed]) -> None:
    root, sandboxed = anyone
    main = root.parent / "main"
    shell(f"git init -q {main}; cd {main}; git commit -q --allow-empty -m x; git worktree add -q -b topic {root}")
    before = everything(main / ".git")
    done = sandboxed(WHO + "echo x > f; git add f; git commit -qm two; echo y > f; git stash -q; git stash pop -q")
    assert done.returncode == 0, done.stderr
    names = "config config.worktree commondir hooks/x worktrees/work/commondir worktrees/work/gitdir"
    sandboxed(f"cd {main}/.git; for f in {names} worktrees/work/config.worktree packed-refs; do echo evil > $f; done")
    after = everything(main / ".git")
    assert "evil\n" not in after.values()
    assert after["config"] == before["config"]
    assert len(shell(f"cd {main}; git log --oneline topic").splitlines()) == 2


@real
def test_a_git_file_that_names_a_strangers_repository_opens_nothing(anyone: tuple[Path, Sandboxed]) -> None:
    root, sandboxed = anyone
    victim = root.parent / "victim"
    shell(f"git init -q {victim}; cd {victim}; git commit -q --allow-empty -m x; git worktree add -q ../own")
    for place in (victim / ".git", victim / ".git/worktrees/own"):
        (root / ".git").write_text(f"gitdir: {place}\n")
        before = everything(victim)
        done = sandboxed(f"echo evil > {place}/HEAD; echo evil > {victim}/.git/refs/heads/master")
        assert "Read-only" in done.stderr
        assert everything(victim) == before


@real
def test_a_submodule_commits_and_keeps_its_settings(anyone: tuple[Path, Sandboxed]) -> None:
    root, sandboxed = anyone
    other = root.parent / "other"
    shell(f"git init -q {other}; cd {other}; git commit -q --allow-empty -m x; git init -q {root}; cd {root};"
          f"git -c protocol.file.allow=always submodule --quiet add {other} sub")  # fmt: skip
    done = sandboxed(WHO + "echo x > f; git add f; git commit -qm two; git log --oneline | wc -l", root / "sub")
    assert done.stdout.strip() == "2", done.stderr
    attack = "cd ../.git/modules/sub; for f in config hooks/x commondir ../../config; do echo evil > $f; done"
    sandboxed(attack, root / "sub")
    assert "evil\n" not in everything(root / ".git").values()


@real
@pytest.mark.parametrize(
    "command",
    [
        f"{PYTHON} -c 'import threading, multiprocessing as m; t = threading.Thread(target=print); t.start();"
        " p = m.get_context(\"fork\").Process(target=print); p.start(); p.join(); exit(p.exitcode)'",
        f"{PYTHON} -m http.server -b 127.0.0.1 8123 & for i in $(seq 100); do"
        " (exec 3<>/dev/tcp/127.0.0.1/8123) && exit; sleep 0.1; done 2>/dev/null; exit 1",
        "printf 'all:\\n\\techo made > out\\n' > Makefile; make -s && cat out",
        "printf 'int main(){return 0;}' > a.c && gcc a.c -o a && ./a",
        "node -e 'require(\"os\").networkInterfaces(); require(\"fs\").writeFileSync(\"o\", \"x\")'",
        "chmod 755 . && mkdir -m 2775 shared && cp -p /bin/true . && ./true && tar cf x.tar true && tar xf x.tar",
        "mkfifo f && (echo x > f &) && cat f",
    ],
)  # fmt: skip
def test_ordinary_programs_work_inside(anyone: tuple[Path, Sandboxed], command: str) -> None:
    needed = next((word for word in ("make", "gcc", "node") if f"{word} " in command), "sh")
    if shutil.which(needed) is None:
        pytest.skip(f"there is no {needed} here")
    done = anyone[1](command)
    assert done.returncode == 0, done.stderr


# -- the kernel


@real
def test_the_user_inside_is_not_root_and_has_no_way_to_become_more(anyone: tuple[Path, Sandboxed]) -> None:
    done = anyone[1]("id -u; id -g; grep -hE '^(NoNewPrivs|CapEff|CapBnd|Seccomp):' /proc/self/status /proc/1/status")
    user, group, *status = done.stdout.split("\n")[:-1]
    assert user != "0"
    assert group != "0"
    nothing = "0" * 16
    assert set(status) == {"NoNewPrivs:\t1", "Seccomp:\t2", f"CapEff:\t{nothing}", f"CapBnd:\t{nothing}"}


@real
def test_settings_of_the_kernel_can_be_read_and_not_written(anyone: tuple[Path, Sandboxed]) -> None:
    """Each is written what it already holds: should that work, nothing has changed."""
    done = anyone[1](
        "for f in kernel/core_pattern kernel/modprobe vm/swappiness kernel/hostname net/ipv4/ip_forward; do"
        ' [ -r /proc/sys/$f ] && v=$(cat /proc/sys/$f) && echo "$v" > /proc/sys/$f && echo written $f; done;'
        "for f in /proc/sysrq-trigger /proc/mtrr /proc/irq/default_smp_affinity /sys/kernel/uevent_helper; do"
        " [ -e $f ] && (: >> $f) && echo opened $f; done; cat /proc/sys/kernel/ostype"
    )
    assert done.stdout == "Linux\n"


@real
def test_nothing_that_belongs_to_the_machine_can_be_changed_by_a_detour(anyone: tuple[Path, Sandboxed]) -> None:
    """Each gets the mode that it already has: should that work, nothing has changed."""
    done = anyone[1](
        "for f in /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /proc/1/exe /proc/1/fd/*"
        " /proc/self/exe /proc/$$/fd/0 /proc/$$/root /proc/$$/cwd/..; do [ -e $f ] && [ ! -p $f ] && "
        " chmod $(stat -Lc %a $f) $f && echo changed $f; done; echo x > /dev/null && head -c 3 /dev/urandom | wc -c"
    )
    assert done.stdout == "3\n"


SYSCALLS = """
import ctypes, errno, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) for a in arguments))
    return 0 if result >= 0 else ctypes.get_errno()
numbers, cases = json.loads(sys.argv[1])
print(json.dumps([call(numbers[name], *arguments) for name, arguments in cases]))
"""


@real
def test_system_calls_that_reach_out_of_the_sandbox_are_refused(anyone: tuple[Path, Sandboxed]) -> None:
    import errno
    import json
    import shlex

    numbers = seccomp.NUMBERS[os.uname().machine]
    refused = [(name, [0] * 5) for name, tests, error in seccomp.RULES if not tests and error == errno.EPERM]
    refused = [case for case in refused if case[0] in numbers]
    missing = [(name, [0] * 5) for name in ("clone3", "openat2", "io_uring_setup")]
    spaces = [("unshare", [flag]) for flag in (0x10000000, 0x20000, 0x40000000, 0x80)] + [("clone", [0x10000011, 0])]
    terminal = [("ioctl", [0, 0x5412, 0]), ("ioctl", [0, 0x541C, 0]), ("ioctl", [0, 0x5412 | 1 << 32, 0])]
    setuid = [("fchmod", [999, 0o4755]), ("fchmodat", [-100, 0, 0o4755]), ("openat", [-100, 0, os.O_CREAT, 0o4755])]
    families = [("socket", [family, 3, 0]) for family in (40, 17, 38, 31, 29, 44)] + [("socket", [16, 3, 15])]
    allowed = [("socket", [1, 1, 0]), ("socket", [2, 1, 0]), ("socket", [10, 1, 0]), ("socket", [16, 3, 0])]
    groups = [(errno.EPERM, [*refused, *spaces, *terminal, *setuid]), (errno.ENOSYS, missing),
              (errno.EAFNOSUPPORT, families), (0, [*allowed, ("unshare", [0x400])])]  # fmt: skip
    for wanted, cases in groups:
        given = shlex.quote(json.dumps([numbers, cases]))
        done = anyone[1](f"{PYTHON} -c {shlex.quote(SYSCALLS)} {given}")
        found = dict(zip(map(str, cases), json.loads(done.stdout), strict=True))
        assert found == dict.fromkeys(map(str, cases), wanted)


@real
def test_no_program_that_runs_with_the_users_rights_can_be_planted(anyone: tuple[Path, Sandboxed]) -> None:
    root, sandboxed = anyone
    sandboxed("cp /bin/true x; chmod 4755 x; chmod u+s x; install -m 4755 /bin/true y; cp -p /usr/bin/passwd z")
    assert not [path for path in root.iterdir() if path.is_file() and path.stat().st_mode & 0o4000]


@real
def test_the_end_of_the_sandbox_is_the_end_of_all_that_it_started(root: Path) -> None:
    launch = Sandbox(root, on=True).launch(
        "setsid sh -c 'echo up; while :; do sleep 0.1; echo x >> beat; done' & wait"
    )
    with subprocess.Popen(launch.argv, stdout=subprocess.PIPE, pass_fds=launch.descriptors) as process:
        launch.started()
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.kill()
        assert process.stdout.read() == b"", "the pipe closes when the last process of the sandbox is gone"


@real
def test_the_bash_tool_runs_in_it_and_clears_up(bench: Workbench) -> None:
    bench.context.sandbox.on = True
    bench.call("bash", command="true")  # the first command starts the watchdog, which stays
    open_before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        assert bench.call("bash", command="ls -d outlive.toml && id -u").text.startswith("outlive.toml\n")
    assert not (bench.root / "outlive.toml").exists()
    assert len(os.listdir("/proc/self/fd")) == open_before
