"""Which policy: by name, by name with changes, or written out in `outlive.toml`."""

from collections.abc import Mapping
from typing import Any

import msgspec

from outlive.context.policy import POLICIES, RICH, Policy
from outlive.errors import ConfigError

_FIELDS = tuple(field for field in Policy.__struct_fields__ if field != "name")


def policy_named(text: str, own: Mapping[str, Any] | None = None) -> Policy:
    """`rich`, `mine` from the settings, or either with changes: `rich,engage=0.7,tail=0.2`."""
    name, *changes = (part.strip() for part in text.split(","))
    policy = _found(name or RICH.name, own or {})
    if not changes:
        return policy
    numbers: dict[str, Any] = {}
    for change in changes:
        key, _, value = change.partition("=")
        try:
            numbers[key.strip()] = float(value)
        except ValueError:
            raise ConfigError(f"policy {text!r}: {change!r} is not of the form engage=0.7") from None
    return _changed(policy, numbers, f"policy {text!r}", name=text)


def _found(name: str, own: Mapping[str, Any]) -> Policy:
    if name in own:
        form = own[name]
        if not isinstance(form, Mapping):
            raise ConfigError(f"[context.policies] {name} is not a table of numbers")
        base = str(form.get("base", RICH.name))
        if base not in POLICIES:
            raise ConfigError(f"[context.policies.{name}] base = {base!r}; it is one of {', '.join(POLICIES)}")
        numbers = {key: value for key, value in form.items() if key != "base"}
        return _changed(POLICIES[base], numbers, f"[context.policies.{name}]", name=name)
    if name in POLICIES:
        return POLICIES[name]
    known = ", ".join([*POLICIES, *own])
    raise ConfigError(f"no policy {name!r}; there are {known}, and changes like rich,engage=0.7")


def _changed(policy: Policy, numbers: Mapping[str, Any], where: str, *, name: str) -> Policy:
    for key, value in numbers.items():
        if key not in _FIELDS:
            raise ConfigError(f"{where}: {key!r} is no number of a policy; there are {', '.join(_FIELDS)}")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise ConfigError(f"{where}: {key} = {value!r} is not a number from 0 up")
    try:
        return msgspec.convert(msgspec.structs.asdict(policy) | dict(numbers) | {"name": name}, Policy, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {error}") from None
