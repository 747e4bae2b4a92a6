"""Editing: exactly the one place that was meant, or an answer that helps; every other byte stays."""

import os
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from outlive.tools.files.read_tracker import ReadTracker
from tests.tools.workbench import Workbench


def read(bench: Workbench, name: str, content: str | bytes) -> Path:
    """Write a file that the model then reads."""
    path = bench.write(name, content)
    bench.any("read_file", path=name)
    return path


def edit(bench: Workbench, old: str, new: str, path: str = "a.py", **more: object) -> str:
    return bench.call("edit_file", path=path, old_text=old, new_text=new, **more).text


def refused(bench: Workbench, old: str, new: str = "NEW", path: str = "a.py", **more: object) -> str:
    before = (bench.root / path).read_bytes() if (bench.root / path).is_file() else b""
    text = bench.refused("edit_file", path=path, old_text=old, new_text=new, **more)
    if before:
        assert (bench.root / path).read_bytes() == before
    return text


def test_the_one_place_is_replaced_and_the_change_is_shown(bench: Workbench) -> None:
    path = read(bench, "a.py", "def f():\n    return 1\n\ndef g():\n    return 2\n")
    path.chmod(0o755)
    outcome = bench.call("edit_file", path="a.py", old_text="return 2", new_text="return 3")
    assert path.read_text() == "def f():\n    return 1\n\ndef g():\n    return 3\n"
    assert path.stat().st_mode & 0o777 == 0o755
    assert outcome.text == "edited a.py: 1 place, at line 5, +1 −1"
    assert "-    return 2\n+    return 3" in outcome.shown
    assert outcome.shown.startswith("--- a.py\n+++ a.py\n@@ -2,4 +2,4 @@\n")
    assert bench.gate.previews[-1] == outcome.shown


def test_a_file_that_was_not_read_is_not_changed(bench: Workbench) -> None:
    path = bench.write("a.py", "one = 1\n")
    text = bench.refused("edit_file", path="a.py", old_text="one", new_text="two")
    assert "you have not read it" in text
    assert path.read_text() == "one = 1\n"
    bench.call("read_file", path="a.py")
    edit(bench, "one", "two")
    assert path.read_text() == "two = 1\n"
    edit(bench, "two", "three")
    assert path.read_text() == "three = 1\n"


def test_several_matches_are_counted_and_placed(bench: Workbench) -> None:
    read(bench, "a.py", "x = 1\ny = 2\nx = 1\n\nx = 1\n")
    text = refused(bench, "x = 1")
    assert "3 times" in text
    assert "lines 1, 3, 5" in text
    assert edit(bench, "x = 1", "x = 7", replace_all=True) == "edited a.py: 3 places, at lines 1, 3, 5, +3 −3"
    assert (bench.root / "a.py").read_text() == "x = 7\ny = 2\nx = 7\n\nx = 7\n"


def test_places_that_overlap_are_not_one(bench: Workbench) -> None:
    read(bench, "a.py", "aaa")
    assert "2 times" in refused(bench, "aa")


def test_a_difference_in_whitespace_is_named_and_shown(bench: Workbench) -> None:
    read(bench, "a.py", "class A:\n\tdef f(self):\n\t\treturn  1\n")
    text = refused(bench, "    def f(self):\n        return 1\n".rstrip("\n"))
    assert "only whitespace differs at lines 2-3" in text
    assert "    2\t\tdef f(self):\n    3\t\t\treturn  1" in text


def test_the_nearest_places_are_shown_with_their_lines(bench: Workbench) -> None:
    rows = [f"def handler_{n}(request):" if n % 10 == 0 else f"    value_{n} = compute({n})" for n in range(1, 60)]
    read(bench, "a.py", "\n".join(rows))
    text = refused(bench, "def handler_40(req):")
    assert "nearest places" in text
    assert "line 40, " in text
    assert "   40\tdef handler_40(request):" in text


def test_nothing_near_says_so(bench: Workbench) -> None:
    read(bench, "a.py", "x\n")
    assert "nothing in the file comes near" in refused(bench, "something entirely different")


def test_line_numbers_in_the_text_are_recognised(bench: Workbench) -> None:
    read(bench, "a.py", "one\ntwo\n")
    assert "line numbers" in refused(bench, "    1\tone\n    2\ttwo")


def test_an_edit_that_was_made_before_is_recognised(bench: Workbench) -> None:
    read(bench, "a.py", "total = compute_all(items)\n")
    assert "already, at line 1" in refused(bench, "zzz = none of it", "total = compute_all(items)")


def test_an_empty_text_is_refused_with_the_way_out(bench: Workbench) -> None:
    read(bench, "a.py", "one\n")
    assert "write_file" in refused(bench, "")
    assert "nothing would change" in refused(bench, "one", "one")


def test_a_file_that_changed_since_it_was_read_is_left_alone(bench: Workbench) -> None:
    path = read(bench, "a.py", "one\ntwo\n")
    bench.call("read_file", path="a.py")
    path.write_text("one\ntwo\nthree\n")
    assert "changed on disk" in refused(bench, "one", "1")
    bench.call("read_file", path="a.py")
    edit(bench, "one", "1")
    edit(bench, "two", "2")
    assert path.read_text() == "1\n2\nthree\n"


def test_a_command_that_changed_the_file_counts_as_somebody_else(bench: Workbench) -> None:
    read(bench, "a.py", "one\n")
    bench.call("read_file", path="a.py")
    bench.call("bash", command="echo two >> a.py")
    assert "changed on disk" in refused(bench, "one", "1")


def test_a_missing_file_is_answered_with_near_names(bench: Workbench) -> None:
    read(bench, "a.py", "x")
    assert "a.py" in refused(bench, "x", path="b.py").partition("Near:")[2]


@pytest.mark.parametrize(
    ("path", "word"),
    [("../a.py", "outside"), ("folder", "folder"), ("fifo", "pipe"), ("bin", "binary"), ("a\0", "NUL")],
)
def test_what_is_no_text_file_inside_is_refused(bench: Workbench, path: str, word: str) -> None:
    (bench.root / "folder").mkdir()
    os.mkfifo(bench.root / "fifo")
    read(bench, "bin", b"a\0b")
    assert word in bench.refused("edit_file", path=path, old_text="a", new_text="b")


# -- bytes


def test_crlf_stays_whatever_the_model_writes(bench: Workbench) -> None:
    path = read(bench, "a.py", b"one\r\ntwo\r\nthree\r\n")
    edit(bench, "one\ntwo", "1\n2\n2b")
    assert path.read_bytes() == b"1\r\n2\r\n2b\r\nthree\r\n"
    edit(bench, "three", "3\n4")
    assert path.read_bytes() == b"1\r\n2\r\n2b\r\n3\r\n4\r\n"


def test_mixed_line_ends_stay_mixed(bench: Workbench) -> None:
    path = read(bench, "a.py", b"one\r\ntwo\nthree\nfour\r\n")
    edit(bench, "two\nthree", "2\n3")
    assert path.read_bytes() == b"one\r\n2\n3\nfour\r\n"


@pytest.mark.parametrize("name", ["utf-8-sig", "utf-16", "utf-32"])
def test_encoding_and_mark_stay(bench: Workbench, name: str) -> None:
    path = read(bench, "a.py", "Größe = 1\nÄnderung\n".encode(name))
    edit(bench, "Größe = 1", "Größe = 2 € 😀")
    assert path.read_bytes() == "Größe = 2 € 😀\nÄnderung\n".encode(name)


def test_bytes_that_are_no_text_stay_as_they_are(bench: Workbench) -> None:
    path = read(bench, "a.py", b"caf\xe9 \xff\xfe\nline\n\xc3")
    outcome = bench.call("edit_file", path="a.py", old_text="line", new_text="Zeile")
    assert path.read_bytes() == b"caf\xe9 \xff\xfe\nZeile\n\xc3"
    outcome.shown.encode()  # can be shown


ALPHABET = st.text(st.sampled_from("ab\n \té€😀x"), max_size=40)


@settings(max_examples=80)
@given(before=ALPHABET, old=ALPHABET.filter(bool), after=ALPHABET, new=ALPHABET, junk=st.binary(max_size=6))
def test_a_unique_match_is_replaced_and_nothing_else(
    bench: Workbench, before: str, old: str, after: str, new: str, junk: bytes
) -> None:
    junk = junk.replace(b"\0", b"").replace(b"\r", b"")
    head = b"# " + junk + b"\n" + before.encode()
    whole = head + old.encode() + after.encode()
    text = whole.decode("utf-8", "surrogateescape")
    places = [at for at in range(len(text)) if text.startswith(old, at)]
    assume(old != new)
    bench.context.read_tracker = ReadTracker()
    path = read(bench, "any.txt", whole)
    outcome = bench.any("edit_file", path="any.txt", old_text=old, new_text=new)
    if len(places) == 1:
        assert not outcome.is_error, outcome.text
        assert path.read_bytes() == whole.replace(old.encode(), new.encode())
    else:
        assert outcome.is_error
        assert path.read_bytes() == whole


@settings(max_examples=60)
@given(between=st.lists(ALPHABET, min_size=2, max_size=5), old=ALPHABET.filter(bool), new=ALPHABET)
def test_replacing_all_is_what_str_replace_does(bench: Workbench, between: list[str], old: str, new: str) -> None:
    assume(old != new)
    text = old.join(between)
    bench.context.read_tracker = ReadTracker()
    path = read(bench, "all.txt", text)
    bench.call("edit_file", path="all.txt", old_text=old, new_text=new, replace_all=True)
    assert path.read_bytes() == text.replace(old, new).encode()


@settings(max_examples=40)
@given(text=st.text(max_size=300), old=st.text(min_size=1, max_size=60), new=st.text(max_size=20))
def test_no_text_makes_the_search_for_near_misses_fail(bench: Workbench, text: str, old: str, new: str) -> None:
    bench.context.read_tracker = ReadTracker()
    read(bench, "odd.txt", text.encode("utf-8", "replace"))
    outcome = bench.any("edit_file", path="odd.txt", old_text=old, new_text=new)
    assert "failed inside" not in outcome.text
