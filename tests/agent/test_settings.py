"""Policies by name, with changes and written out: what may be said, and what is refused with what it could be."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.agent.policies import policy_named
from outlive.config import Workspace
from outlive.context.policy import POLICIES, RICH, Policy, budget_for, numbers
from outlive.errors import ConfigError
from tests.cli.command import Outlive


def test_a_policy_is_found_by_name_and_changed_by_numbers() -> None:
    assert policy_named("") == policy_named("rich") == RICH
    changed = policy_named("lean, engage=0.6, tail_tokens=2e3")
    assert (changed.engage, changed.tail_tokens, changed.lines) == (0.6, 2000, POLICIES["lean"].lines)
    assert isinstance(changed.tail_tokens, int)
    own = {"mine": {"base": "max", "tail": 0.2, "hard": 1}}
    assert policy_named("mine", own).tail == 0.2
    assert policy_named("mine,tail=0.3", own).tail == 0.3


BAD: list[tuple[str, Any, str]] = [
    ("engage", math.nan, "from 0.05 to 1"),
    ("engage", math.inf, "from 0.05 to 1"),
    ("engage", -0.5, "from 0.05 to 1"),
    ("hard", 3.0, "from 0.1 to 1"),
    ("tail_tokens", 0.5, "a whole number from 0 to 1,000,000,000"),
    ("tail_tokens", math.inf, "a whole number from 0 to 1,000,000,000"),
    ("recalled_units", 1e6, "a whole number from 0 to 10,000"),
    ("target", 0.9, "below engage, which is 0.88"),
    ("tail", 0.88, "below engage, which is 0.88"),
    ("engage", 0.98, "below hard, which is 0.97"),
    ("hard", 0.5, "below hard, which is 0.5"),
]


@pytest.mark.parametrize(("key", "value", "may_be"), BAD)
def test_a_number_that_cannot_be_is_refused_wherever_it_stands(key: str, value: float, may_be: str) -> None:
    said = re.escape(may_be)
    with pytest.raises(ConfigError, match=rf"policy 'rich,{key}=.*: .*{said}"):
        policy_named(f"rich,{key}={value}")
    with pytest.raises(ConfigError, match=rf"policy 'mine': .*{said}"):
        policy_named("mine", {"mine": {key: value}})
    with pytest.raises(ConfigError, match=said):
        Policy(**{key: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [True, "0.8", None, [1]])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match=r"policy 'mine': engage = .* cannot be; it is from 0.05 to 1"):
        policy_named("mine", {"mine": {"engage": value}})


@pytest.mark.parametrize(
    ("text", "own", "said"),
    [
        ("rich,engage", {}, "is not of the form engage=0.7"),
        ("rich,engage=x", {}, "is not of the form engage=0.7"),
        ("rich,kept_tokens=5", {}, "'kept_tokens' is not a setting of a policy; there are engage, payback,"),
        ("rich,name=5", {}, "'name' is not a setting of a policy"),
        ("nobody", {"mine": {}}, "no policy 'nobody'; there are lean, medium, rich, max, mine"),
        ("mine", {"mine": {"base": "nobody"}}, "it is one of lean, medium, rich, max"),
        ("mine", {"mine": 7}, "is not a table of numbers"),
    ],
)
def test_what_is_no_policy_is_refused(text: str, own: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        policy_named(text, own)


def test_the_command_line_says_it_without_a_trace(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "s", "messages": [{"role": "user", "content": "hi"}]}')
    result = Outlive(tmp_path)("replay", "s.jsonl", "--policy", "rich,engage=nan")
    assert result.code == 1
    assert "engage = nan cannot be; it is from 0.05 to 1" in result.err
    assert "Traceback" not in result.err
    (tmp_path / "outlive.toml").write_text("[context]\npolicy = 'mine'\n[context.policies.mine]\nhard = inf\n")
    result = Outlive(tmp_path)("replay", "s.jsonl")
    assert result.code == 1
    assert "policy 'mine': hard = inf cannot be; it is from 0.1 to 1" in result.err


@pytest.mark.parametrize("window", ["-5", "0", "999", "true", "'big'"])
def test_a_window_that_cannot_be_is_refused(tmp_path: Path, window: str) -> None:
    (tmp_path / "outlive.toml").write_text(f"[context]\nwindow = {window}\n")
    with pytest.raises(ConfigError, match=r"\[context\] window = "):
        Workspace.find(tmp_path)


@given(st.data())
def test_every_policy_that_can_be_made_gives_marks_in_order(data: st.DataObject) -> None:
    values = {
        name: data.draw(st.integers(0, 10_000) if number.whole else st.floats(number.low, number.high))
        for name, number in numbers().items()
    }
    try:
        policy = Policy(**values)  # type: ignore[arg-type]
    except ConfigError:
        assert not (values["target"] < values["engage"] < values["hard"] and values["tail"] < values["engage"])
        return
    budget = budget_for(200_000, policy)
    assert 0 <= budget.target <= budget.engage <= budget.hard <= 200_000
