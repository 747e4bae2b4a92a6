"""The tools that every agent has, in the order in which the model sees them. It is part of the cached prefix."""

from typing import Any

from outlive.tools.builtin.add_directive import AddDirective
from outlive.tools.builtin.bash import Bash
from outlive.tools.builtin.bash_output import BashOutput
from outlive.tools.builtin.compact import Compact
from outlive.tools.builtin.edit_file import EditFile
from outlive.tools.builtin.forget import Forget
from outlive.tools.builtin.glob import Glob
from outlive.tools.builtin.grep import Grep
from outlive.tools.builtin.keep import Keep
from outlive.tools.builtin.load_skill import LoadSkill
from outlive.tools.builtin.memory_search import MemorySearch
from outlive.tools.builtin.read_file import ReadFile
from outlive.tools.builtin.recall import Recall
from outlive.tools.builtin.remember import Remember
from outlive.tools.builtin.subagent import SubagentTool
from outlive.tools.builtin.task_claim import TaskClaim
from outlive.tools.builtin.task_complete import TaskComplete
from outlive.tools.builtin.task_create import TaskCreate
from outlive.tools.builtin.task_get import TaskGet
from outlive.tools.builtin.task_list import TaskList
from outlive.tools.builtin.task_update import TaskUpdate
from outlive.tools.builtin.update_plan import UpdatePlan
from outlive.tools.builtin.write_file import WriteFile
from outlive.tools.protocol import Tool


def standard_tools() -> list[Tool[Any]]:
    return [
        *(Bash(), BashOutput(), ReadFile(), WriteFile(), EditFile(), Glob(), Grep()),
        *(TaskCreate(), TaskUpdate(), TaskList(), TaskGet(), TaskClaim(), TaskComplete()),
        *(UpdatePlan(), AddDirective(), Compact(), Recall(), Keep(), SubagentTool(), LoadSkill()),
        *(Remember(), Forget(), MemorySearch()),
    ]
