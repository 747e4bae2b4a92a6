"""Which files are listed, held against what real git lists."""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive.tools.files.ignore import MAX_FILE_BYTES, IgnoreRules
from outlive.tools.files.workspace import files_below

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture(autouse=True)
def nobodys_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", ENV["HOME"])
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def make(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode("utf-8", "surrogateescape"))


def git_lists(root: Path, folder: str = ".") -> set[str]:
    command = ["git", "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root / folder, capture_output=True, check=True, env=ENV).stdout
    return {os.fsdecode(name) for name in listed.split(b"\0") if name}


def we_list(root: Path, folder: str = ".") -> set[str]:
    start = (root / folder).resolve()
    return {str(path.relative_to(start)) for path in files_below(start).files}


def compare(root: Path, rules: dict[str, str], files: list[str]) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True, env=ENV)
    make(root, dict.fromkeys(files, "x") | rules)
    listed = git_lists(root)
    assert not listed or we_list(root) == listed  # where git leaves nothing, we leave nothing out


TREE = [
    "a",
    "b",
    "ab",
    "a.b",
    "abc",
    "d/a",
    "d/b",
    "d/ab",
    "d/d/a",
    "d/d/b",
    "d/a.b",
    "e/d/a",
    "e/d/b",
    "e/f/d/a",
    "é",
    "-",
    "]",
]
"""Names that short patterns over the same letters are likely to match."""

PIECES = st.sampled_from(
    [
        *("a", "b", "d", "e", "f", ".", "-", "é", " ", "\t", "\r", "!", "#", "/"),
        *("*", "**", "?", "/**/", "**/", "/**", "\\a", "\\*", "\\", "\\ "),
        *("[ab]", "[!a]", "[^b]", "[a-e]", "[]a]", "[a", "[[:alpha:]]", "[[:x:]]", "[[:a]", "[\\]-]", "[b-]"),
    ]
)
LINE = st.builds(
    lambda sign, pieces, end: sign + "".join(pieces) + end,
    st.sampled_from(["", "", "!", "/"]),
    st.lists(PIECES, max_size=6),
    st.sampled_from(["", "", "/", " "]),
)
RULES = st.lists(LINE, max_size=5).map("\n".join)


@settings(max_examples=60)
@given(root=RULES, nested=RULES, deeper=RULES, exclude=RULES)
def test_any_rules_ignore_what_git_ignores(root: str, nested: str, deeper: str, exclude: str) -> None:
    with TemporaryDirectory() as folder:
        rules = {".gitignore": root, "d/.gitignore": nested, "e/f/.gitignore": deeper, ".git/info/exclude": exclude}
        compare(Path(folder).resolve(), rules, TREE)


@pytest.mark.parametrize(
    "rules",
    [
        "*.py\n!keep.py\n",
        "build/\n!build/kept.py\n",
        "build/*\n!build/kept.py\n",
        "/x.py\n",
        "doc/*.txt\n",
        "**/logs\n",
        "logs/**\n!logs/a/\n",
        "a/**/b\n",
        "a**/b\n",
        "doc/**/*.txt\n!doc/deep/**\n",
        "\\#x\n\\!y\ntrail\\ \nspace \n",
        "[!a-c].py\n[[:digit:]]*\n",
        "\ufefffirst\nsecond\r\n",
        "x.py/\n",
        "*\n!*/\n!*.txt\n",
        "a\0b\n",
    ],
)  # fmt: skip
def test_common_and_odd_rules_ignore_what_git_ignores(tmp_path: Path, rules: str) -> None:
    files = ["x.py", "keep.py", "sub/x.py", "build/out.py", "build/kept.py", "logs/a/b", "logs/c", "e/logs/d", "a/b",
             "a/x/y/b", "ax/b", "doc/a.txt", "doc/deep/b.txt", "#x", "!y", "trail ", "space", "d.py", "1x", "first",
             "second", "\udcff.txt"]  # fmt: skip
    compare(tmp_path, {".gitignore": rules}, files)


def test_the_users_own_ignore_file_counts_least(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, root = tmp_path / "home", tmp_path / "work"
    make(
        home,
        {".gitconfig": "[core]\n\texcludesFile = ~/mine\n", "mine": "*.log\n*.tmp\n", ".config/git/ignore": "*\n"},
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setitem(ENV, "HOME", str(home))
    compare(root, {".gitignore": "!keep.log\n"}, ["a.log", "keep.log", "b.tmp", "c"])
    (home / ".gitconfig").unlink()
    assert we_list(root) == git_lists(root) == {".gitignore", "keep.log"} - {".gitignore"}


def test_a_subfolder_is_listed_by_the_rules_above_it(tmp_path: Path) -> None:
    compare(tmp_path, {".gitignore": "*.log\n/sub/deep/no\n"}, ["sub/a.log", "sub/b", "sub/deep/no", "sub/deep/yes"])
    assert we_list(tmp_path, "sub") == git_lists(tmp_path, "sub") == {"b", "deep/yes"}
    assert we_list(tmp_path, "sub/deep") == {"yes"}


def test_an_ignored_folder_is_listed_whole_when_it_is_asked_for(tmp_path: Path) -> None:
    compare(tmp_path, {".gitignore": "build/\n*.o\nlogs/*\n"}, ["build/x.o", "build/y/z.o", "logs/a"])
    assert we_list(tmp_path, "build") == {"x.o", "y/z.o"}
    assert we_list(tmp_path, "build/y") == {"z.o"}
    assert we_list(tmp_path, "logs") == {"a"}


def test_ignore_files_count_only_in_a_repository_and_a_link_is_none(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*.log\n", "a.log": "x"})
    assert we_list(tmp_path) == {".gitignore", "a.log"}
    (tmp_path / "rules").write_text("*.log\n")
    (tmp_path / ".gitignore").unlink()
    (tmp_path / ".gitignore").symlink_to("rules")
    compare(tmp_path, {}, [])
    (tmp_path / ".gitignore").unlink()
    (tmp_path / ".gitignore").mkdir()
    compare(tmp_path, {}, [])


def test_a_linked_worktree_and_a_repository_inside_have_their_own_rules(tmp_path: Path) -> None:
    root = tmp_path / "work"
    compare(root, {".gitignore": "*.log\n", ".git/info/exclude": "*.tmp\n"}, ["a.tmp", "f"])
    who = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*who, "commit", "-q", "--allow-empty", "-m", "x"], cwd=root, check=True, env=ENV)
    subprocess.run(["git", "worktree", "add", "-q", str(tmp_path / "linked")], cwd=root, check=True, env=ENV)
    make(tmp_path / "linked", {"b.tmp": "x", "c": "x"})
    assert we_list(tmp_path / "linked") == git_lists(tmp_path / "linked") == {"c"}
    subprocess.run(["git", "init", "-q", str(root / "inner")], check=True, env=ENV)
    make(root / "inner", {"seen.log": "x", ".gitignore": "*.tmp\n", "no.tmp": "x"})
    assert {name for name in we_list(root) if name.startswith("inner")} == {"inner/seen.log", "inner/.gitignore"}


@pytest.mark.parametrize(
    "pattern", ["*a*a*a*a*a*a*a*a*b", "**/a/**/a/**/a/**/a/b", "[a-z]*" * 40 + "0", "?*" * 60 + "0"]
)
def test_no_rule_costs_more_than_the_length_of_the_name(pattern: str) -> None:
    """The work is one step a byte: a state is one integer, whatever the rules are."""
    rules = IgnoreRules(pattern.encode())
    state = rules.start
    for byte in b"a" * 200 + b"/a" * 1900:
        state = rules.advance(state, bytes([byte]))
        assert state.bit_length() <= rules.size
    assert rules.verdict(state, folder=False) is None


def test_what_an_ignore_file_can_cost_is_bounded(tmp_path: Path) -> None:
    compare(tmp_path, {".gitignore": "no\n"}, [f"d{number}/f" for number in range(20)])
    assert not files_below(tmp_path).cut_short
    few = files_below(tmp_path, most=5)
    assert (len(few.files), few.cut_short) == (5, True)
    assert "only 5 files" in few.note
    assert files_below(tmp_path, work=30).cut_short
    make(tmp_path, {f"d{number}/.gitignore": "x\n" for number in range(20)})
    assert files_below(tmp_path, work=5000).cut_short
    make(tmp_path, {"d0/.gitignore": "f\n" * MAX_FILE_BYTES})
    assert {"d0/f", "d1/f"} <= we_list(tmp_path), "an ignore file that is too large does not count"
