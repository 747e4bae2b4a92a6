"""Reading: numbered lines of any range, and a clear word about everything that is no text."""

import base64
import os
import socket
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tools.workbench import Workbench


def png(width: int = 2, height: int = 2) -> bytes:
    """A real picture, all black."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    pixels = zlib.compress(b"".join(b"\0" + b"\0" * width for _ in range(height)))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def test_lines_come_with_their_numbers(bench: Workbench) -> None:
    bench.write("a.py", "one\n\n  three\n")
    assert bench.call("read_file", path="a.py").text == "    1\tone\n    2\t\n    3\t  three"


def test_a_part_says_where_to_go_on(bench: Workbench) -> None:
    bench.write("a.txt", "".join(f"line {n}\n" for n in range(1, 101)))
    text = bench.call("read_file", path="a.txt", offset=11, limit=2).text
    assert text == "   11\tline 11\n   12\tline 12\n[lines 11-12 of 100; go on with offset 13]"
    assert bench.call("read_file", path="a.txt", offset=100).text.endswith("[lines 100-100 of 100, the end]")
    assert "has 100 lines; there is no line 101" in bench.refused("read_file", path="a.txt", offset=101)


def test_numbers_written_as_text_are_taken(bench: Workbench) -> None:
    bench.write("a.txt", "1\n2\n3\n")
    assert bench.call("read_file", path="a.txt", offset="2", limit="1").text.startswith("    2\t2\n")


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({}, "path"),
        ({"path": 7}, "str"),
        ({"path": "a", "offset": 0}, "offset"),
        ({"path": "a", "limit": -1}, "limit"),
        ({"path": "a", "lines": 3}, "lines"),
        ({"path": ""}, "empty"),
        ({"path": "a\0b"}, "NUL"),
        ({"path": "../secret"}, "outside"),
        ({"path": "/etc/passwd"}, "outside"),
        ({"path": "/dev/zero"}, "outside"),
        ({"path": "link"}, "outside"),
        ({"path": "zero"}, "outside"),
        ({"path": "folder"}, "is a folder"),
        ({"path": "fifo"}, "a named pipe"),
        ({"path": "socket"}, "a socket"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(
    bench: Workbench, given: dict[str, object], word: str, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("hidden words")
    (bench.root / "link").symlink_to(tmp_path / "secret")
    (bench.root / "zero").symlink_to("/dev/zero")
    (bench.root / "folder").mkdir()
    os.mkfifo(bench.root / "fifo")
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(bench.root)  # the name of a socket must be short
    try:
        server.bind("socket")
    finally:
        os.chdir(here)
        server.close()
    text = bench.refused("read_file", **given)
    assert word in text
    assert "hidden words" not in text


def test_a_missing_file_is_answered_with_near_names(bench: Workbench) -> None:
    bench.write("src/parser.py", "x")
    bench.write("lib/deep/config.toml", "x")
    assert "src/parser.py" in bench.refused("read_file", path="src/parsr.py")
    text = bench.refused("read_file", path="conf/config.toml")
    assert "lib/deep/config.toml" in text
    assert "is the last that exists" in text


def test_an_empty_file_is_said_to_be_empty(bench: Workbench) -> None:
    bench.write("a", "")
    assert "is empty" in bench.call("read_file", path="a").text


def test_a_long_line_is_cut_and_its_length_said(bench: Workbench) -> None:
    bench.write("min.js", "x" * 50_000_000 + "\nend\n")
    first, second = bench.call("read_file", path="min.js").text.split("\n")
    assert len(first) < 3000
    assert "50,000,001 bytes" in first
    assert second == "    2\tend"


def test_a_huge_file_is_read_where_it_is_asked_for(bench: Workbench) -> None:
    path = bench.root / "huge.log"
    with path.open("wb") as file:
        file.write(b"first\n" + b"second\n" * 2000)
        file.seek(3 * 2**30)
        file.write(b"\nlast\n")
    text = bench.call("read_file", path="huge.log", limit=1).text
    assert text == "    1\tfirst\n[the file has 3.0 GB; go on with offset 2]"


def test_a_large_answer_is_bounded(bench: Workbench) -> None:
    bench.write("wide.txt", ("y" * 1500 + "\n") * 2000)
    text = bench.call("read_file", path="wide.txt").text
    assert len(text) < 300_000
    assert "of 2,000; go on with offset" in text


@pytest.mark.parametrize(
    ("raw", "kind"),
    [(b"\x7fELF\0\0", "ELF"), (b"PK\x03\x04\0", "zip"), (b"\x00\x01\x02", "binary data"), (b"%PDF-1.7\0", "PDF")],
)
def test_a_binary_file_is_named_with_its_size(bench: Workbench, raw: bytes, kind: str) -> None:
    bench.write("thing", raw)
    text = bench.refused("read_file", path="thing")
    assert kind in text
    assert f"{len(raw)} bytes" in text


def test_a_picture_is_shown_whatever_its_name(bench: Workbench) -> None:
    bench.write("shot.dat", png())
    outcome = bench.call("read_file", path="shot.dat")
    (image,) = outcome.images
    assert image.media_type == "image/png"
    assert base64.b64decode(image.data) == png()


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (png()[:-6], "damaged"),
        (png(9000, 1), "pixels"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 5_000_000, "larger"),
        (b"\xff\xd8\xff\xe0 cut", "damaged"),
        (b"GIF89a cut", "damaged"),
        (b"RIFF\xff\xff\0\0WEBPVP8 ", "damaged"),
    ],
)
def test_a_picture_that_a_provider_would_refuse_is_not_sent(bench: Workbench, raw: bytes, word: str) -> None:
    bench.write("bad.png", raw)
    assert word in bench.refused("read_file", path="bad.png")


@pytest.mark.parametrize("name", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_other_encodings_with_a_mark_are_read(bench: Workbench, name: str) -> None:
    mark = b"\xfe\xff" if name == "utf-16-be" else b""
    bench.write("a.txt", mark + "Größe\nzwei\n".encode(name))
    assert bench.call("read_file", path="a.txt").text.startswith("    1\tGröße\n    2\tzwei")


def test_bytes_that_are_no_text_are_replaced_and_the_rest_is_read(bench: Workbench) -> None:
    bench.write("latin.txt", "caf\xe9\nok\n".encode("latin-1"))
    assert bench.call("read_file", path="latin.txt").text == "    1\tcaf\ufffd\n    2\tok"


def test_line_ends_are_said_where_they_are_special(bench: Workbench) -> None:
    bench.write("dos.txt", "a\r\nb\r\n")
    assert bench.call("read_file", path="dos.txt").text == "    1\ta\n    2\tb\n[its line ends are CRLF]"


@settings(max_examples=60)
@given(
    text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=200).filter(
        lambda text: text and not text.startswith("\ufeff")
    ),
    offset=st.integers(1, 12),
    limit=st.integers(1, 12),
)
def test_any_range_of_any_text_is_what_stands_there(bench: Workbench, text: str, offset: int, limit: int) -> None:
    path = bench.write("any.txt", text)
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    wanted = [line.removesuffix("\r") for line in lines[offset - 1 : offset - 1 + limit]]
    outcome = bench.any("read_file", path="any.txt", offset=offset, limit=limit)
    path.unlink()
    if not wanted:
        assert outcome.is_error
        return
    rows = [f"{number:>5}\t{line}" for number, line in enumerate(wanted, offset)]
    whole = "\n".join(rows)
    assert outcome.text == whole or outcome.text.startswith(f"{whole}\n[")
