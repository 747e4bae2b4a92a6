"""The tools that every agent has, in the order in which the model sees them. It is part of the cached prefix."""

from typing import Any

from outlive.tools.add_directive import AddDirective
from outlive.tools.bash import Bash
from outlive.tools.bash_output import BashOutput
from outlive.tools.compact import Compact
from outlive.tools.edit_file import EditFile
from outlive.tools.forget import Forget
from outlive.tools.glob import Glob
from outlive.tools.grep import Grep
from outlive.tools.keep import Keep
from outlive.tools.load_skill import LoadSkill
from outlive.tools.memory_search import MemorySearch
from outlive.tools.protocol import Tool
from outlive.tools.read_file import ReadFile
from outlive.tools.recall import Recall
from outlive.tools.remember import Remember
from outlive.tools.subagent import Subagent
from outlive.tools.task_claim import TaskClaim
from outlive.tools.task_complete import TaskComplete
from outlive.tools.task_create import TaskCreate
from outlive.tools.task_get import TaskGet
from outlive.tools.task_list import TaskList
from outlive.tools.task_update import TaskUpdate
from outlive.tools.update_plan import UpdatePlan
from outlive.tools.write_file import WriteFile


def standard_tools() -> list[Tool[Any]]:
    """One of each."""
    return [
        *(Bash(), BashOutput(), ReadFile(), WriteFile(), EditFile(), Glob(), Grep()),
        *(TaskCreate(), TaskUpdate(), TaskList(), TaskGet(), TaskClaim(), TaskComplete()),
        *(UpdatePlan(), AddDirective(), Compact(), Recall(), Keep(), Subagent(), LoadSkill()),
        *(Remember(), Forget(), MemorySearch()),
    ]
