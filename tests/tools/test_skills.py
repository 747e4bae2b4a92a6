"""Skills: in the prompt by name and description, whole when loaded; a damaged one harms no other."""

from pathlib import Path

import pytest

from outlive.tools.protocol import ToolError
from outlive.tools.skills import MAX_FILE_BYTES, MAX_LISTING_CHARS, Skills


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    path = folder / "SKILL.md"
    path.write_text(text)
    return path


def skill(folder: Path, name: str, description: str, body: str = "Do it.") -> Path:
    return write(folder / name, f"---\nname: {name}\ndescription: {description}\n---\n{body}\n")


def test_only_name_and_description_are_listed_until_one_is_loaded(tmp_path: Path) -> None:
    skill(tmp_path / "skills", "release", "How to make a release", body="1. tag\n2. push")
    skills = Skills(tmp_path, None)
    assert skills.listing() == "- release: How to make a release"
    text = skills.load("release")
    assert "1. tag\n2. push" in text
    assert str(tmp_path / "skills/release") in text


def test_no_skills_is_no_listing(tmp_path: Path) -> None:
    assert Skills(tmp_path, tmp_path / "home").listing() == ""
    with pytest.raises(ToolError, match="there are no skills"):
        Skills(tmp_path, None).load("x")


def test_the_workspace_comes_before_the_user(tmp_path: Path) -> None:
    skill(tmp_path / "home/skills", "a", "of the user")
    skill(tmp_path / "home/skills", "c", "of the user")
    skill(tmp_path / "work/.outlive/skills", "a", "kept aside")
    skill(tmp_path / "work/.outlive/skills", "b", "kept aside")
    skill(tmp_path / "work/skills", "a", "of the workspace")
    listing = Skills(tmp_path / "work", tmp_path / "home").listing()
    assert listing.splitlines() == ["- a: of the workspace", "- b: kept aside", "- c: of the user"]


def test_an_unknown_skill_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    skill(tmp_path / "skills", "one", "first")
    with pytest.raises(ToolError, match="no skill 'two'; the skills are: one"):
        Skills(tmp_path).load("two")
    with pytest.raises(ToolError):
        Skills(tmp_path).load("../../etc/passwd")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no head at all", "does not begin with a frontmatter"),
        ("---\nname: x\n", "has no end"),
        ("---\nname: x\n---\n", "no description"),
        ("---\nname: ../x\ndescription: d\n---\n", "not a name"),
        ("---\nname: x\ndescription: " + "d" * 2000 + "\n---\n", "longer than"),
        ("---\nname: x\ndescription: d\n---\n" + "x" * MAX_FILE_BYTES, "larger than"),
    ],
)
def test_a_damaged_skill_is_named_and_the_others_work(tmp_path: Path, text: str, why: str) -> None:
    skill(tmp_path / "skills", "good", "works")
    write(tmp_path / "skills/bad", text)
    skills = Skills(tmp_path)
    assert list(skills.found()) == ["good"]
    (damaged,) = (line for line in skills.listing().splitlines() if "cannot be used" in line)
    assert why in damaged
    assert "bad" in damaged


def test_a_skill_that_is_not_text_is_damaged(tmp_path: Path) -> None:
    write(tmp_path / "skills/bad", "").write_bytes(b"---\nname: x\ndescription: \xff\n---\n")
    assert Skills(tmp_path).listing().count("cannot be used") == 1


def test_folded_and_quoted_descriptions_are_read(tmp_path: Path) -> None:
    write(tmp_path / "skills/a", "---\nname: a\ndescription: >-\n  one\n  two\nlicense: MIT\n---\n")
    write(tmp_path / "skills/b", '---\r\nname: "b"\r\ndescription: "says: this"\r\n---\r\n')
    assert Skills(tmp_path).listing() == "- a: one two\n- b: says: this"


def test_a_skill_of_the_workspace_cannot_be_a_link_to_a_file_elsewhere(tmp_path: Path) -> None:
    outside = skill(tmp_path / "elsewhere", "leak", "a secret")
    (tmp_path / "work/skills/leak").mkdir(parents=True)
    (tmp_path / "work/skills/leak/SKILL.md").symlink_to(outside)
    assert Skills(tmp_path / "work").listing() == ""


def test_a_long_list_is_cut_and_says_so(tmp_path: Path) -> None:
    for number in range(40):
        skill(tmp_path / "skills", f"s{number:02}", "d" * 1000)
    listing = Skills(tmp_path).listing()
    assert len(listing) < MAX_LISTING_CHARS + 200
    assert "more skills are not listed" in listing


def test_a_skill_that_comes_later_is_seen(tmp_path: Path) -> None:
    skills = Skills(tmp_path)
    assert skills.listing() == ""
    skill(tmp_path / "skills", "new", "just written")
    assert "just written" in skills.load("new")
