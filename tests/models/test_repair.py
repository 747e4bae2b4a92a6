"""Repairs of what models write: only where there is one reading."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.models.protocol import UNREADABLE_KEY
from outlive.models.repair import read_arguments, repaired

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('{"command": "ls"}', {"command": "ls"}),
        ("", {}),
        ("  \n", {}),
        ('```json\n{"command": "ls"}\n```', {"command": "ls"}),
        ('"{\\"command\\": \\"ls\\"}"', {"command": "ls"}),
        ('{"content": "one\ntwo\tthree"}', {"content": "one\ntwo\tthree"}),
        ('{"command": "ls", }', {"command": "ls"}),
        ('{"a": [1, 2, ], "b": ", }"}', {"a": [1, 2], "b": ", }"}),
        ("{'command': 'ls', 'quiet': True, 'path': None}", {"command": "ls", "quiet": True, "path": None}),
        ('{"command": "ls"}}', {"command": "ls"}),
        ('{"command": "ls"}{"command": "ls"}', {"command": "ls"}),
        ('{"command": "ls"', {"command": "ls"}),
        ('{"edits": [{"old": "a", "new": "b"}', {"edits": [{"old": "a", "new": "b"}]}),
        ('{"deep": {"quiet": true', {"deep": {"quiet": True}}),
    ],
)
def test_what_can_be_read_in_one_way_is_read(text: str, meant: object) -> None:
    assert read_arguments(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        '{"command": "ls',
        '{"command": ls}',
        '{"command": "ls"}{"command": "rm -rf /"}',
        '{"command": "ls"} and then some words',
        '{"command": ',
        '{"command"',
        "ls -la",
        "[1, 2]",
        "12",
        "null",
        '{"limit": NaN}',
        "__import__('os').system('true')",
        '{"a": "b" "c"}',
        '{"limit": 12',
        "{'a': 'b''c'}",
        "{" * 100_000,
        "[" * 100_000 + "]" * 100_000,
    ],
)
def test_what_would_have_to_be_guessed_stays_as_it_is(text: str) -> None:
    assert read_arguments(text) == {UNREADABLE_KEY: text}


def test_servers_may_send_an_object_or_nothing() -> None:
    assert read_arguments({"command": "ls"}) == {"command": "ls"}
    assert read_arguments(None) == {}
    assert read_arguments(["ls"]) == {UNREADABLE_KEY: '["ls"]'}


@given(OBJECTS)
def test_valid_arguments_are_never_changed(value: dict[str, object]) -> None:
    assert repaired(json.dumps(value)) == value
    assert repaired(json.dumps(value, ensure_ascii=False, indent=2)) == value


@given(OBJECTS, st.data())
def test_arguments_that_break_off_are_never_read_as_others(value: dict[str, object], data: st.DataObject) -> None:
    """Closing what is open may lose what had not come; it must never change what had."""
    text = json.dumps(value)
    found = repaired(text[: data.draw(st.integers(0, len(text) - 1))])
    if found:
        for key, got in found.items():
            assert key in value
            assert _begins(value[key], got)


def _begins(whole: object, part: object) -> bool:
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and _begins(whole[key], got) for key, got in part.items())
    if isinstance(whole, list) and isinstance(part, list):
        return len(part) <= len(whole) and all(map(_begins, whole, part))
    if isinstance(whole, (int, float)) and not isinstance(whole, bool) and isinstance(part, (int, float)):
        return json.dumps(whole).startswith(json.dumps(part).removesuffix(".0"))
    return whole == part and type(whole) is type(part)


@given(st.text())
def test_any_text_is_read_or_kept(text: str) -> None:
    found = read_arguments(text)
    assert found == {UNREADABLE_KEY: text} or UNREADABLE_KEY not in found
