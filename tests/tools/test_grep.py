"""Searching: the same answer with ripgrep and without, bounded, and no pattern can stop the session."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.workbench import Workbench

RIPGREP = shutil.which("rg") or shutil.which("rg", path=str(Path(sys.executable).parent))


@pytest.fixture(params=["ripgrep", "worker"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Each of the two that may do the work."""
    if request.param == "ripgrep":
        if RIPGREP is None:
            pytest.skip("NO RIPGREP: it is not installed here")
        monkeypatch.setenv("PATH", f"{Path(RIPGREP).parent}:{os.environ['PATH']}")
    else:
        real = shutil.which
        monkeypatch.setattr(shutil, "which", lambda name, **more: None if name == "rg" else real(name, **more))
    return str(request.param)


@pytest.fixture
def tree(bench: Workbench, engine: str) -> Workbench:
    bench.write("a.py", "import os\n\ndef parse(text):\n    return text\n")
    bench.write("src/b.py", "from a import parse\nPARSE = 1\nparse(2)\n")
    bench.write("src/c.ts", "function parse() {}\n")
    return bench


def test_matches_come_by_file_with_their_lines(tree: Workbench) -> None:
    assert tree.call("grep", pattern="parse").text == (
        "a.py\n    3:def parse(text):\n"
        "src/b.py\n    1:from a import parse\n   --\n    3:parse(2)\n"
        "src/c.ts\n    1:function parse() {}"
    )


def test_context_is_marked(tree: Workbench) -> None:
    text = tree.call("grep", pattern=r"^def \w+", context=1).text
    assert text == "a.py\n    2-\n    3:def parse(text):\n    4-    return text"


def test_case_path_and_glob_narrow_the_search(tree: Workbench) -> None:
    assert "PARSE = 1" in tree.call("grep", pattern="parse", ignore_case=True).text
    assert tree.call("grep", pattern="parse", glob="*.ts").text == "src/c.ts\n    1:function parse() {}"
    assert tree.call("grep", pattern="parse", path="src", glob="*.{ts,js}").text.startswith("src/c.ts")
    assert tree.call("grep", pattern="parse", path="src/c.ts").text.startswith("src/c.ts\n    1:")
    assert tree.call("grep", pattern="parse", glob="src/*.py").text.startswith("src/b.py")


def test_no_match_is_an_answer_not_an_error(tree: Workbench) -> None:
    assert tree.call("grep", pattern="nowhere").text == "no match for nowhere in ."


def test_a_limit_stops_the_search_and_says_so(tree: Workbench) -> None:
    tree.write("many.txt", "hit\n" * 100_000)
    text = tree.call("grep", pattern="hit", limit=5).text
    assert text.count(":hit") == 5
    assert text.endswith("[the first 5 matches; there are more: narrow the search or raise limit]")
    text = tree.call("grep", pattern="hit", limit=2, context=1).text
    assert text.count(":hit") == 2
    exact = tree.call("grep", pattern="return", limit=1).text
    assert "there are more" not in exact


def test_long_lines_are_cut_around_the_match(tree: Workbench) -> None:
    tree.write("min.js", "x" * 5_000_000 + "needle" + "y" * 5_000_000 + "\n")
    text = tree.call("grep", pattern="needle").text
    assert "needle" in text
    assert len(text) < 600
    assert "[10,000,006 bytes]" in text


def test_what_git_ignores_is_left_out_unless_it_is_asked_for(tree: Workbench) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tree.root, check=True)
    tree.write(".gitignore", "build/\n")
    tree.write("build/out.py", "parse\n")
    tree.write(".hidden.py", "parse\n")
    text = tree.call("grep", pattern="parse").text
    assert "build" not in text
    assert ".hidden.py" in text
    assert "build/out.py" in tree.call("grep", pattern="parse", path="build").text


def test_git_and_the_log_of_the_session_are_left_out(tree: Workbench) -> None:
    tree.write(".git/config", "findme\n")
    tree.user("findme please")
    assert "findme" in (tree.root / ".transcripts/s.jsonl").read_text()
    assert tree.call("grep", pattern="findme").text.startswith("no match")


def test_binary_files_links_and_pipes_are_passed_over(tree: Workbench, tmp_path: Path) -> None:
    tree.write("bin", b"parse\0parse\n")
    (tmp_path / "secret.py").write_text("parse secret\n")
    (tree.root / "link.py").symlink_to(tmp_path / "secret.py")
    (tree.root / "folder").symlink_to(tmp_path)
    os.mkfifo(tree.root / "fifo")
    text = tree.call("grep", pattern="parse").text
    assert "secret" not in text
    assert "bin\n" not in text
    assert "outside" in tree.refused("grep", pattern="parse", path="link.py")
    assert "neither" in tree.refused("grep", pattern="parse", path="fifo")


def test_bytes_and_names_that_are_no_text_do_not_break_it(tree: Workbench) -> None:
    tree.write("latin.txt", b"caf\xe9 parse\r\n")
    with open(os.fsencode(tree.root) + b"/bad\xff.txt", "wb") as file:
        file.write(b"parse\n")
    text = tree.call("grep", pattern="parse", glob="*.txt").text
    text.encode()
    assert "caf\ufffd parse" in text
    assert "bad" in text


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"pattern": "("}, "grep: "),
        ({"pattern": ""}, "pattern"),
        ({"pattern": "a\nb"}, "one line"),
        ({"pattern": "a\0"}, "one line"),
        ({"pattern": "a", "path": "gone"}, "no file or folder"),
        ({"pattern": "a", "path": "../"}, "outside"),
        ({"pattern": "a", "context": 99}, "context"),
        ({"pattern": "a", "limit": 0}, "limit"),
        ({"pattern": "a", "output_mode": "content"}, "output_mode"),
        ({"pattern": ["a"]}, "pattern"),
    ],
)
def test_what_cannot_be_searched_is_refused(tree: Workbench, given: dict[str, object], word: str) -> None:
    assert word in tree.refused("grep", **given)


def test_a_pattern_like_an_option_is_a_pattern(tree: Workbench) -> None:
    tree.write("opt.txt", "--files\n")
    assert "1:--files" in tree.call("grep", pattern="--files").text


def test_a_pattern_without_end_is_stopped(tree: Workbench, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    monkeypatch.setattr("outlive.tools.builtin.grep.TIMEOUT_SECONDS", 1.0)
    tree.write("slow.txt", "a" * 40 + "\n")
    outcome = tree.any("grep", pattern="(a|a)*(a|a)*(a|a)*b$", path="slow.txt")
    if engine == "worker":
        assert "took longer than 1 s" in outcome.text
    assert "failed inside" not in outcome.text
