"""Checks of fields and types, with the error texts of the API."""

from collections.abc import Mapping
from typing import Any

from outlive.testing.simulator.verdict import RuleBroken

TYPES: dict[type, str] = {str: "string", int: "integer", dict: "dictionary", list: "list", bool: "boolean"}


def check_fields(
    value: Any, where: str, required: Mapping[str, type], optional: Mapping[str, type | None] | None = None
) -> None:
    """Refuse a missing, unknown or mistyped field. `where` is the path, with its dot; None takes any type."""
    if not isinstance(value, dict):
        raise RuleBroken(f"{where.rstrip('.')}: Input should be a valid dictionary")
    optional = optional or {}
    for name, kind in required.items():
        if name not in value:
            raise RuleBroken(f"{where}{name}: Field required")
        check_type(value[name], f"{where}{name}", kind)
    for name in value:
        if name not in required and name not in optional:
            raise RuleBroken(f"{where}{name}: Extra inputs are not permitted")
    for name, wanted in optional.items():
        if wanted is not None and value.get(name) is not None:
            check_type(value[name], f"{where}{name}", wanted)


def check_type(value: Any, where: str, kind: type) -> None:
    """Refuse a value of another type; a boolean is not an integer."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise RuleBroken(f"{where}: Input should be a valid {TYPES[kind]}")


def one_of(value: Any, where: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        named = ", ".join(f"'{choice}'" for choice in choices[:-1])
        listed = f"{named} or '{choices[-1]}'" if named else f"'{choices[-1]}'"
        raise RuleBroken(f"{where}: Input should be {listed}")
