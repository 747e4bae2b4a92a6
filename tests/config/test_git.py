"""What is read from git's own files, held against what real git says."""

import os
import subprocess
from pathlib import Path

import pytest

from outlive.agent.log.world import World
from outlive.config.git import git_folders, head

ENV = {
    **os.environ,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a",
}


def git(folder: Path, *command: str) -> str:
    return subprocess.run(
        ["git", *command], cwd=folder, capture_output=True, text=True, env=ENV, check=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    return root


def test_head_is_what_git_says_wherever_it_is_kept(repository: Path) -> None:
    assert head(repository) == ""
    git(repository, "commit", "-q", "--allow-empty", "-m", "one")
    (repository / "deep/er").mkdir(parents=True)

    def same(folder: Path) -> None:
        said = git(folder, "rev-parse", "HEAD")
        assert len(said) == 40
        assert head(folder) == World(folder).head() == said

    same(repository)
    same(repository / "deep/er")
    git(repository, "pack-refs", "--all")
    same(repository)
    git(repository, "commit", "-q", "--allow-empty", "-m", "two")
    same(repository)
    git(repository, "checkout", "-q", "--detach", "HEAD~1")
    same(repository)
    git(repository, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(repository, "symbolic-ref", "HEAD", "refs/heads/alias")
    same(repository)
    git(repository, "worktree", "add", "-q", "-b", "topic", "../linked")
    same(repository.parent / "linked")
    git(repository, "pack-refs", "--all")
    same(repository.parent / "linked")
    linked = git_folders(repository.parent / "linked")
    assert linked is not None
    assert linked.linked
    assert linked.common == repository / ".git"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("HEAD", "ref: refs/heads/../../../../secret\n"),
        ("HEAD", "ref: refs/heads/main\n"),
        ("HEAD", "ref: HEAD\n"),
        ("HEAD", "not a commit\n"),
        ("HEAD", ""),
        ("commondir", "../gone\n"),
        ("refs/heads/main", "password\n"),
    ],
)
def test_nothing_but_a_commit_is_ever_taken_for_head(repository: Path, name: str, text: str) -> None:
    (repository.parent / "secret").write_text("password\n")
    (repository / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
    (repository / ".git" / name).write_text(text)
    assert head(repository) == ""


@pytest.mark.parametrize("name", [".git", ".git/HEAD", ".git/packed-refs", ".git/commondir", ".git/refs/heads/main"])
def test_pipes_links_and_devices_in_place_of_files_are_not_read(repository: Path, name: str) -> None:
    for plant in (os.mkfifo, lambda path: os.symlink("/dev/zero", path)):
        path = repository / name
        if path.is_dir() and not path.is_symlink():
            path.rename(repository / "moved")
        path.unlink(missing_ok=True)
        plant(path)
        assert head(repository) == ""
