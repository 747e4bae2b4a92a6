"""Worktrees of sessions: what is stored, who may store and land, and what of a repository never runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from outlive.errors import ConfigError
from outlive.work.repository.checkout import MAKING
from outlive.work.repository.git import Fenced, GitUnreachable, InTheWay, Moved
from outlive.work.repository.repository import Repository
from outlive.work.repository.worktree import Worktree, sweep
from tests.work.fleet import checkout, git, shared_checkout

SESSION = "20260101-000000-abcdef"
REF = f"refs/outlive/{SESSION}"


@pytest.fixture
def alone(tmp_path: Path) -> Repository:
    """A checkout without a remote."""
    return Repository(checkout(tmp_path / "alone"))


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return tmp_path / "remote.git"


@pytest.fixture
def machine(tmp_path: Path, remote: Path) -> Callable[[str], Repository]:
    """Checkouts of one remote."""
    return lambda name: Repository(shared_checkout(tmp_path / name / "project", remote))


def begin(repository: Repository, name: str = "tree", session: str = SESSION) -> Worktree:
    """A new worktree of a session."""
    place = repository.project.parent / "worktrees" / name
    return repository.open_worktree(place, session, base=repository.tip(), wip="", bundle=None)


def go_on(
    repository: Repository, wip: str = "", *, name: str = "next", bundle: bytes | None = None, base: str = ""
) -> Worktree:
    """The worktree of a session that another process had."""
    place = repository.project.parent / "worktrees" / name
    return repository.open_worktree(place, SESSION, base=base or repository.tip(), wip=wip, bundle=bundle)


def land(tree: Worktree, message: str = "work") -> None:
    tree.commit(message)
    assert tree.rebase(message) == []
    tree.land()


# -- work in progress


def test_another_machine_gets_every_file_as_it_was_stored_last(machine: Callable[[str], Repository]) -> None:
    tree = begin(machine("a"))
    (tree.path / "new file.txt").write_text("new\n")
    (tree.path / "shared.txt").unlink()
    (tree.path / "run.sh").write_text("#!/bin/sh\n")
    (tree.path / "run.sh").chmod(0o755)
    (tree.path / "link").symlink_to("run.sh")
    tree.take_over("work in progress")
    (tree.path / "later.txt").write_text("not stored\n")
    other = go_on(machine("b"))
    assert (other.path / "new file.txt").read_text() == "new\n"
    assert not (other.path / "shared.txt").exists()
    assert (other.path / "run.sh").stat().st_mode & 0o111
    assert (other.path / "link").is_symlink()
    assert not (other.path / "later.txt").exists()
    assert git(other.path, "status", "--porcelain") == ' D shared.txt\n?? link\n?? "new file.txt"\n?? run.sh'


def test_nothing_is_stored_while_nothing_changes(machine: Callable[[str], Repository], remote: Path) -> None:
    tree = begin(machine("a"))
    first = tree.take_over("begin")
    assert tree.snapshot("again") is None
    (tree.path / "shared.txt").write_text("changed\n")
    second = tree.snapshot("changed")
    assert second not in (None, first)
    assert git(remote, "rev-parse", REF) == second
    assert tree.snapshot("again") is None


def test_a_snapshot_leaves_the_index_that_the_agent_sees_alone(alone: Repository) -> None:
    tree = begin(alone)
    (tree.path / "new.txt").write_text("new\n")
    tree.take_over("work in progress")
    assert git(tree.path, "status", "--porcelain") == "?? new.txt"


def test_the_stores_of_outlive_are_no_work(alone: Repository) -> None:
    tree = begin(alone)
    (tree.path / ".gitignore").write_text("")
    for name in (".tasks", ".transcripts", ".memory", ".task_outputs"):
        (tree.path / name).mkdir()
        (tree.path / name / "file").write_text("ours\n")
    stored = tree.take_over("work in progress")
    assert git(alone.project, "diff", "--name-only", f"{stored}^", stored) == ".gitignore"
    land(tree)
    assert git(alone.project, "show", "--name-only", "--format=", "main") == ".gitignore"


def test_without_a_remote_a_bundle_brings_the_files_to_another_checkout(tmp_path: Path, alone: Repository) -> None:
    git(tmp_path, "clone", "-q", str(alone.project), str(tmp_path / "other"))
    git(tmp_path / "other", "remote", "remove", "origin")
    tree = begin(alone)
    (tree.path / "new.txt").write_text("new\n")
    wip = tree.take_over("work in progress")
    other = go_on(Repository(tmp_path / "other"), wip, bundle=tree.bundle())
    assert (other.path / "new.txt").read_text() == "new\n"


# -- fences


def test_a_process_that_takes_a_session_over_fences_the_old_holder(
    machine: Callable[[str], Repository], remote: Path
) -> None:
    old = begin(machine("a"))
    old.take_over("a begins")
    new = go_on(machine("b"))
    taken = new.take_over("b takes over")
    (old.path / "shared.txt").write_text("of the zombie\n")
    with pytest.raises(Fenced):
        old.snapshot("too late")
    old.commit("too late")
    assert old.rebase("too late") == []
    with pytest.raises(Fenced):
        old.land()
    assert git(remote, "rev-parse", REF) == taken
    assert git(remote, "log", "--format=%s", "main") == "first"
    (new.path / "shared.txt").write_text("of the new one\n")
    assert new.snapshot("still ours")


def test_without_a_remote_the_old_holder_is_fenced_as_well(alone: Repository) -> None:
    old = begin(alone)
    stored = old.take_over("a begins")
    new = go_on(alone, stored)
    new.take_over("b takes over")
    (old.path / "shared.txt").write_text("of the zombie\n")
    with pytest.raises(Fenced):
        old.snapshot("too late")
    old.commit("too late")
    old.rebase("too late")
    with pytest.raises(Fenced):
        old.land()
    assert git(alone.project, "log", "--format=%s", "main") == "first"
    assert (alone.project / "shared.txt").read_text().startswith("line 0")


def test_a_worktree_is_open_in_one_process_at_a_time(alone: Repository) -> None:
    tree = begin(alone)
    with pytest.raises(FileExistsError):
        begin(alone)
    tree.leave()
    begin(alone).leave()


# -- landing


def test_work_lands_as_one_commit_on_top_of_what_others_have_landed(
    machine: Callable[[str], Repository], remote: Path
) -> None:
    mine, theirs = begin(machine("a")), begin(machine("b"), session="other")
    for number in range(3):
        (mine.path / f"mine-{number}.txt").write_text("mine\n")
        mine.commit(f"step {number}")
    mine.take_over("a")
    (theirs.path / "theirs.txt").write_text("theirs\n")
    theirs.take_over("b")
    land(theirs, "theirs")
    land(mine, "mine")
    assert git(remote, "log", "--format=%s", "main").split("\n") == ["mine", "theirs", "first"]
    assert git(remote, "rev-list", "--merges", "main") == ""
    assert git(remote, "rev-parse", "main") == git(remote, "rev-parse", REF)


def test_landing_moves_both_refs_or_none(machine: Callable[[str], Repository], remote: Path) -> None:
    mine, theirs = begin(machine("a")), begin(machine("b"), session="other")
    stored = mine.take_over("a")
    theirs.take_over("b")
    (mine.path / "mine.txt").write_text("mine\n")
    mine.commit("mine")
    assert mine.rebase("mine") == []
    (theirs.path / "theirs.txt").write_text("theirs\n")
    land(theirs, "theirs")
    with pytest.raises(Moved):
        mine.land()
    assert git(remote, "rev-parse", REF) == stored
    assert git(remote, "log", "-1", "--format=%s", "main") == "theirs"
    assert mine.rebase("mine") == []
    mine.land()
    assert git(remote, "log", "-1", "--format=%s", "main") == "mine"


def test_a_conflict_is_left_in_the_files_with_markers_on_the_newest_branch(
    machine: Callable[[str], Repository], remote: Path
) -> None:
    mine, theirs = begin(machine("a")), begin(machine("b"), session="other")
    mine.take_over("a")
    theirs.take_over("b")
    (theirs.path / "shared.txt").write_text("theirs\n")
    (theirs.path / "theirs.txt").write_text("theirs\n")
    land(theirs, "theirs")
    (mine.path / "shared.txt").write_text("mine\n")
    (mine.path / "mine.txt").write_text("mine\n")
    mine.commit("mine")
    assert mine.rebase("mine") == ["shared.txt"]
    assert mine.unresolved() == ["shared.txt"]
    assert (mine.path / "mine.txt").exists()
    assert (mine.path / "theirs.txt").exists()
    (mine.path / "shared.txt").write_text("both\n")
    assert mine.unresolved() == []
    land(mine, "mine")
    assert git(remote, "show", "main:shared.txt") == "both"
    assert git(remote, "log", "--format=%s", "main").split("\n") == ["mine", "theirs", "first"]


def test_work_lands_under_the_message_of_its_landing(alone: Repository) -> None:
    tree = begin(alone)
    tree.take_over("begin")
    (tree.path / "mine.txt").write_text("mine\n")
    tree.commit("work in progress")
    assert tree.rebase("work in progress") == []
    land(tree, "what it became")
    assert git(alone.project, "log", "--format=%s", "main").split("\n") == ["what it became", "first"]


def test_a_change_that_is_on_the_branch_already_lands_nothing(machine: Callable[[str], Repository]) -> None:
    mine, theirs = begin(machine("a")), begin(machine("b"), session="other")
    for tree, label in ((mine, "a"), (theirs, "b")):
        tree.take_over(label)
        (tree.path / "same.txt").write_text("same\n")
    land(theirs, "theirs")
    mine.commit("mine")
    assert mine.rebase("mine") == []
    assert not mine.ahead


def test_a_commit_that_another_machine_has_landed_counts_as_landed(machine: Callable[[str], Repository]) -> None:
    tree, other = begin(machine("a")), machine("b")
    tree.take_over("a")
    (tree.path / "mine.txt").write_text("mine\n")
    land(tree)
    assert other.landed(tree.head)
    assert not other.landed("")
    assert not other.landed("1" * 40)


def test_without_a_remote_work_lands_in_the_branch_and_in_the_files_of_the_checkout(alone: Repository) -> None:
    tree = begin(alone)
    tree.take_over("begin")
    (alone.project / "of the user.txt").write_text("not committed\n")
    (tree.path / "mine.txt").write_text("mine\n")
    land(tree)
    assert (alone.project / "mine.txt").read_text() == "mine\n"
    assert git(alone.project, "status", "--porcelain") == '?? "of the user.txt"'


def test_what_the_user_has_changed_in_the_checkout_is_never_overwritten(alone: Repository) -> None:
    tree = begin(alone)
    tree.take_over("begin")
    (alone.project / "shared.txt").write_text("of the user, not committed\n")
    (tree.path / "shared.txt").write_text("of the agent\n")
    tree.commit("mine")
    tree.rebase("mine")
    with pytest.raises(InTheWay):
        tree.land()
    assert (alone.project / "shared.txt").read_text() == "of the user, not committed\n"
    assert git(alone.project, "log", "--format=%s", "main") == "first"


def test_work_lands_on_a_branch_that_is_checked_out_nowhere(tmp_path: Path) -> None:
    folder = checkout(tmp_path / "project")
    git(folder, "branch", "next")
    repository = Repository(folder, branch="next")
    tree = begin(repository)
    tree.take_over("begin")
    (tree.path / "mine.txt").write_text("mine\n")
    land(tree)
    assert git(folder, "log", "-1", "--format=%s", "next") == "work"
    assert git(folder, "log", "-1", "--format=%s", "main") == "first"


def test_a_remote_that_refuses_a_change_asks_for_a_person(machine: Callable[[str], Repository], remote: Path) -> None:
    tree = begin(machine("a"))
    tree.take_over("begin")
    hook = remote / "hooks" / "update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) echo "review first" >&2; exit 1;; esac\n')
    hook.chmod(0o755)
    (tree.path / "mine.txt").write_text("mine\n")
    tree.commit("mine")
    tree.rebase("mine")
    with pytest.raises(InTheWay, match="review first"):
        tree.land()


def test_a_remote_that_is_gone_is_no_fault_of_the_work(machine: Callable[[str], Repository], remote: Path) -> None:
    tree = begin(machine("a"))
    tree.take_over("begin")
    (tree.path / "mine.txt").write_text("mine\n")
    remote.rename(remote.with_name("moved.git"))
    with pytest.raises(GitUnreachable):
        tree.snapshot("out of reach")
    remote.with_name("moved.git").rename(remote)
    assert tree.snapshot("in reach again")


# -- a kill while a worktree is made


@pytest.mark.parametrize("when", ["before", "commit", "checkout"])
def test_a_worktree_whose_making_was_cut_off_is_made_again_and_blocks_nobody(
    machine: Callable[[str], Repository], when: str
) -> None:
    a = machine("a")
    tree = begin(a)
    (tree.path / "new.txt").write_text("new\n")
    wip = tree.take_over("stored")
    tree.leave()
    own = a.own_folder(tree.path)
    assert own is not None
    (own / "locked").write_text(MAKING)
    (tree.path / "new.txt").unlink()
    if when == "commit":
        (own / "HEAD").write_text("0" * 40 + "\n")
        (own / "index").unlink()
    if when == "before":
        (own / "HEAD").unlink()
    b = machine("b")
    land(begin(b, session="other"))
    assert a.tip() == b.tip()
    assert not tree.path.exists()
    again = a.open_worktree(tree.path, SESSION, base=a.tip(), wip=wip, bundle=None)
    assert (again.path / "new.txt").read_text() == "new\n"
    assert not (own / "locked").exists()


def test_a_git_that_was_killed_in_a_worktree_does_not_keep_it_locked(alone: Repository) -> None:
    tree = begin(alone)
    tree.take_over("begin")
    own = alone.own_folder(tree.path)
    assert own is not None
    for name in ("index.lock", "outlive-index.lock", "HEAD.lock"):
        (own / name).touch()
    tree.leave()
    again = begin(alone)
    (again.path / "new.txt").write_text("new\n")
    again.take_over("again")
    land(again)
    assert git(alone.project, "show", "main:new.txt") == "new"


# -- old worktrees


def test_a_worktree_is_discarded_only_once_everything_in_it_is_stored(alone: Repository) -> None:
    tree = begin(alone)
    tree.take_over("begin")
    (tree.path / "new.txt").write_text("not stored\n")
    assert not alone.discard(tree.path, SESSION), "it is open"
    tree.leave()
    assert not alone.discard(tree.path, SESSION), "a file is not stored"
    assert (tree.path / "new.txt").exists()
    tree = begin(alone)
    tree.take_over("again")
    tree.leave()
    assert alone.discard(tree.path, SESSION)
    assert not tree.path.exists()
    assert git(alone.project, "worktree", "list").count("\n") == 0


def test_a_worktree_that_was_replaced_is_discarded_when_others_have_landed_since(alone: Repository) -> None:
    left = begin(alone)
    left.leave()
    other = alone.open_worktree(left.path.with_name("other"), "other", base=alone.tip(), wip="", bundle=None)
    other.take_over("begin")
    (other.path / "theirs.txt").write_text("theirs\n")
    land(other)
    (left.path / "new.txt").write_text("not stored\n")
    assert not alone.discard(left.path, SESSION)
    (left.path / "new.txt").unlink()
    assert alone.discard(left.path, SESSION), "it holds nothing but an older commit of the branch"
    assert not left.path.exists()


def test_commits_that_never_landed_are_kept_when_their_worktree_is_discarded(alone: Repository) -> None:
    left = begin(alone)
    (left.path / "mine.txt").write_text("mine\n")
    left.commit("cut off before it landed")
    commit = left.head
    left.leave()
    other = alone.open_worktree(left.path.with_name("other"), "other", base=alone.tip(), wip="", bundle=None)
    other.take_over("begin")
    (other.path / "theirs.txt").write_text("theirs\n")
    land(other)
    assert alone.discard(left.path, SESSION)
    assert git(alone.project, "rev-parse", f"refs/outlive/left/{left.path.name}") == commit


def test_what_is_no_worktree_of_this_checkout_is_never_discarded(tmp_path: Path, alone: Repository) -> None:
    other = checkout(tmp_path / "other")
    folder = tmp_path / "folder"
    folder.mkdir()
    assert not alone.discard(other, SESSION)
    assert not alone.discard(folder, SESSION)
    assert not alone.discard(alone.project, SESSION)
    assert other.exists()
    assert folder.exists()


def test_a_removal_that_was_cut_off_is_finished_later(alone: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = begin(alone)
    with monkeypatch.context() as patch:
        patch.setattr("outlive.work.repository.worktree.shutil.rmtree", cut_off)
        with pytest.raises(KeyboardInterrupt):
            tree.remove_folder()
    assert not tree.path.exists()
    sweep(tree.path.parent)
    assert [each for each in tree.path.parent.iterdir() if each.is_dir()] == []


def cut_off(path: Path, **_: object) -> None:
    """Remove a part, and die."""
    (path / ".git").unlink()
    raise KeyboardInterrupt


# -- nothing of the repository runs


def test_hooks_and_monitors_of_the_repository_never_run(alone: Repository, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    script = f"#!/bin/sh\necho \"$0\" >> '{ran}'\n"
    for name in ("post-checkout", "pre-commit", "post-commit", "post-merge", "reference-transaction", "post-rewrite"):
        hook = alone.project / ".git" / "hooks" / name
        hook.write_text(script)
        hook.chmod(0o755)
    monitor = tmp_path / "monitor"
    monitor.write_text(script)
    monitor.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "core.editor"):
        git(alone.project, "config", key, str(monitor))
    git(alone.project, "config", "commit.gpgSign", "true")
    git(alone.project, "config", "gpg.program", str(monitor))
    ran.unlink(missing_ok=True)
    tree = begin(alone)
    (tree.path / "mine.txt").write_text("mine\n")
    tree.take_over("begin")
    tree.unresolved()
    land(tree)
    tree.remove()
    assert not ran.exists(), ran.read_text()


@pytest.mark.parametrize("how", ["folder", "file"])
def test_a_git_folder_that_an_agent_puts_into_its_worktree_is_not_believed(
    alone: Repository, tmp_path: Path, how: str
) -> None:
    ran = tmp_path / "ran"
    tree = begin(alone)
    tree.take_over("begin")
    (tree.path / ".git").unlink()
    planted = tree.path / (".git" if how == "folder" else "planted")
    git(tree.path, "init", "-q", "--bare", str(planted))
    git(tree.path, f"--git-dir={planted}", "config", "core.bare", "false")
    for key in ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv"):
        git(tree.path, f"--git-dir={planted}", "config", key, f"touch '{ran}'; cat")
    (tree.path / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (tree.path / "shared.txt").write_text("changed\n")
    if how == "file":
        (tree.path / ".git").write_text(f"gitdir: {planted}\n")
    stored = tree.snapshot("work in progress")
    assert not ran.exists()
    assert git(alone.project, "show", f"{stored}:shared.txt") == "changed"
    land(tree)
    assert not ran.exists()
    tree.leave()
    alone.discard(tree.path, SESSION)
    assert not ran.exists()


# -- where work is impossible


def test_what_is_missing_for_work_is_said_in_front(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no git repository"):
        Repository(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    with pytest.raises(ConfigError, match="no commit"):
        Repository(empty)
    folder = checkout(tmp_path / "project")
    with pytest.raises(ConfigError, match="no remote 'upstream'"):
        Repository(folder, remote="upstream")
    git(folder, "checkout", "-q", "--detach")
    with pytest.raises(ConfigError, match="no branch"):
        Repository(folder)
    assert Repository(folder, branch="main").tip()
