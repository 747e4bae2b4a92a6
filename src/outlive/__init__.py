"""outlive: an agent harness whose work outlives the conversation.

Importing this package only defines names; each public name is loaded on first use.
"""

TYPE_CHECKING = False  # typing.TYPE_CHECKING would load typing, which costs a command more than its whole answer
if TYPE_CHECKING:
    from outlive.agent import Session as Session
    from outlive.agent.agent import Agent as Agent
    from outlive.agent.agent import RunStream as RunStream
    from outlive.agent.log.forking import CannotFork as CannotFork
    from outlive.agent.output import InvalidOutput as InvalidOutput
    from outlive.agent.recall import InvalidPattern as InvalidPattern
    from outlive.agent.session import NothingToUndo as NothingToUndo
    from outlive.config import Workspace as Workspace
    from outlive.context.engine import Engine as Engine
    from outlive.context.errors import BrokenContract as BrokenContract
    from outlive.context.errors import ContextError as ContextError
    from outlive.context.errors import FloorError as FloorError
    from outlive.context.errors import InvalidRequest as InvalidRequest
    from outlive.context.errors import UnknownHandle as UnknownHandle
    from outlive.context.passes.pinning import KeepRefused as KeepRefused
    from outlive.conversation import Conversation as Conversation
    from outlive.errors import AgentBusy as AgentBusy
    from outlive.errors import AgentClosed as AgentClosed
    from outlive.errors import BlockedError as BlockedError
    from outlive.errors import ConfigError as ConfigError
    from outlive.errors import ConflictError as ConflictError
    from outlive.errors import CycleError as CycleError
    from outlive.errors import DamagedRecord as DamagedRecord
    from outlive.errors import DependencyError as DependencyError
    from outlive.errors import FutureVersion as FutureVersion
    from outlive.errors import HasDependents as HasDependents
    from outlive.errors import InvalidTask as InvalidTask
    from outlive.errors import LeaseError as LeaseError
    from outlive.errors import NothingReady as NothingReady
    from outlive.errors import OutliveError as OutliveError
    from outlive.errors import StoreError as StoreError
    from outlive.errors import StoreUnavailable as StoreUnavailable
    from outlive.errors import TaskError as TaskError
    from outlive.errors import UnknownTask as UnknownTask
    from outlive.events import AssistantSaid as AssistantSaid
    from outlive.events import Compacted as Compacted
    from outlive.events import Denial as Denial
    from outlive.events import Event as Event
    from outlive.events import Noted as Noted
    from outlive.events import ToolFinished as ToolFinished
    from outlive.events import ToolStarted as ToolStarted
    from outlive.events import UsageReported as UsageReported
    from outlive.events import UserSaid as UserSaid
    from outlive.memory.consolidate import ConsolidationBusy as ConsolidationBusy
    from outlive.memory.errors import InvalidAnswer as InvalidAnswer
    from outlive.memory.errors import InvalidMemory as InvalidMemory
    from outlive.memory.errors import MemoryExists as MemoryExists
    from outlive.memory.errors import MemoryRefused as MemoryRefused
    from outlive.memory.errors import NeedsConfirmation as NeedsConfirmation
    from outlive.memory.errors import PoisonedMemory as PoisonedMemory
    from outlive.memory.errors import UndoConflict as UndoConflict
    from outlive.memory.errors import UnknownMemory as UnknownMemory
    from outlive.memory.memories import Memories as Memories
    from outlive.memory.retrieval.entry import DenseUnavailable as DenseUnavailable
    from outlive.models.errors import ModelError as ModelError
    from outlive.models.errors import ModelNotSetUp as ModelNotSetUp
    from outlive.models.errors import ModelUnavailable as ModelUnavailable
    from outlive.models.errors import PromptTooLong as PromptTooLong
    from outlive.models.errors import RequestRefused as RequestRefused
    from outlive.models.protocol import Model as Model
    from outlive.models.protocol import Usage as Usage
    from outlive.replay.importers.lines import ImportRefused as ImportRefused
    from outlive.result import DeniedCall as DeniedCall
    from outlive.result import OutputResult as OutputResult
    from outlive.result import RunResult as RunResult
    from outlive.result import StopReason as StopReason
    from outlive.secrets import SecretFound as SecretFound
    from outlive.state import StateError as StateError
    from outlive.stores import Stores as Stores
    from outlive.stores import open_stores as open_stores
    from outlive.stores.logs.names import InvalidSession as InvalidSession
    from outlive.stores.logs.protocol import DamagedBlob as DamagedBlob
    from outlive.stores.logs.protocol import LogStore as LogStore
    from outlive.stores.logs.protocol import SessionBusy as SessionBusy
    from outlive.stores.logs.protocol import SessionExists as SessionExists
    from outlive.stores.logs.protocol import SessionReplaced as SessionReplaced
    from outlive.stores.logs.protocol import SessionTooLarge as SessionTooLarge
    from outlive.stores.logs.protocol import UnknownSession as UnknownSession
    from outlive.stores.memories.protocol import MemoryStore as MemoryStore
    from outlive.stores.memories.records import Memory as Memory
    from outlive.stores.memories.records import OversizedMemory as OversizedMemory
    from outlive.stores.tasks.protocol import TaskQuery as TaskQuery
    from outlive.stores.tasks.protocol import TaskStore as TaskStore
    from outlive.stores.tasks.records import Lease as Lease
    from outlive.stores.tasks.records import Task as Task
    from outlive.stores.tasks.records import TaskChange as TaskChange
    from outlive.stream import ModelRetrying as ModelRetrying
    from outlive.stream import StreamEvent as StreamEvent
    from outlive.stream import SubagentActed as SubagentActed
    from outlive.stream import TextDelta as TextDelta
    from outlive.stream import ThinkingDelta as ThinkingDelta
    from outlive.stream import ToolCallStreaming as ToolCallStreaming
    from outlive.stream import ToolOutput as ToolOutput
    from outlive.tasks.draft import TaskDraft as TaskDraft
    from outlive.tasks.graph import TaskGraph as TaskGraph
    from outlive.tools.errors import ToolError as ToolError
    from outlive.tools.function import FunctionTool as FunctionTool
    from outlive.tools.function import tool as tool
    from outlive.tools.permissions.asking import Asker as Asker
    from outlive.tools.permissions.asking import PermissionAnswer as PermissionAnswer
    from outlive.tools.permissions.asking import PermissionMode as PermissionMode
    from outlive.tools.permissions.asking import PermissionQuestion as PermissionQuestion
    from outlive.tools.permissions.sandbox import SandboxUnavailable as SandboxUnavailable
    from outlive.tools.protocol import Tool as Tool
    from outlive.tools.protocol import ToolContext as ToolContext
    from outlive.tools.protocol import ToolOutcome as ToolOutcome

__version__ = "0.1.0"

_HOMES = {
    "outlive.agent": "Session",
    "outlive.agent.agent": "Agent RunStream",
    "outlive.agent.log.forking": "CannotFork",
    "outlive.agent.output": "InvalidOutput",
    "outlive.agent.recall": "InvalidPattern",
    "outlive.agent.session": "NothingToUndo",
    "outlive.config": "Workspace",
    "outlive.context.engine": "Engine",
    "outlive.context.errors": "BrokenContract ContextError FloorError InvalidRequest UnknownHandle",
    "outlive.context.passes.pinning": "KeepRefused",
    "outlive.conversation": "Conversation",
    "outlive.errors": (
        "AgentBusy AgentClosed BlockedError ConfigError ConflictError "
        "CycleError DamagedRecord DependencyError FutureVersion HasDependents "
        "InvalidTask LeaseError NothingReady OutliveError StoreError "
        "StoreUnavailable TaskError UnknownTask"
    ),
    "outlive.events": ("AssistantSaid Compacted Denial Event Noted ToolFinished ToolStarted UsageReported UserSaid"),
    "outlive.memory.consolidate": "ConsolidationBusy",
    "outlive.memory.errors": (
        "InvalidAnswer InvalidMemory MemoryExists MemoryRefused "
        "NeedsConfirmation PoisonedMemory UndoConflict UnknownMemory"
    ),
    "outlive.memory.memories": "Memories",
    "outlive.memory.retrieval.entry": "DenseUnavailable",
    "outlive.models.errors": "ModelError ModelNotSetUp ModelUnavailable PromptTooLong RequestRefused",
    "outlive.models.protocol": "Model Usage",
    "outlive.replay.importers.lines": "ImportRefused",
    "outlive.result": "DeniedCall OutputResult RunResult StopReason",
    "outlive.secrets": "SecretFound",
    "outlive.state": "StateError",
    "outlive.stores": "Stores open_stores",
    "outlive.stores.logs.names": "InvalidSession",
    "outlive.stores.logs.protocol": (
        "DamagedBlob LogStore SessionBusy SessionExists SessionReplaced SessionTooLarge UnknownSession"
    ),
    "outlive.stores.memories.protocol": "MemoryStore",
    "outlive.stores.memories.records": "Memory OversizedMemory",
    "outlive.stores.tasks.protocol": "TaskQuery TaskStore",
    "outlive.stores.tasks.records": "Lease Task TaskChange",
    "outlive.stream": (
        "ModelRetrying StreamEvent SubagentActed TextDelta ThinkingDelta ToolCallStreaming ToolOutput"
    ),
    "outlive.tasks.draft": "TaskDraft",
    "outlive.tasks.graph": "TaskGraph",
    "outlive.tools.errors": "ToolError",
    "outlive.tools.function": "FunctionTool tool",
    "outlive.tools.permissions.asking": "Asker PermissionAnswer PermissionMode PermissionQuestion",
    "outlive.tools.permissions.sandbox": "SandboxUnavailable",
    "outlive.tools.protocol": "Tool ToolContext ToolOutcome",
}
"""The public names, by the module that each is loaded from."""
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'outlive' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
