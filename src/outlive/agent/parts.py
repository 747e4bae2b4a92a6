"""The parts that an agent is made of, besides its session."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from outlive.agent.spending import Spending
from outlive.limits import Limit
from outlive.models.protocol import Model
from outlive.secrets import Masker, mask
from outlive.tasks.graph import TaskGraph
from outlive.tools.changes.recorder import ChangeRecorder
from outlive.tools.custom_commands import CustomCommands
from outlive.tools.mcp.servers import McpServers
from outlive.tools.permissions.asking import PermissionMode
from outlive.tools.permissions.fence import Fence
from outlive.tools.permissions.sandbox import Sandbox
from outlive.tools.runner import Gate, Hooks
from outlive.tools.skills import Skills
from outlive.tools.toolbox import Toolbox

Summaries = Literal["asked", "always", "never", "provider"]
"""When a summary is written for a pass: `asked` if the user or the model asked for the pass, `always`, `never`;
`provider`: at each pass, by the provider."""


@dataclass(slots=True)
class AgentParts:
    """The parts of an agent besides its session. Sub-agents share them, with fewer tools."""

    root: Path
    model: Model
    toolbox: Toolbox
    graph: TaskGraph
    fence: Fence
    sandbox: Sandbox
    skills: Skills
    gate: Gate
    hooks: Hooks
    system: Callable[[], str]
    """The current system prompt; a change applies from the next turn on."""
    limits: Callable[[Spending], Sequence[Limit]]
    """Makes new limits for each run."""
    chose_mode: Callable[[str, PermissionMode], None] = lambda *_: None
    """Called when the user chooses a mode for a session. Only a mode recorded this way is restored on resume."""
    summaries: Summaries = "asked"
    owner: str = "agent"
    changes: ChangeRecorder | None = None
    """Records the files that calls change, unless that is switched off."""
    added_folder: Callable[[str, Path], None] = lambda *_: None
    """Called when the user adds a folder to a session. Only a folder recorded this way is there again on resume."""
    commands: CustomCommands | None = None
    """Commands that the user wrote for prompts."""
    mcp: McpServers | None = None
    """MCP servers that are stopped with the agent."""
    mask: Masker = mask
    """Masks secrets in what tools read and print."""
