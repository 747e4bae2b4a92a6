"""The sections of `outlive.toml`. Unknown settings and wrong types raise ConfigError with the path of the file."""

import tomllib
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from outlive.config.home import read_settings
from outlive.errors import ConfigError

SUMMARIES = ("asked", "always", "never", "provider")
SMALLEST_WINDOW = 1000
MEMORY = {"extract": ("auto", "always", "never"), "consolidate": ("auto", "rules", "never")}
CONTEXT: Mapping[str, type] = {"policy": str, "window": int, "policies": dict, "summary": str}
AGENT: Mapping[str, type] = {
    **dict.fromkeys(("model", "fallback", "mode", "thinking"), str),
    **{"sandbox": bool, "network": bool, "add_dirs": list, "max_turns": int, "max_tokens": int},
}
"""The settings of [agent] and their types. Their users check the values."""
HOOK: Mapping[str, tuple[type, ...]] = {"command": (str,), "matcher": (str,), "timeout": (int, float)}
HOOK_EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "PostCompact", "Stop")
Section = dict[str, Any]


def load(path: Path) -> tuple[dict[str, Section], str]:
    """The checked sections of `outlive.toml` and the digest of its bytes; nothing and "" without a file."""
    raw = read_settings(path)
    if raw is None:
        return {}, ""
    try:
        form = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    for name, section in form.items():
        if name not in _PROBLEMS or not isinstance(section, dict):
            sections = ", ".join(f"[{known}]" for known in _PROBLEMS)
            raise ConfigError(f"{path}: {name!r} is not a section; the sections are: {sections}")
    for name, problem in _PROBLEMS.items():
        if found := problem(form.get(name, {})):
            raise ConfigError(f"{path}: {found}")
    return form, sha256(raw).hexdigest()


def _store(section: Section) -> str:
    for key, value in section.items():
        if key not in ("url", "durability") or not isinstance(value, str):
            return f"[store] {key} = {value!r} is not a setting; it takes url and durability"
    return ""


def _context(section: Section) -> str:
    """The engine checks the numbers of a policy."""
    for key, value in section.items():
        if key not in CONTEXT or not isinstance(value, CONTEXT[key]):
            return f"[context] {key} = {value!r} is not a setting; it takes {', '.join(CONTEXT)}"
    window = section.get("window", SMALLEST_WINDOW)
    if isinstance(window, bool) or window < SMALLEST_WINDOW:
        return f"[context] window = {window!r}; it takes a number of tokens, at least {SMALLEST_WINDOW:,}"
    if section.get("summary", SUMMARIES[0]) not in SUMMARIES:
        return f"[context] summary = {section['summary']!r}; it is one of {', '.join(SUMMARIES)}"
    return ""


def _agent(section: Section) -> str:
    for key, value in section.items():
        if key not in AGENT or type(value) is not AGENT[key]:
            kinds = ", ".join(f"{name} ({kind.__name__})" for name, kind in AGENT.items())
            return f"[agent] {key} = {value!r} is not a setting; it takes {kinds}"
    return "" if _all_text(section.get("add_dirs", [])) else "[agent] add_dirs must be a list of folders"


def _permissions(section: Section) -> str:
    """Rules are parsed by their user."""
    for key, value in section.items():
        if key not in ("allow", "deny") or not _all_text(value):
            return f"[permissions] {key} = {value!r} is not a setting; it takes allow and deny, lists"
    return ""


def _hooks(section: Section) -> str:
    for event, entries in section.items():
        if event not in HOOK_EVENTS or not isinstance(entries, list):
            return f"[[hooks.{event}]] is not a hook; the events are: {', '.join(HOOK_EVENTS)}"
        for entry in entries:
            wrong = not isinstance(entry, dict) or any(type(v) not in HOOK.get(k, ()) for k, v in entry.items())
            if wrong or not entry.get("command"):
                return f"[[hooks.{event}]] {entry!r} is not a hook; it takes command, matcher?, timeout?"
    return ""


def _memory(section: Section) -> str:
    for key, value in section.items():
        if value not in MEMORY.get(key, ()) and not (key == "rerank" and isinstance(value, bool)):
            words = (f"{name} ({', '.join(choice)})" for name, choice in MEMORY.items())
            return (
                f"[memory] {key} = {value!r} is not a setting; it takes {', '.join(words)} and rerank (true, false)"
            )
    return ""


def _mcp(section: Section) -> str:
    if not section:
        return ""
    from outlive.config.mcp_server import servers_of

    for key, value in section.items():
        if type(value) is not {"servers": dict, "defer": bool}.get(key):
            return f"[mcp] {key} = {value!r} is not a setting; it takes defer (true, false) and [mcp.servers.NAME]"
    try:
        servers_of(section)
    except ConfigError as error:
        return f"[mcp] {error}"
    return ""


def _all_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_PROBLEMS: Mapping[str, Callable[[Section], str]] = {
    **{"store": _store, "context": _context, "agent": _agent},
    **{"permissions": _permissions, "hooks": _hooks, "memory": _memory, "mcp": _mcp},
}
"""The sections, and what is wrong with the settings of each."""
