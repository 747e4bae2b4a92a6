"""What the rules decide about a request (refused, or accepted and shown to the model); the rule for tool schemas."""

from dataclasses import dataclass
from typing import Any

KINDS = ("object", "array", "string", "number", "integer", "boolean", "null")


@dataclass(frozen=True)
class RuleBroken(Exception):
    """A request breaks a rule. `kind` is the error type if the status does not determine it."""

    message: str
    status: int = 400
    kind: str = ""
    param: str | None = None
    code: str | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Refusal:
    """A refused request in `Simulator.refusals`."""

    provider: str
    path: str
    status: int
    message: str
    code: str | None
    body: Any


@dataclass(frozen=True)
class CheckedRequest:
    """A valid request: what is left of it for the model, and the thinking that failed the binding check."""

    shown: dict[str, Any]
    """The body without the blocks that were dropped."""
    dropped: tuple[str, ...] = ()
    """Paths of thinking blocks that were dropped, as `messages.3.content.0`."""
    mismatched: tuple[str, ...] = ()
    """Paths of thinking blocks that failed the check and are shown all the same."""


def is_schema(schema: Any) -> bool:
    """Whether a schema has no unknown type, no bad properties, and a `required` that lists names."""
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return False
    kind = schema.get("type", [])
    if not all(name in KINDS for name in (kind if isinstance(kind, list) else [kind])):
        return False
    inner = schema.get("items", True)
    return isinstance(properties, dict) and all(map(is_schema, properties.values())) and is_schema(inner)
