"""Whether a JSON schema is one: the mistakes that people make, not the whole standard."""

from typing import Any

KINDS = ("object", "array", "string", "number", "integer", "boolean", "null")


def is_schema(schema: Any) -> bool:
    """False for an unknown type, properties that are no schemas, required names that are no list of names."""
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
