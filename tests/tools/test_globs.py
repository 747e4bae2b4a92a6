"""Patterns of rules mean what they mean as expressions, and none takes long."""

import re

from hypothesis import given
from hypothesis import strategies as st

from outlive.tools.permissions.path_rules import matches

PATTERNS = st.lists(st.sampled_from(["**/", "**", "*", "?", "a", "b", "/", ".", "[", "\n"]), max_size=8).map("".join)
PATHS = st.text("ab/.[\n", max_size=10)


def as_expression(pattern: str) -> str:
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(parts.get(part) or re.escape(part) for part in re.split(r"(\*\*/|\*\*|\*|\?)", pattern))


@given(PATTERNS, PATHS)
def test_a_pattern_matches_what_its_expression_matches(pattern: str, path: str) -> None:
    assert matches(pattern, path) == (re.fullmatch(as_expression(pattern), path, re.DOTALL) is not None)


def test_no_pattern_takes_long() -> None:
    assert not matches("**/" * 40 + "b", "a/" * 500 + "c")
    assert not matches("*a" * 60 + "b", "a" * 2000)
    assert matches("**/" * 40 + "b", "a/" * 500 + "b")
