"""The sections of `outlive.toml`. Unknown settings and wrong types raise ConfigError with the path of the file."""

import tomllib
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from outlive.config.home import read_settings
from outlive.config.settings import place_of, problem_in
from outlive.errors import ConfigError

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
            rest = place_of(name) or f"the sections are: {', '.join(f'[{known}]' for known in _PROBLEMS)}"
            raise ConfigError(f"{path}: {name!r} is not a section; {rest}")
    for name, problem in _PROBLEMS.items():
        if found := problem(form.get(name, {})):
            raise ConfigError(f"{path}: {found}")
    return form, sha256(raw).hexdigest()


def _hooks(section: Section) -> str:
    for event, entries in section.items():
        if event not in HOOK_EVENTS or not isinstance(entries, list):
            return f"[[hooks.{event}]] is not a hook; the events are: {', '.join(HOOK_EVENTS)}"
        for entry in entries:
            wrong = not isinstance(entry, dict) or any(type(v) not in HOOK.get(k, ()) for k, v in entry.items())
            if wrong or not entry.get("command"):
                return f"[[hooks.{event}]] {entry!r} is not a hook; it takes command, matcher?, timeout?"
    return ""


def _mcp(section: Section) -> str:
    if not section:
        return ""
    from outlive.config.mcp_server import servers_of

    if found := problem_in("mcp", section, also=("servers",)):
        return found
    if not isinstance(section.get("servers", {}), dict):
        return "[mcp] servers is not a table; write [mcp.servers.NAME]"
    try:
        servers_of(section)
    except ConfigError as error:
        return f"[mcp] {error}"
    return ""


def _plain(name: str) -> Callable[[Section], str]:
    return lambda section: problem_in(name, section)


_PROBLEMS: Mapping[str, Callable[[Section], str]] = {
    **{name: _plain(name) for name in ("store", "context", "agent", "permissions", "memory", "terminal", "work")},
    **{"hooks": _hooks, "mcp": _mcp},
}
"""The sections, and what is wrong with the settings of each. Policies and rules are checked by their users."""
