"""Asking the user whether a call may run. A face answers; without a face the answer is no."""

from typing import Literal, Protocol

from msgspec import Struct

Mode = Literal["ask", "accept-edits", "plan", "bypass"]
MODES: tuple[Mode, ...] = ("ask", "accept-edits", "plan", "bypass")


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


class PermissionAnswer(Struct, frozen=True):
    """The user's answer; `why` goes to the model."""

    choice: Literal["yes", "always", "no"]
    why: str = ""


class Asker(Protocol):
    """A face that can ask."""

    async def __call__(self, question: Question) -> PermissionAnswer: ...
