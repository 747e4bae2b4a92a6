"""Which words of a prompt name a file, and which only look like it."""

from pathlib import Path
from typing import cast

import pytest

from outlive.agent.attachments.mentions import MAX_CANDIDATES, MAX_SPELLINGS, mentions


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("src/app.py", "src/a b.py", "docs/guide.md", "notes (old).txt", "odd:7"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x\n")
    return tmp_path


def named(project: Path, words: str) -> list[str]:
    return [mention.label for mention in mentions(words, project)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("look at @src/app.py please", ["src/app.py"]),
        ("(@src/app.py), and @docs/guide.md.", ["src/app.py", "docs/guide.md"]),
        (
            "@src/app.py:10-40 and @src/app.py:7, @src/app.py",
            ["src/app.py, lines 10-40", "src/app.py, line 7", "src/app.py"],
        ),
        ("what is in @docs/?", ["docs/"]),
        ('read @"src/a b.py":2-3', ["src/a b.py, lines 2-3"]),
        ("@odd:7 is a name", ["odd:7"]),
        ("@src/app.py again @src/app.py", ["src/app.py"]),
        ("@src/app.py:40-10", ["src/app.py, line 40"]),
    ],
)
def test_what_exists_is_named(project: Path, words: str, found: list[str]) -> None:
    assert named(project, words) == found


@pytest.mark.parametrize(
    "words",
    [
        "write to anna@docs/ or anna@src",
        "@property\ndef docs(self): ...",
        "install @types/node",
        "a file in code:\n```\n@src/app.py\n```\n",
        "git@docs/guide.md and ./@docs/guide.md",
        "@",
        "@" * 5000,
        "@\0 @" + "x" * 9000,
    ],
)
def test_what_does_not_exist_or_is_code_is_not(project: Path, words: str) -> None:
    assert named(project, words) == []


class Counting:
    """A folder that counts how often something is looked up in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def __truediv__(self, name: Path) -> Path:
        self.count += 1
        return self.folder / name


def test_very_many_at_signs_cost_little(project: Path) -> None:
    folder = Counting(project)
    assert mentions("@cache!!!!!!!!!!!!!!!!!!!\ndef f(): ...\n" * 20_000, cast(Path, folder)) == []
    assert 0 < folder.count <= 2 * MAX_CANDIDATES * MAX_SPELLINGS
