"""Resolves a policy: by name, by name with changes, or as written in `outlive.toml`."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from outlive.context.policy import MOST_TOKENS, POLICIES, RICH, Policy, numbers
from outlive.errors import ConfigError


def policy_named(text: str, own: Mapping[str, Any] | None = None) -> Policy:
    """`rich`, `mine` from the settings, or either with changes: `rich,engage=0.7,tail=0.2`."""
    name, *changes = (part.strip() for part in text.split(","))
    policy = _found(name or RICH.name, own or {})
    if not changes:
        return policy
    given: dict[str, Any] = {}
    for change in changes:
        key, _, value = change.partition("=")
        try:
            given[key.strip()] = float(value)
        except ValueError:
            raise ConfigError(f"policy {text!r}: {change!r} is not of the form engage=0.7") from None
    return _changed(policy, given, f"policy {text!r}", name=text)


def _found(name: str, own: Mapping[str, Any]) -> Policy:
    if name in own:
        form = own[name]
        if not isinstance(form, Mapping):
            raise ConfigError(f"[context.policies] {name} is not a table of numbers")
        base = str(form.get("base", RICH.name))
        if base not in POLICIES:
            raise ConfigError(f"[context.policies.{name}] base = {base!r}; it is one of {', '.join(POLICIES)}")
        given = {key: value for key, value in form.items() if key != "base"}
        return _changed(POLICIES[base], given, f"[context.policies.{name}]", name=name)
    if name in POLICIES:
        return POLICIES[name]
    known = ", ".join([*POLICIES, *own])
    raise ConfigError(f"no policy {name!r}; there are {known}, and changes like rich,engage=0.7")


def _changed(policy: Policy, changes: Mapping[str, Any], where: str, *, name: str) -> Policy:
    """The policy with changed values; the policy class itself checks them."""
    known = numbers()
    found: dict[str, Any] = {}
    for key, value in changes.items():
        if key not in known:
            raise ConfigError(f"{where}: {key!r} is not a setting of a policy; there are {', '.join(known)}")
        whole = known[key].whole and isinstance(value, float) and value.is_integer()
        found[key] = int(value) if whole else value
    return replace(policy, name=name, **found)


def without_cold_passes(policy: Policy) -> Policy:
    """The policy without passes that are only made because the provider's cache has expired."""
    return replace(policy, cold=1.0, cold_tokens=MOST_TOKENS)
