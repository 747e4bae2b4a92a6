"""Asking the user whether a call may run. A face answers; without a face the answer is no."""

from typing import Literal, Protocol

from msgspec import Struct

from outlive.tools.files.diff import FileChange

Mode = Literal["ask", "accept-edits", "plan", "bypass"]
MODES: tuple[Mode, ...] = ("ask", "accept-edits", "plan", "bypass")
MODE_WORDS: dict[Mode, str] = {
    "ask": "asks before it edits or runs",
    "accept-edits": "edits without asking, asks before it runs",
    "plan": "looks and plans, changes nothing",
    "bypass": "asks nothing",
}


class Question(Struct, frozen=True):
    """The tool, its subject, what would change, and what "always" would cover."""

    tool: str
    subject: str
    preview: str = ""
    always: tuple[str, ...] = ()
    """The rules that "always" would add, such as `bash(git status*)`. Empty: "always" is not offered."""
    yes: str = "yes"
    no: str = ""
    """Labels of the answers if the question is not about a call; then "no" needs no reason."""
    call_id: str = ""
    change: FileChange | None = None
    """For faces that draw diffs of their own; `preview` says the same."""


class PermissionAnswer(Struct, frozen=True):
    """The user's answer; `why` goes to the model."""

    choice: Literal["yes", "always", "no"]
    why: str = ""


class Asker(Protocol):
    """A face that can ask."""

    async def __call__(self, question: Question) -> PermissionAnswer: ...
