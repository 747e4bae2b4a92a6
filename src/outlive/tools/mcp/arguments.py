"""The check of arguments against the schema of a tool. The server wrote the schema, so the check is bounded: patterns
are left to the server, nothing is fetched, and after so many steps the arguments count as right."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

MAX_STEPS = 20_000  # checks of one call: a schema from outside can be deeply recursive; then the server judges
LEFT_TO_THE_SERVER = {
    *("pattern", "patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems"),
    *("format", "uniqueItems", "multipleOf"),
}
"""A pattern may take for ever; the others can be costly or wrong."""
MAX_MESSAGE_CHARS = 300  # it may quote the arguments


def mistake_in(arguments: dict[str, Any], schema: dict[str, Any]) -> str:
    """What is wrong with the arguments, or nothing."""
    from jsonschema import Draft202012Validator, validators
    from jsonschema.exceptions import best_match
    from referencing import Registry

    steps = count()

    def bounded(check: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        def run(validator: Any, value: Any, instance: Any, inside: dict[str, Any]) -> Iterator[Any]:
            if next(steps) > MAX_STEPS:
                raise RecursionError
            if "patternProperties" not in inside:  # it decides which properties are additional ones
                yield from check(validator, value, instance, inside) or ()

        return run

    known = Draft202012Validator.VALIDATORS
    rules = {name: bounded(check) for name, check in known.items() if name not in LEFT_TO_THE_SERVER}
    kind = validators.create({}, rules, type_checker=Draft202012Validator.TYPE_CHECKER)
    try:
        found = best_match(kind(schema, registry=Registry()).iter_errors(arguments))
    except Exception:  # noqa: BLE001 - a schema that makes no sense: the server has to judge
        return ""
    if found is None:
        return ""
    place = "".join(f".{part}" if isinstance(part, str) else f"[{part}]" for part in found.absolute_path)
    return f"{place.lstrip('.')}: {found.message}"[:MAX_MESSAGE_CHARS].removeprefix(": ")
