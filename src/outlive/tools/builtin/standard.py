"""The tools that every agent has, in the order in which the model sees them. It is part of the cached prefix."""

from typing import Any

from outlive.tools.builtin.bash import Bash, BashOutput
from outlive.tools.builtin.edit_file import EditFile
from outlive.tools.builtin.glob import Glob
from outlive.tools.builtin.grep import Grep
from outlive.tools.builtin.load_skill import LoadSkill
from outlive.tools.builtin.memory import Forget, MemorySearch, Remember
from outlive.tools.builtin.read_file import ReadFile
from outlive.tools.builtin.state import AddDirective, UpdatePlan
from outlive.tools.builtin.subagent import SubagentTool
from outlive.tools.builtin.tasks import TaskClaim, TaskComplete, TaskCreate, TaskGet, TaskList, TaskUpdate
from outlive.tools.builtin.view import Compact, Keep, Recall
from outlive.tools.builtin.web_fetch import WebFetch
from outlive.tools.builtin.write_file import WriteFile
from outlive.tools.protocol import Tool


def standard_tools() -> list[Tool[Any]]:
    return [
        *(Bash(), BashOutput(), ReadFile(), WriteFile(), EditFile(), Glob(), Grep()),
        *(TaskCreate(), TaskUpdate(), TaskList(), TaskGet(), TaskClaim(), TaskComplete()),
        *(UpdatePlan(), AddDirective(), Compact(), Recall(), Keep(), SubagentTool(), LoadSkill()),
        *(Remember(), Forget(), MemorySearch(), WebFetch()),
    ]
