"""Rules for output formats: `response_format` of the chat API, `text.format` of the Responses API."""

from typing import Any

from outlive.testing.simulator.openai.checks import check_name, choice, known_only, needed, refused, wanted
from outlive.testing.simulator.verdict import is_schema

KINDS = ("json_schema", "json_object", "text")
FIELDS = frozenset({"name", "schema", "strict", "description"})


def check_response_format(body: dict[str, Any]) -> None:
    """Check the format of a chat request, which has its schema one level down."""
    form = body.get("response_format")
    if form is None:
        return
    wanted(form, "response_format", dict)
    choice(needed(form, "type", "response_format", str), "response_format.type", KINDS)
    if form["type"] == "json_schema":
        _check(needed(form, "json_schema", "response_format", dict), "response_format.json_schema", FIELDS)


def check_text(body: dict[str, Any]) -> None:
    """Check `text` of a Responses request: the format and the verbosity."""
    text = body.get("text")
    if text is None:
        return
    known_only(text, frozenset({"format", "verbosity"}), "text")
    form = text.get("format")
    if form is None:
        return
    wanted(form, "text.format", dict)
    choice(needed(form, "type", "text.format", str), "text.format.type", KINDS)
    if form["type"] == "json_schema":
        _check(form, "text.format", FIELDS | {"type"})


def format_of(body: dict[str, Any]) -> Any:
    """Return the output format of a request of either API; None without one."""
    return body.get("response_format") or (body.get("text") or {}).get("format")


def _check(form: dict[str, Any], where: str, fields: frozenset[str]) -> None:
    known_only(form, fields, where)
    check_name(form, where)
    schema = needed(form, "schema", where, dict)
    problem = "" if is_schema(schema) else f"{schema} is not valid under any given schema."
    if form.get("strict") and not problem:
        problem = _not_strict(schema, ())
    if problem:
        message = f"Invalid schema for response_format '{form['name']}': {problem}"
        raise refused(where if where == "text.format" else "response_format", "invalid_json_schema", message)


def _not_strict(schema: Any, path: tuple[str, ...]) -> str:
    """Return what keeps a schema from being enforced; empty if nothing does."""
    if not isinstance(schema, dict):
        return ""
    if not path and schema.get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'."
    properties = schema.get("properties", {})
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return f"In context={path}, 'additionalProperties' is required to be supplied and to be false."
        if {*properties} - {*schema.get("required", [])}:
            return f"In context={path}, 'required' is required to be supplied and to be an array including every key."
    elif not path or not {"type", "anyOf", "enum", "$ref", "const"} & {*schema}:
        return f"In context={path}, schema must have a 'type' key."
    parts: list[tuple[tuple[str, ...], Any]] = [(("properties", name), part) for name, part in properties.items()]
    parts += [(("items",), schema.get("items"))]
    parts += [(("anyOf", str(number)), part) for number, part in enumerate(schema.get("anyOf", []))]
    return next(filter(None, (_not_strict(part, (*path, *more)) for more, part in parts)), "")
