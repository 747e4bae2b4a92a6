"""`outlive recall` as a user has it."""

import os
from pathlib import Path

import pytest

from outlive.agent import Session
from outlive.stores.logs.files import FileLogStore
from tests.cli.command import Outlive
from tests.talk import Ticks, file_text, step


@pytest.fixture
def outlive(tmp_path: Path) -> Outlive:
    store = FileLogStore(tmp_path, durability="process")
    with Session.start(store, id="one", clock=Ticks()) as session:
        session.user_said("Where is the Größe of the café defined? 名前\r\nNo idea\ttabs   ")
        step(session, 1, lines=90)
    with Session.start(store, id="two", clock=Ticks(2_000_000.0)) as session:
        session.user_said("another session about handler_1_7(x)")
    return Outlive(tmp_path)


def test_the_exact_bytes_come_back(outlive: Outlive) -> None:
    import subprocess
    import sys

    run = subprocess.run(
        [sys.executable, "-m", "outlive", "recall", "@h2", "--session", "one"],
        cwd=outlive.folder,
        capture_output=True,
    )
    assert run.returncode == 0
    assert run.stdout == file_text(1, 90).encode()
    run = subprocess.run(
        [sys.executable, "-m", "outlive", "recall", "1", "--session", "one"], cwd=outlive.folder, capture_output=True
    )
    assert "Größe of the café defined? 名前\r\nNo idea\ttabs   ".encode() in run.stdout


def test_ranges_and_patterns_narrow_a_page(outlive: Outlive) -> None:
    lines = file_text(1, 90).split("\n")
    ask = ("recall", "@h2", "--session", "one")
    assert outlive(*ask, "--range", "3-5").out == "\n".join(lines[2:5]) + "\n"
    assert outlive(*ask, "--range", "90").out == lines[89]
    assert outlive(*ask, "--range", "89-").out == "\n".join(lines[88:])
    assert outlive(*ask, "--grep", "_1_(7|8)\\(").out == f"{lines[7]}\n{lines[8]}\n"
    assert outlive(*ask, "--range", "1-8", "--grep", "_1_(7|8)\\(").out == f"{lines[7]}\n"
    nothing = outlive(*ask, "--grep", "nowhere")
    assert (nothing.code, nothing.out) == (1, "")


def test_json_for_programs(outlive: Outlive) -> None:
    form = outlive("recall", "h2", "--session", "one", "--json").json
    assert form == {"session": "one", "handle": "@h2", "text": file_text(1, 90)}


def test_search_finds_lines_and_their_handles(outlive: Outlive) -> None:
    hits = outlive("recall", "--search", "HANDLER_1_7(", "--session", "one", "--json").json
    assert [(hit["handle"], hit["line"]) for hit in hits] == [("@h2", 8)]
    line = outlive("recall", hits[0]["handle"], "--session", "one", "--range", str(hits[0]["line"])).out
    assert "handler_1_7(" in line
    hits = outlive("recall", "--search", "Größe", "--session", "one", "--json").json
    assert outlive("recall", hits[0]["handle"], "--session", "one", "--range", str(hits[0]["line"])).out.startswith(
        "Where is the Größe"
    )


def test_search_goes_over_all_sessions(outlive: Outlive) -> None:
    found = outlive("recall", "--search", "handler_1_7(", "--all", "--json").json
    assert [hit["session"] for hit in found] == ["two", "one"]
    text = outlive("recall", "--search", "handler_1_7(", "--all").out
    assert text.startswith("two @h1:")
    assert len(outlive("recall", "--search", "handler_1_", "--all", "-n", "4", "--json").json) == 4
    nothing = outlive("recall", "--search", "nowhere at all", "--all", "--json")
    assert (nothing.code, nothing.out) == (1, "[]\n")


def test_refusals(outlive: Outlive) -> None:
    refused = outlive("recall", "@h99", "--session", "one")
    assert (refused.code, refused.out) == (1, "")
    assert "this session has @h1 to @h2" in refused.err
    assert outlive("recall", "@h1", "--session", "../one").code == 1
    assert "list them with" in outlive("recall", "@h1", "--session", "three").err
    assert outlive("recall", "@h1", "--session", "one", "--grep", "(").code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall",),
        ("recall", "@h1", "--search", "x"),
        ("recall", "@h1"),  # which of the two sessions?
        ("recall", "@h1", "--all"),
        ("recall", "--search", "x", "--all", "--session", "one"),
        ("recall", "--search", "x", "--session", "one", "--range", "1-2"),
        ("recall", "@h1", "--session", "one", "--range", "5-2"),
        ("recall", "@h1", "--session", "one", "--range", "zero"),
    ],
)
def test_wrong_usage(outlive: Outlive, arguments: tuple[str, ...]) -> None:
    assert outlive(*arguments).code == 2


def test_a_session_too_large_to_read_is_named_and_the_others_are_searched(outlive: Outlive) -> None:
    os.truncate(outlive.folder / ".transcripts" / "two.jsonl", 5 << 30)
    result = outlive("recall", "--search", "handler_1_7(", "--all")
    assert result.code == 0
    assert "@h2" in result.out
    assert "two.jsonl has 5.0 GiB" in result.err
    alone = outlive("recall", "--search", "handler_1_7(", "--session", "two")
    assert (alone.code, alone.out) == (1, "")
    assert "Traceback" not in alone.err
