"""Nothing that a call can spell leads out of the workspace."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive.tools.permissions.fence import Fence
from outlive.tools.protocol import ToolError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "src/app.py").write_text("print()\n")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key").write_text("k")
    return root.resolve()


def test_relative_and_absolute_paths_inside_are_found(root: Path) -> None:
    fence = Fence(root)
    assert fence.inside("src/app.py") == root / "src/app.py"
    assert fence.inside(str(root / "src/app.py")) == root / "src/app.py"
    assert fence.inside("src/../src/./app.py") == root / "src/app.py"
    assert fence.inside(".") == root
    assert fence.inside("not/yet/there.txt") == root / "not/yet/there.txt"
    assert fence.shown(root / "src/app.py") == "src/app.py"


@pytest.mark.parametrize(
    "path",
    [
        *("..", "../secret/key", "src/../../secret/key", "/etc/passwd", "/", "missing/../../secret/key"),
        *(
            "//etc/passwd",
            "~",
            "~/x",
            "~root/x",
            "src/../../work2/x",
            "/proc/self/root/etc/passwd",
            "/proc/self/cwd/x",
        ),
    ],
)
def test_a_path_that_leaves_is_refused_with_the_way_out(root: Path, path: str) -> None:
    with pytest.raises(ToolError, match="outside of the workspace") as refused:
        Fence(root).inside(path)
    assert path in str(refused.value)
    assert "Only the user can add a folder" in str(refused.value)


@pytest.mark.parametrize("path", ["", "   ", "\n"])
def test_an_empty_path_is_refused(root: Path, path: str) -> None:
    with pytest.raises(ToolError, match="empty"):
        Fence(root).inside(path)


@pytest.mark.parametrize("path", ["a\0b", "x" * 256, "é" * 128, "a/" * 3000, "\ud800", "src/app.py\0.txt"])
def test_what_is_no_path_at_all_is_refused(root: Path, path: str) -> None:
    with pytest.raises(ToolError, match=r"not a path|too long"):
        Fence(root).inside(path)


def test_a_folder_with_the_same_beginning_is_outside(root: Path) -> None:
    (root.parent / "work-other").mkdir()
    with pytest.raises(ToolError, match="outside"):
        Fence(root).inside("../work-other/file")


def test_symlinks_lead_nowhere_else(root: Path) -> None:
    secret = root.parent / "secret"
    (root / "file").symlink_to(secret / "key")
    (root / "folder").symlink_to(secret)
    (root / "dangling").symlink_to(secret / "new")
    (root / "src/up").symlink_to("../..")
    (root / "chain").symlink_to("folder")
    fence = Fence(root)
    names = ("file", "folder/key", "folder", "dangling", "folder/new/deep.txt", "src/up/secret/key", "chain/key")
    for name in (*names, "src/up/work/../secret/key"):
        with pytest.raises(ToolError, match="outside"):
            fence.inside(name)
        with pytest.raises(ToolError):
            fence.open_inside(name, os.O_WRONLY | os.O_CREAT)
    assert sorted(path.name for path in secret.iterdir()) == ["key"]


def test_symlinks_that_stay_inside_are_followed(root: Path) -> None:
    (root / "lib").symlink_to("src")
    (root / "abs").symlink_to(root / "src")
    assert Fence(root).inside("lib/app.py") == root / "src/app.py"
    assert Fence(root).inside("abs/app.py") == root / "src/app.py"
    assert Fence(root).inside("lib/../src/app.py") == root / "src/app.py"


def test_a_circle_of_symlinks_is_refused(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "out").symlink_to("../secret")
    for path in ("a", "a/x", "a/../out/key", "missing/../a/../out/key"):
        with pytest.raises(ToolError, match=r"circle|outside"):
            Fence(root).inside(path)


def test_a_root_that_is_reached_by_a_symlink_is_its_real_self(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    assert Fence(link).inside("src/app.py") == root / "src/app.py"
    assert Fence(root).inside(str(link / "src/app.py")) == root / "src/app.py"


def test_the_user_can_add_folders(root: Path) -> None:
    secret = root.parent / "secret"
    fence = Fence(root, [secret])
    assert fence.inside("../secret/key") == secret / "key"
    (root / "folder").symlink_to(secret)
    assert fence.inside("folder/key") == secret / "key"
    assert fence.protected(secret / ".git/hooks/pre-commit")
    with pytest.raises(ToolError, match="outside"):
        fence.inside(str(root.parent))


@pytest.mark.parametrize(
    "path",
    [
        *(
            ".transcripts/s.jsonl",
            ".tasks/task_1.json",
            ".memory/a.md",
            ".task_outputs/x",
            "outlive.toml",
            ".outlive",
        ),
        *(".outlive/skills/x/SKILL.md", ".git/hooks/pre-commit", ".git/config", ".git", "vendor/lib/.git/hooks/x"),
        *("OUTLIVE.toml", ".Git/Config", "src/../outlive.toml"),
    ],
)
def test_what_belongs_to_the_harness_is_protected(root: Path, path: str) -> None:
    fence = Fence(root)
    assert fence.protected(fence.inside(path))
    with pytest.raises(ToolError, match="belongs to"):
        fence.editable(path)
    with pytest.raises(ToolError, match="belongs to"):
        fence.open_inside(path, os.O_WRONLY | os.O_CREAT)
    with pytest.raises(ToolError, match="belongs to"):
        fence.open_folder(path, make=True)
    assert sorted(entry.name for entry in root.iterdir()) == ["src"]


def test_a_symlink_to_what_is_protected_is_protected(root: Path) -> None:
    (root / "outlive.toml").write_text("")
    (root / "harmless.txt").symlink_to("outlive.toml")
    (root / "x").symlink_to(".git")
    fence = Fence(root)
    for path in ("harmless.txt", "x/hooks/pre-commit"):
        with pytest.raises(ToolError, match="belongs to"):
            fence.editable(path)


@pytest.mark.parametrize(
    "path", ["src/app.py", ".gitignore", ".github/x", "docs/outlive.toml", "golden/.tasks/t.json"]
)
def test_the_work_itself_is_not_protected(root: Path, path: str) -> None:
    assert Fence(root).editable(path) == root / path


def test_more_can_be_protected(root: Path) -> None:
    fence = Fence(root, protect=[root / "state"])
    assert fence.protected(root / "state/tasks.db")
    assert not fence.protected(root / "stateful.py")


def test_a_file_is_opened_read_and_made_through_the_fence(root: Path) -> None:
    fence = Fence(root)
    with os.fdopen(fence.open_inside("src/app.py")) as file:
        assert file.read() == "print()\n"
    with os.fdopen(fence.open_inside("new.txt", os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w") as file:
        file.write("new")
    assert (root / "new.txt").read_text() == "new"
    folder, name = fence.open_folder("a/b/c.txt", make=True)
    try:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=folder))
    finally:
        os.close(folder)
    assert (root / "a/b/c.txt").exists()
    with pytest.raises(FileNotFoundError) as missing:
        fence.open_inside("no/such.txt")
    assert str(root) in str(missing.value)


class Racing(Fence):
    """Someone swaps a folder or a file for a symlink right after the path was found good."""

    def __init__(self, root: Path, victim: Path, target: Path) -> None:
        super().__init__(root)
        self.victim, self.target = victim, target

    def inside(self, path: str) -> Path:
        real = super().inside(path)
        self.victim.rename(self.victim.with_name("moved"))
        self.victim.symlink_to(self.target)
        return real


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT])
def test_a_folder_swapped_after_the_check_is_not_followed(root: Path, flags: int) -> None:
    secret = root.parent / "secret"
    (root / "src/key").write_text("mine")
    with pytest.raises(ToolError, match="became a symlink"):
        Racing(root, root / "src", secret).open_inside("src/key", flags)
    assert (secret / "key").read_text() == "k"


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC])
def test_a_file_swapped_after_the_check_is_not_followed(root: Path, flags: int) -> None:
    secret = root.parent / "secret/key"
    with pytest.raises(ToolError, match="became a symlink"):
        Racing(root, root / "src/app.py", secret).open_inside("src/app.py", flags)
    assert secret.read_text() == "k"


def test_no_descriptor_is_left_open(root: Path) -> None:
    fence = Fence(root)
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(20):
        os.close(fence.open_inside("src/app.py"))
        for path in ("src/app.py/x", "nope/x", "src/nope"):
            with pytest.raises((ToolError, OSError)):
                fence.open_inside(path)
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    assert after == before


PARTS = st.sampled_from(
    ["..", ".", "src", "app.py", "out", "up", "loop", "dead", "in", "new", "secret", "work", "", "~", "key"]
)


@settings(max_examples=400)
@given(parts=st.lists(PARTS, min_size=1, max_size=9), absolute=st.booleans())
def test_no_path_ever_leaves(root: Path, parts: list[str], absolute: bool) -> None:
    """Whatever the names and the links: what is let through is inside by the kernel's own reckoning."""
    links = {"out": "../secret", "up": "..", "loop": "loop", "dead": "../nowhere", "in": "src", "src/up": "../.."}
    for name, target in links.items():
        if not (root / name).is_symlink():
            (root / name).symlink_to(target)
    path = "/".join(parts)
    fence = Fence(root)
    try:
        real = fence.inside(str(root / path) if absolute else path)
    except ToolError:
        return
    assert real == root or root in real.parents
    try:
        descriptor = os.open(real, os.O_RDONLY)
    except OSError:
        return
    try:
        true = Path(os.readlink(f"/proc/self/fd/{descriptor}")) if Path("/proc/self/fd").exists() else real.resolve()
    finally:
        os.close(descriptor)
    assert true == root or root in true.parents
