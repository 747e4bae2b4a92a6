"""Which tools an agent is given: all, a few that fit a small window, or those that were named."""

from collections.abc import Iterable
from typing import Any

from outlive.errors import ConfigError
from outlive.tools.builtin.load_skill import LoadSkill
from outlive.tools.builtin.standard import standard_tools
from outlive.tools.permissions.rules import Rules
from outlive.tools.protocol import Tool
from outlive.tools.toolbox import Toolbox

ALL, LEAN = "all", "lean"
LEAN_BELOW_TOKENS = 32_000
"""Windows smaller than this get the lean tools, unless others are asked for."""
LEAN_TOOLS = ("bash", "read_file", "write_file", "edit_file", "task_create", "task_complete", "recall")


def is_lean(wanted: str, window: int) -> bool:
    """Whether an agent gets the lean prompt and tools."""
    return wanted == LEAN or (not wanted and window < LEAN_BELOW_TOKENS)


def toolset(
    wanted: str, window: int, rules: Rules, more: Iterable[Tool[Any]] = (), *, skills: bool = False
) -> Toolbox:
    """The tools of an agent, and `more`. The model is not told of those whose every call is denied or useless.

    `wanted`: "all", "lean", names with commas between them, or empty for what fits the window. `skills`: whether
    there are any to load. Raises ConfigError.
    """
    lean = is_lean(wanted, window)
    tools = standard_tools()
    if lean:
        tools = [tool for tool in tools if tool.name in LEAN_TOOLS]
    tools += more
    if wanted not in ("", ALL, LEAN):
        tools = _named(wanted, tools)
    hidden = {tool.name for tool in tools if rules.never_allows(tool.name)}
    if not skills:
        hidden.add(LoadSkill.name)
    return Toolbox(tools, brief=lean, hidden=hidden)


def _named(wanted: str, tools: Iterable[Tool[Any]]) -> list[Tool[Any]]:
    known = {tool.name: tool for tool in tools}
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise ConfigError(f"there is no tool {name!r}", hint=f"the tools are: {', '.join(known)}", code="tools")
    return [tool for name, tool in known.items() if name in names]
