"""The sections of `outlive.toml`. Unknown settings and wrong types raise ConfigError with the path of the file."""

import tomllib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from outlive.config.home import read_settings
from outlive.errors import ConfigError

SECTIONS = ("store", "context", "agent", "permissions", "hooks", "memory")
SUMMARIES = ("asked", "always", "never")
SMALLEST_WINDOW = 1000
EXTRACTIONS = ("auto", "always", "never")
CONSOLIDATIONS = ("auto", "rules", "never")
AGENT: Mapping[str, type] = {
    **dict.fromkeys(("model", "fallback", "mode", "thinking"), str),
    **{"sandbox": bool, "network": bool, "add_dirs": list, "max_turns": int, "max_tokens": int},
}
"""The settings of [agent] and their types. Their users check the values."""
Form = Mapping[str, dict[str, Any]]
"""The file, by section."""
HOOK_EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "PostCompact", "Stop")


def load(path: Path) -> tuple[Form, str]:
    """The sections of `outlive.toml` and the digest of its bytes; nothing and "" without a file."""
    raw = read_settings(path)
    if raw is None:
        return {}, ""
    try:
        form = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from None
    for name, section in form.items():
        if name not in SECTIONS or not isinstance(section, dict):
            sections = ", ".join(f"[{known}]" for known in SECTIONS)
            raise ConfigError(f"{path}: {name!r} is not a section; the sections are: {sections}")
    return form, sha256(raw).hexdigest()


def context_section(path: Path, form: Form) -> Mapping[str, object]:
    """The settings of the context engine. The engine checks the numbers of a policy."""
    context = form.get("context", {})
    kinds = {"policy": str, "window": int, "policies": dict, "summary": str}
    for key, value in context.items():
        if key not in kinds or not isinstance(value, kinds[key]):
            raise ConfigError(f"{path}: [context] {key} = {value!r} is not a setting; it takes {', '.join(kinds)}")
    window = context.get("window", SMALLEST_WINDOW)
    if isinstance(window, bool) or window < SMALLEST_WINDOW:
        raise ConfigError(f"{path}: [context] window = {window!r}; it is tokens, from {SMALLEST_WINDOW:,} up")
    if context.get("summary", SUMMARIES[0]) not in SUMMARIES:
        raise ConfigError(f"{path}: [context] summary = {context['summary']!r}; it is one of {', '.join(SUMMARIES)}")
    return context


def store_section(path: Path, form: Form, durabilities: Sequence[str]) -> dict[str, str]:
    store = form.get("store", {})
    for key, value in store.items():
        if key not in ("url", "durability") or not isinstance(value, str):
            raise ConfigError(f"{path}: [store] {key} = {value!r} is not a setting; it takes url and durability")
    if store.get("durability", "full") not in durabilities:
        raise ConfigError(f"{path}: durability must be one of {', '.join(durabilities)}, not {store['durability']!r}")
    return store


def agent_section(path: Path, form: Form) -> Mapping[str, object]:
    agent = form.get("agent", {})
    for key, value in agent.items():
        if key not in AGENT or type(value) is not AGENT[key]:
            kinds = ", ".join(f"{name} ({kind.__name__})" for name, kind in AGENT.items())
            raise ConfigError(f"{path}: [agent] {key} = {value!r} is not a setting; it takes {kinds}")
    if not _all_text(agent.get("add_dirs", [])):
        raise ConfigError(f"{path}: [agent] add_dirs must be a list of folders")
    return agent


def permissions_section(path: Path, form: Form) -> Mapping[str, Sequence[str]]:
    """Lists of rules, not parsed yet."""
    permissions = form.get("permissions", {})
    for key, value in permissions.items():
        if key not in ("allow", "deny") or not _all_text(value):
            raise ConfigError(
                f"{path}: [permissions] {key} = {value!r} is not a setting; it takes allow and deny, lists"
            )
    return permissions


def hooks_section(path: Path, form: Form) -> Mapping[str, Sequence[Mapping[str, object]]]:
    """Hooks by event: `command`, and optionally `matcher` and `timeout`."""
    hooks = form.get("hooks", {})
    kinds: Mapping[str, tuple[type, ...]] = {"command": (str,), "matcher": (str,), "timeout": (int, float)}
    for event, entries in hooks.items():
        if event not in HOOK_EVENTS or not isinstance(entries, list):
            raise ConfigError(f"{path}: [[hooks.{event}]] is not a hook; the events are: {', '.join(HOOK_EVENTS)}")
        for entry in entries:
            wrong = not isinstance(entry, dict) or any(type(v) not in kinds.get(k, ()) for k, v in entry.items())
            if wrong or not entry.get("command"):
                raise ConfigError(
                    f"{path}: [[hooks.{event}]] {entry!r} is not a hook; it takes command, matcher?, timeout?"
                )
    return hooks


def memory_section(path: Path, form: Form) -> Mapping[str, object]:
    """When a model extracts and consolidates memories, and whether it reranks search results."""
    memory = form.get("memory", {})
    choices: Mapping[str, tuple[str, ...]] = {"extract": EXTRACTIONS, "consolidate": CONSOLIDATIONS}
    for key, value in memory.items():
        if value not in choices.get(key, ()) and not (key == "rerank" and isinstance(value, bool)):
            words = (f"{name} ({', '.join(choice)})" for name, choice in choices.items())
            takes = f"{', '.join(words)} and rerank (true, false)"
            raise ConfigError(f"{path}: [memory] {key} = {value!r} is not a setting; it takes {takes}")
    return memory


def _all_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
