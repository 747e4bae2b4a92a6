"""Finding files: by pattern, newest first, without what git ignores, never outside."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.tools.files.path_patterns import PathPattern, split_fixed
from outlive.tools.protocol import ToolError
from tests.tools.workbench import Workbench


def found(bench: Workbench, pattern: str, **more: object) -> list[str]:
    return bench.call("glob", pattern=pattern, **more).text.split("\n")


def git(bench: Workbench) -> None:
    subprocess.run(["git", "init", "-q"], cwd=bench.root, check=True)


@pytest.fixture
def tree(bench: Workbench) -> Workbench:
    names = ["a.py", "b.txt", "src/c.py", "src/deep/d.py", "src/deep/d.ts", "tests/test_e.py", "build/out.py"]
    for age, name in enumerate(names):
        path = bench.write(name, "x")
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    return bench


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("*.py", {"a.py", "src/c.py", "src/deep/d.py", "tests/test_e.py", "build/out.py"}),
        ("./*.py", {"a.py"}),
        ("**/*.py", {"a.py", "src/c.py", "src/deep/d.py", "tests/test_e.py", "build/out.py"}),
        ("src/*.py", {"src/c.py"}),
        ("src/**", {"src/c.py", "src/deep/d.py", "src/deep/d.ts"}),
        ("src/**/*.{py,ts}", {"src/c.py", "src/deep/d.py", "src/deep/d.ts"}),
        ("{src,tests}/*.py", {"src/c.py", "tests/test_e.py"}),
        ("**/deep/?.[pt]*", {"src/deep/d.py", "src/deep/d.ts"}),
        ("src/deep/d.py", {"src/deep/d.py"}),
        ("nothing*", set()),
    ],
)
@pytest.mark.parametrize("with_git", [False, True])
def test_patterns_find_what_they_say(tree: Workbench, pattern: str, wanted: set[str], with_git: bool) -> None:
    if with_git:
        git(tree)
    rows = found(tree, pattern)
    if wanted:
        assert set(rows) == wanted
    else:
        assert rows[0].startswith("no file matches")


def test_the_newest_come_first(tree: Workbench) -> None:
    assert found(tree, "src/**/*.py") == ["src/c.py", "src/deep/d.py"]
    os.utime(tree.root / "src/deep/d.py", (2_000_000, 2_000_000))
    assert found(tree, "src/**/*.py") == ["src/deep/d.py", "src/c.py"]


def test_a_folder_may_be_given_and_absolute_patterns_inside_work(tree: Workbench) -> None:
    assert found(tree, "*.py", path="src") == ["src/c.py", "src/deep/d.py"]
    assert found(tree, f"{tree.root}/src/*.py") == ["src/c.py"]


def test_what_git_ignores_is_left_out_unless_it_is_asked_for(tree: Workbench) -> None:
    git(tree)
    tree.write(".gitignore", "build/\n*.txt\n")
    assert "build/out.py" not in found(tree, "**/*.py")
    assert found(tree, "*.txt")[0].startswith("no file matches")
    assert found(tree, "*.py", path="build") == ["build/out.py"]


def test_files_of_git_and_of_outlive_are_left_out(tree: Workbench) -> None:
    assert (tree.root / ".transcripts").is_dir()
    for with_git in (False, True):
        if with_git:
            git(tree)
        rows = found(tree, "**")
        assert not [row for row in rows if row.startswith((".git/", ".transcripts", ".tasks"))]
        assert "a.py" in rows


def test_links_are_named_and_not_followed(tree: Workbench, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "away/hidden.py").write_text("x")
    (tree.root / "away").symlink_to(tmp_path / "away")
    (tree.root / "round").symlink_to(tree.root)
    assert not [row for row in found(tree, "**/*.py") if "hidden" in row or "round" in row]
    assert "outside" in tree.refused("glob", pattern="*.py", path="away")
    assert "outside" in tree.refused("glob", pattern="away/*.py")


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"pattern": "../*"}, "outside"),
        ({"pattern": "/etc/*"}, "outside"),
        ({"pattern": "src/*/../../../*"}, ".."),
        ({"pattern": ""}, "not a pattern"),
        ({"pattern": "a\0"}, "not a pattern"),
        ({"pattern": "*", "path": "a.py"}, "not a folder"),
        ({"pattern": "*", "path": "gone"}, "not a folder"),
        ({"pattern": "{a,b}" * 10}, "more than"),
        ({"pattern": "src/"}, "names a folder"),
        ({}, "pattern"),
    ],
)
def test_what_is_no_pattern_inside_is_refused(tree: Workbench, given: dict[str, object], word: str) -> None:
    assert word in tree.refused("glob", **given)


def test_a_long_list_is_bounded_and_the_rest_counted(bench: Workbench) -> None:
    for number in range(230):
        bench.write(f"f{number}.txt", "")
    rows = found(bench, "*.txt")
    assert len(rows) == 201
    assert rows[-1] == "[30 more, older; narrow the pattern]"


def test_names_that_are_no_text_do_not_break_the_list(bench: Workbench) -> None:
    os.close(os.open(os.fsencode(bench.root) + b"/bad\xff.txt", os.O_CREAT))
    bench.call("glob", pattern="*.txt").text.encode()


def test_a_repository_inside_is_looked_into(tree: Workbench) -> None:
    git(tree)
    tree.write("vendor/lib/x.py", "x")
    subprocess.run(["git", "init", "-q"], cwd=tree.root / "vendor/lib", check=True)
    assert "vendor/lib/x.py" in found(tree, "**/x.py")


NAMES = st.text(st.sampled_from("ab.*?["), min_size=1, max_size=6)


@given(parts=st.lists(st.text(st.sampled_from("ab."), min_size=1, max_size=4), min_size=1, max_size=5))
def test_a_path_matches_itself_and_any_folders(parts: list[str]) -> None:
    path = [part for part in parts if part not in (".", "..")] or ["a"]
    assert PathPattern("./" + "/".join(path)).matches(path)
    assert PathPattern("**").matches(path)
    assert PathPattern("**/" + path[-1]).matches(path)
    assert PathPattern("./" + "/".join([*path[:-1], "**", path[-1]])).matches(path)
    assert not PathPattern("./" + "/".join([*path, "*"])).matches(path)


def test_no_pattern_is_slow() -> None:
    slow = PathPattern("**/" * 40 + "*a" * 40 + "b")
    assert not slow.matches(["a" * 200] * 40)


@given(st.lists(NAMES | st.sampled_from(["..", "**"]), min_size=1, max_size=4))
def test_any_pattern_is_taken_unless_it_leads_upwards(parts: list[str]) -> None:
    try:
        PathPattern("/".join(parts)).matches(["a", "b"])
        taken = True
    except ToolError:
        taken = False
    assert taken == (".." not in parts)


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("src/app/**/*.py", ("src/app", "**/*.py")),
        ("*.py", ("", "*.py")),
        ("/a/*", ("/a", "*")),
        ("/*", ("/", "*")),
        ("a/b", ("a", "b")),
    ],
)
def test_the_fixed_beginning_of_a_pattern(pattern: str, parts: tuple[str, str]) -> None:
    assert split_fixed(pattern) == parts
