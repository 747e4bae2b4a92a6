"""Arguments are checked against schemas that a server wrote, in bounded time and without asking anybody."""

from typing import Any

import pytest

from outlive.tools.mcp.arguments import mistake_in

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"$ref": "#/$defs/x"}}},
    "required": ["a"],
    "additionalProperties": False,
    "$defs": {"x": {"type": "object", "properties": {"n": {"enum": ["u", "v"]}}}},
}


@pytest.mark.parametrize(
    ("arguments", "mistake"),
    [
        ({"a": 1, "b": [{"n": "u"}]}, ""),
        ({}, "'a' is a required property"),
        ({"a": "1"}, "a: '1' is not of type 'integer'"),
        ({"a": 1, "c": 2}, "Additional properties are not allowed ('c' was unexpected)"),
        ({"a": 1, "b": [{"n": "z"}]}, "b[0].n: 'z' is not one of ['u', 'v']"),
    ],
)
def test_a_mistake_is_named_with_its_place(arguments: dict[str, Any], mistake: str) -> None:
    assert mistake_in(arguments, SCHEMA) == mistake


def doubling(depth: int) -> dict[str, Any]:
    steps: dict[str, Any] = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(depth)}
    return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{depth}": {}}}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "(a+)+$"}}},
        {"patternProperties": {"(a+)+$": {}}, "additionalProperties": False},
        {"propertyNames": {"pattern": "(a+)+$"}},
        {"$ref": "http://127.0.0.1:9/schema"},
        {"$ref": "#"},
        {"properties": {"a": {"multipleOf": 0}}},
        {"properties": 7},
        doubling(60),
    ],
)
def test_a_hostile_schema_costs_nothing_and_leaves_the_verdict_to_the_server(schema: dict[str, Any]) -> None:
    assert mistake_in({"a": "a" * 60 + "!", "a" * 60 + "!": 1}, schema) == ""
