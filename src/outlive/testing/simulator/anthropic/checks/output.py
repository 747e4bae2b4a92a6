"""Rules for `output_config`: the effort, and the format that the answer has to have."""

from typing import Any

from outlive.testing.simulator.anthropic.checks.fields import check_fields, one_of
from outlive.testing.simulator.verdict import RuleBroken, is_schema

EFFORTS = ("low", "medium", "high", "xhigh", "max")
UNSUPPORTED = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength")


def check_output_config(config: Any) -> None:
    """Refuse an unknown effort, and a format whose schema the API cannot enforce."""
    if config is None:
        return
    check_fields(config, "output_config.", {}, {"effort": None, "format": dict})
    if config.get("effort") is not None:
        one_of(config["effort"], "output_config.effort", EFFORTS)
    if (wanted := config.get("format")) is not None:
        check_fields(wanted, "output_config.format.", {"type": str, "schema": dict})
        one_of(wanted["type"], "output_config.format.type", ("json_schema",))
        if not is_schema(wanted["schema"]):
            raise RuleBroken("output_config.format.schema: JSON schema is invalid")
        _check_enforceable(wanted["schema"])


def _check_enforceable(schema: Any) -> None:
    if not isinstance(schema, dict):
        return
    where = "output_config.format.schema"
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        raise RuleBroken(f"{where}: For 'object' type, 'additionalProperties' must be explicitly set to false")
    for name in UNSUPPORTED:
        if name in schema:
            raise RuleBroken(f"{where}: For '{schema.get('type')}' type, property '{name}' is not supported")
    parts = [*schema.get("properties", {}).values(), schema.get("items"), *schema.get("anyOf", [])]
    for part in parts:
        _check_enforceable(part)
