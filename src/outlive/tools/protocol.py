"""What a tool is: a name and a description for the model, a checked input, an effect for permissions, and `run`.

A tool never raises for what a model or a file did wrong: it answers with a `ToolOutcome` that says so (`ToolError` is
turned into one). It gets everything it needs from its `ToolContext`; it knows neither the session nor the loop.
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
from outlive.tools.errors import ToolError as ToolError  # exported for authors of tools

if TYPE_CHECKING:
    from outlive.tools.files.read_tracker import ReadTracker
    from outlive.tools.permissions.fence import Fence
    from outlive.tools.permissions.sandbox import Sandbox
    from outlive.tools.processes.session_commands import Processes
    from outlive.tools.skills import Skills

Effect = Literal["look", "state", "tasks", "edit", "run"]
"""What running a tool can change: nothing, the session's own state, the task graph, files, anything at all."""

SHORT = 8_000
"""Characters of a text that is searched for or looked up: `Tool.longest` of the tools that do so."""
Input = TypeVar("Input", bound=Struct)
E_ = TypeVar("E_", bound=KnownEvent)


class ToolOutcome(Struct, frozen=True):
    """What a call came to."""

    text: str
    is_error: bool = False
    exit_code: int | None = None
    images: tuple[Image, ...] = ()
    shown: str = ""
    """For people instead of `text`: the diff of an edit, for example."""
    denied: Denial | None = None
    """Set when the call was not allowed and did not run."""


class SessionDoor(Protocol):
    """What a tool may do with the session it runs in."""

    @property
    def id(self) -> str: ...

    @property
    def state(self) -> WorkingState: ...

    def log(self, kind: type[E_], /, **fields: Any) -> E_:
        """Append an event. Raises `StateError` when it makes no sense."""

    def recall(self, handle: str) -> tuple[str, tuple[Image, ...]]:
        """The exact text of a page. Raises `OutliveError` for a handle that was never given."""

    def search(self, query: str, limit: int = 10) -> str:
        """Where the session says something, as text with handles."""

    def user_words(self) -> Iterable[str]:
        """All that the user said in this session, newest first, without what the harness put among it."""

    def keep(self, refs: Iterable[str], let_go: Iterable[str]) -> None:
        """Keep results whole through every pass, or no longer. Raises `OutliveError` with the way out."""

    def kept(self) -> tuple[tuple[Kept, ...], int]:
        """What is kept whole, and how many tokens can be."""

    def ask_to_compact(self, focus: str) -> None:
        """A pass is made when all calls of this answer have come back."""


class SubagentRunner(Protocol):
    """Runs another agent with a fresh context and returns its report."""

    def __call__(self, prompt: str, *, tools: tuple[str, ...] | None, description: str) -> Awaitable[ToolOutcome]: ...


@dataclass(slots=True)
class ToolContext:
    """What a tool works with. One a session; `call_id` is that of the call being run."""

    root: Path
    session: SessionDoor
    graph: TaskGraph
    fence: "Fence"
    seen: "ReadTracker"
    processes: "Processes"
    sandbox: "Sandbox"
    skills: "Skills"
    output: Callable[[str, str], None]
    """Called with the call's id and what it printed, while it runs."""
    subagent: SubagentRunner | None = None
    rules_of: Callable[[str], str] = lambda _: ""
    """What the project says to whoever touches this file, when it has not been said yet."""
    mask: Masker = mask
    """Takes the secrets out of what is read, before it is cut."""
    owner: str = "agent"
    """In whose name tasks are claimed."""
    call_id: str = ""
    extras: dict[str, Any] = field(default_factory=dict)
    """What tools of other rooms need, by name (`memories`)."""


class Tool(ABC, Generic[Input]):
    """Base of all tools."""

    name: str
    description: str
    input: type[Struct]
    """A Struct with `forbid_unknown_fields`."""
    effect: Effect = "look"
    longest: int = 0
    """Characters that one text of its input may have; 0 when it takes texts of any length."""
    parallel: bool = False
    """Whether it may run beside other calls of the same answer."""

    @abstractmethod
    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        """Do it."""

    def subject(self, given: Input) -> str:
        """What the call is about, for rules and for people: the command, the path."""
        return ""

    def paths(self, given: Input) -> tuple[str, ...]:
        """Files that the call is about, as they were written in it."""
        return ()

    def preview(self, given: Input, context: ToolContext) -> str:
        """What would change, shown when the user is asked."""
        return ""
