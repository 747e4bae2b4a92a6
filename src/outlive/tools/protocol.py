"""The interface of tools: name and description for the model, a checked input, an effect for permissions, and `run`.

A tool reports errors of the model or of files in its `ToolOutcome` (a `ToolError` becomes one). It gets everything
from its `ToolContext` and knows neither the session nor the loop.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from msgspec import Struct

from outlive.context.passes.pinning import Kept
from outlive.events import Denial, KnownEvent
from outlive.messages import Image
from outlive.secrets import Masker, mask
from outlive.state import WorkingState
from outlive.tasks.graph import TaskGraph
from outlive.tools.errors import ToolError as ToolError  # re-exported for authors of tools
from outlive.tools.files.diff import FileChange, unified

if TYPE_CHECKING:
    from outlive.tools.changes.recorder import ChangeRecorder
    from outlive.tools.files.read_tracker import ReadTracker
    from outlive.tools.permissions.fence import Fence
    from outlive.tools.permissions.sandbox import Sandbox
    from outlive.tools.processes.session_commands import Processes
    from outlive.tools.skills import Skills

Effect = Literal["look", "state", "tasks", "fetch", "edit", "run"]
"""What running a tool can do: look at things here, change the session's own state, change the task graph, ask a
server somewhere else, change files, anything."""

SHORT_RESULT_CHARS = 8_000
"""`Tool.longest` of tools that search for a text or look it up."""
Input = TypeVar("Input", bound=Struct)
E_ = TypeVar("E_", bound=KnownEvent)


def encoded(text: str, what: str) -> bytes:
    """The text in UTF-8. Raises ToolError if it is not valid; `what` names it."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"{what} is not valid text: it holds half of a character at {error.start}") from None


class ToolOutcome(Struct, frozen=True):
    """The result of a call."""

    text: str
    is_error: bool = False
    exit_code: int | None = None
    images: tuple[Image, ...] = ()
    shown: str = ""
    """Shown to people instead of `text`, such as the diff of an edit."""
    denied: Denial | None = None
    """Set when the call was not allowed and did not run."""


class ToolSession(Protocol):
    """What a tool may do with the session it runs in."""

    @property
    def id(self) -> str: ...

    @property
    def state(self) -> WorkingState: ...

    def log(self, kind: type[E_], /, **fields: Any) -> E_:
        """Append an event. Raises `StateError` if it is invalid."""

    def recall(self, handle: str) -> tuple[str, tuple[Image, ...]]:
        """The exact text of a page. Raises `OutliveError` for an unknown handle."""

    def search(self, query: str, limit: int = 10) -> str:
        """Places in the session that match, as text with handles."""

    def user_words(self) -> Iterable[str]:
        """The user's own messages in this session, newest first, without text of the harness."""

    def keep(self, refs: Iterable[str], let_go: Iterable[str]) -> None:
        """Keep results whole through every pass, or let them go. Raises `OutliveError` if that is not possible."""

    def kept(self) -> tuple[tuple[Kept, ...], int]:
        """The results that are kept whole, and the tokens that can be."""

    def ask_to_compact(self, focus: str) -> None:
        """Request a pass after all calls of this answer."""


class SubagentRunner(Protocol):
    """Runs another agent with a fresh context and returns its report."""

    def __call__(self, prompt: str, *, tools: tuple[str, ...] | None, description: str) -> Awaitable[ToolOutcome]: ...


@dataclass(slots=True)
class ToolContext:
    """What a tool works with: one per session; `call_id` is that of the running call."""

    root: Path
    session: ToolSession
    graph: TaskGraph
    fence: "Fence"
    read_tracker: "ReadTracker"
    processes: "Processes"
    sandbox: "Sandbox"
    skills: "Skills"
    output: Callable[[str, str], None]
    """Called with the call's id and its output while it runs."""
    subagent: SubagentRunner | None = None
    rules_of: Callable[[str], str] = lambda _: ""
    """Instructions of the project for this file that were not shown yet."""
    mask: Masker = mask
    """Masks secrets before text is cut."""
    owner: str = "agent"
    """The name under which tasks are claimed."""
    changes: "ChangeRecorder | None" = None
    """Records the files that calls change."""
    call_id: str = ""
    extras: dict[str, Any] = field(default_factory=dict)
    """Objects for tools of other packages, by name (`memories`)."""


class Tool(ABC, Generic[Input]):
    """Base of all tools."""

    name: str
    description: str
    input: type[Struct]
    """A Struct with `forbid_unknown_fields`."""
    about: str = ""
    """The input field that `subject` returns. `path` is also the only path of the call."""
    effect: Effect = "look"
    asks: bool = True
    """Whether an effect of `edit` or `run` needs the user's word. Deny rules and plan mode count either way."""
    longest: int = 0
    """Characters that one text of its input may have; 0 for no limit."""
    parallel: bool = False
    """Whether it may run at the same time as other calls of an answer."""

    @abstractmethod
    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        """Do it."""

    def subject(self, given: Input) -> str:
        """The subject of the call for rules and people, such as the command or the path."""
        found = getattr(given, self.about) if self.about else None
        return "" if found is None else str(found)

    def rule_name(self, given: Input) -> str:
        """The name of this call for rules, hooks and questions."""
        return self.name

    def effect_of(self, given: Input) -> Effect:
        """What this call can change."""
        return self.effect

    async def prepare(self, given: Input, context: ToolContext) -> None:
        """Check what can be checked before the user is asked. Raises ToolError if the call cannot run."""

    def paths(self, given: Input) -> tuple[str, ...]:
        """The paths in the call, as written."""
        return (self.subject(given),) if self.about == "path" else ()

    def preview(self, given: Input, context: ToolContext) -> str:
        """What would change, shown when the user is asked."""
        change = self.change(given, context)
        return unified(change.before or "", change.after, self.subject(given)) if change else ""

    def change(self, given: Input, context: ToolContext) -> FileChange | None:
        """The file that would change, if it is one and it is text. Raises ToolError if the call cannot be made."""
        return None
