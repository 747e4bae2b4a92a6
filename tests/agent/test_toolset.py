"""Which tools an agent is given, and what the prompt of a small window costs."""

import json
from datetime import date
from pathlib import Path

import pytest

from outlive.agent.prompt import system_prompt
from outlive.agent.toolset import LEAN_BELOW_TOKENS, LEAN_TOOLS, toolset
from outlive.context.tokens import estimate
from outlive.errors import ConfigError
from outlive.testing import Simulator, say
from outlive.tools.permissions.rules import Rules
from tests.cli.command import Outlive

LARGE, SMALL = 200_000, LEAN_BELOW_TOKENS - 1


def names(wanted: str, window: int, *, deny: tuple[str, ...] = ()) -> set[str]:
    return {form["name"] for form in toolset(wanted, window, Rules((), deny)).schemas()}


def test_a_small_window_gets_the_lean_tools_unless_others_are_asked_for() -> None:
    assert names("", SMALL) == set(LEAN_TOOLS)
    assert names("lean", LARGE) == set(LEAN_TOOLS)
    assert len(names("", LARGE)) > 20
    assert names("all", SMALL) == names("", LARGE)
    assert names("read_file, grep", SMALL) == {"read_file", "grep"}


def test_a_tool_whose_every_call_is_denied_is_not_shown() -> None:
    assert "bash" not in names("", LARGE, deny=("bash",))
    assert "bash" in names("", LARGE, deny=("bash(rm*)",))


def test_an_unknown_tool_is_refused() -> None:
    with pytest.raises(ConfigError, match="'reed_file'"):
        names("reed_file", LARGE)


@pytest.mark.parametrize(("profile", "tokens"), [("lean", 1_250), ("all", 4_450)])
def test_the_prompt_with_its_tools_is_small(profile: str, tokens: int) -> None:
    """By the estimate, which counts more than tokenizers do: 1,150 and 3,950 in Qwen's, with its template."""
    lean = profile == "lean"
    prompt = system_prompt(
        folder=Path("/home/user/project"), day=date(2030, 1, 1), platform="Linux", git=True, lean=lean
    )
    forms = json.dumps(toolset(profile, LARGE, Rules()).schemas())
    assert estimate(prompt) + estimate(forms) < tokens


def test_skills_are_loaded_only_where_there_are_any() -> None:
    assert "load_skill" not in names("", LARGE)
    assert "load_skill" in {form["name"] for form in toolset("", LARGE, Rules(), skills=True).schemas()}


def test_the_request_of_a_small_window_is_lean(tmp_path: Path) -> None:
    with Simulator([say("hello"), say("hello")]) as sim:
        outlive = Outlive(tmp_path)
        for window in ("16000", "100000"):
            done = outlive("-p", "hi", "--model", "claude-sonnet-5-5", "--context-window", window, **sim.env())
            assert done.code == 0, done.err
        small, large = sim.requests[:2]
        assert set(small.tools) == set(LEAN_TOOLS)
        assert len(large.tools) > 20
        assert len(small.system_text) < len(large.system_text) / 2
