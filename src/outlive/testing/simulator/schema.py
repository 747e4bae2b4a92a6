"""A check of JSON schemas for common mistakes, not the whole standard."""

from typing import Any

KINDS = ("object", "array", "string", "number", "integer", "boolean", "null")


def is_schema(schema: Any) -> bool:
    """Return False for an unknown type, properties that are not schemas, or a `required` that lists no names."""
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return False
    kind = schema.get("type", [])
    if not all(one in KINDS for one in (kind if isinstance(kind, list) else [kind])):
        return False
    inner = schema.get("items", True)
    return isinstance(properties, dict) and all(map(is_schema, properties.values())) and is_schema(inner)
