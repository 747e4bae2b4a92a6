"""outlive: an agent harness whose work outlives the conversation.

Importing this package does nothing but define names; each public name is loaded when it is first used.
"""

TYPE_CHECKING = False  # typing.TYPE_CHECKING would load typing, which costs a command more than its whole answer
if TYPE_CHECKING:
    from outlive.agent import Session as Session
    from outlive.agent.agent import Agent as Agent
    from outlive.agent.factory import open_agent as open_agent
    from outlive.config import Workspace as Workspace
    from outlive.errors import OutliveError as OutliveError
    from outlive.errors import StoreError as StoreError
    from outlive.errors import TaskError as TaskError
    from outlive.loop import RunResult as RunResult
    from outlive.memory.memories import Memories as Memories
    from outlive.stores import Stores as Stores
    from outlive.stores import open_stores as open_stores
    from outlive.stores.logs.protocol import LogStore as LogStore
    from outlive.stores.memories.protocol import MemoryStore as MemoryStore
    from outlive.stores.memories.records import Memory as Memory
    from outlive.stores.tasks.protocol import TaskQuery as TaskQuery
    from outlive.stores.tasks.protocol import TaskStore as TaskStore
    from outlive.stores.tasks.records import Change as Change
    from outlive.stores.tasks.records import Lease as Lease
    from outlive.stores.tasks.records import Task as Task
    from outlive.tasks.draft import TaskDraft as TaskDraft
    from outlive.tasks.graph import TaskGraph as TaskGraph
    from outlive.tools.protocol import Tool as Tool
    from outlive.tools.protocol import ToolContext as ToolContext
    from outlive.tools.protocol import ToolOutcome as ToolOutcome

__version__ = "0.1.0"

_HOME = {
    "Agent": "outlive.agent.agent",
    "Change": "outlive.stores.tasks.records",
    "ToolContext": "outlive.tools.protocol",
    "TaskDraft": "outlive.tasks.draft",
    "RunResult": "outlive.loop",
    "Lease": "outlive.stores.tasks.records",
    "LogStore": "outlive.stores.logs.protocol",
    "Memories": "outlive.memory.memories",
    "Memory": "outlive.stores.memories.records",
    "MemoryStore": "outlive.stores.memories.protocol",
    "ToolOutcome": "outlive.tools.protocol",
    "OutliveError": "outlive.errors",
    "Session": "outlive.agent",
    "StoreError": "outlive.errors",
    "Stores": "outlive.stores",
    "Task": "outlive.stores.tasks.records",
    "TaskError": "outlive.errors",
    "TaskGraph": "outlive.tasks.graph",
    "TaskQuery": "outlive.stores.tasks.protocol",
    "TaskStore": "outlive.stores.tasks.protocol",
    "Tool": "outlive.tools.protocol",
    "Workspace": "outlive.config",
    "open_agent": "outlive.agent.factory",
    "open_stores": "outlive.stores",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'outlive' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
