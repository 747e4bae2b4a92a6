"""Text from outside is read in bounded time: every parser and every tool is fed with text that was made to be hard,
and where work depends on the text, it is counted."""

import json
import os
import subprocess
import sys
from difflib import SequenceMatcher
from pathlib import Path
from random import Random
from typing import Any

import pytest

from outlive.models.repair import object_at
from outlive.models.written_calls import forms, reading
from outlive.models.written_calls.reading import calls_in
from outlive.tools.builtin.standard import standard_tools
from outlive.tools.files import closest_match
from outlive.tools.files.closest_match import why_not_found
from outlive.tools.files.diff import MAX_COMPARISONS, unified
from outlive.tools.toolbox import Toolbox
from tests.adversarial import SIZE, TEXTS, readers
from tests.engines import ROOT
from tests.sample import PART, part

SCHEMAS = {tool["name"]: tool["input_schema"] for tool in Toolbox(standard_tools()).schemas()}
HALVES = 2
"""Processes that share the readers."""


@pytest.mark.timeout(3_000)
def test_every_reader_comes_to_an_end_with_any_text() -> None:
    names = list(readers())
    command = [sys.executable, "-m", "tests.adversarial"]
    started = [
        subprocess.Popen(
            [*command, *names[half::HALVES]],
            cwd=ROOT,
            env={**os.environ, "OUTLIVE_TEST_PART": PART},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for half in range(HALVES)
    ]
    failures = dict(json.loads(line) for process in started for line in process.communicate()[0].splitlines())
    assert failures.keys() == set(names)
    assert {name: text for name, text in failures.items() if text} == {}


def test_a_reader_that_is_quadratic_or_raises_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests import adversarial

    monkeypatch.setattr(adversarial, "SECONDS", 2)
    first = repr(part(TEXTS)[0])
    assert adversarial.attempt(lambda text: [text[at:].count("b") for at in range(len(text))]).startswith(first)
    assert "RecursionError" in adversarial.attempt(json.loads) or "JSONDecodeError" in adversarial.attempt(json.loads)


def test_every_tool_that_takes_text_is_among_the_readers() -> None:
    left_out = {"bash", "subagent", "remember", "forget", "memory_search"}
    assert {f"tool {name}" for name in SCHEMAS if name not in left_out} <= readers().keys()


# -- work, counted


@pytest.mark.parametrize(
    "wanted", ["x" * 299 + "z", "\n".join(["x" * 299 + "z"] * 400)], ids=["a line", "many lines"]
)
def test_the_closest_match_compares_few_places_of_near_identical_lines(
    wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []
    alike = closest_match.alike

    def counted(one: Any, other: Any) -> float:
        compared.append(one.total() + other.total())
        return alike(one, other)

    monkeypatch.setattr(closest_match, "alike", counted)
    lines = [f"{'x' * 290}{number % 7}" for number in range(SIZE // 292)]
    assert "nearest places" in why_not_found("\n".join(lines), wanted, "")
    assert len(compared) <= closest_match.MAX_CANDIDATES
    assert max(compared) <= 2 * closest_match.MAX_LINE_CHARS * (closest_match.MAX_LINES_SHOWN + 1)


@pytest.mark.parametrize("text", [*TEXTS.values()], ids=map(repr, TEXTS))
def test_the_search_for_calls_decodes_no_more_than_its_share(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    decode, repair = forms.decode, object_at

    def decoding(given: str, at: int = 0) -> Any:
        try:
            value, end = decode(given, at)
        except json.JSONDecodeError as error:
            read.append(error.pos - at)
            raise
        read.append(end - at)
        return value, end

    def repairing(given: str, at: int = 0, **options: Any) -> Any:
        read.append(len(given) - at)
        return repair(given, at, **options)

    monkeypatch.setattr(reading, "decode", decoding)
    monkeypatch.setattr(reading, "object_at", repairing)
    calls_in(text, SCHEMAS)
    assert sum(read) <= reading.MAX_DECODED_CHARS + 3 * SIZE
    assert len(read) <= reading.MAX_DECODED_CHARS


def test_a_diff_of_lines_that_are_alike_in_many_ways_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    search = SequenceMatcher.find_longest_match

    def counted(self: Any, alo: int = 0, ahi: Any = None, blo: int = 0, bhi: Any = None) -> Any:
        lines = self.a[alo : len(self.a) if ahi is None else ahi]
        compared.append(sum(1 + len(self.b2j.get(line, ())) for line in lines))
        return search(self, alo, ahi, blo, bhi)

    monkeypatch.setattr(SequenceMatcher, "find_longest_match", counted)
    chance = Random(1)
    old, new = ("\n".join(str(chance.randrange(110)) for _ in range(8_000)) for _ in range(2))
    assert unified(old, new, "a").startswith("--- a")
    assert sum(compared) <= MAX_COMPARISONS


def test_a_diff_of_ordinary_size_is_complete(tmp_path: Path) -> None:
    old = "\n".join(f"line {number}" for number in range(3_000))
    new = old.replace("line 10\n", "line ten\n").replace("line 2990", "line last")
    rows = unified(old, new, "a").splitlines()
    assert [row for row in rows if row[:1] in "+-"][2:] == ["-line 10", "+line ten", "-line 2990", "+line last"]
