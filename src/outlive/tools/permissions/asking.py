"""Asking the user whether a call may run. A face answers; without a face the answer is no."""

from typing import Literal, Protocol

from msgspec import Struct

Mode = Literal["ask", "accept-edits", "plan", "bypass"]
MODES: tuple[Mode, ...] = ("ask", "accept-edits", "plan", "bypass")


class Question(Struct, frozen=True):
    """What is asked: the tool, what it is about, what would change, and what "always" would cover."""

    tool: str
    subject: str
    preview: str = ""
    always: tuple[str, ...] = ()
    """The rules that "always" would remember, as people write them: `bash(git status*)`. None: only this once."""
    yes: str = "yes"
    no: str = ""
    """What the answers mean, where it is not about a call; then a "no" needs no reason."""


class PermissionAnswer(Struct, frozen=True):
    """What the user said; `why` goes to the model."""

    choice: Literal["yes", "always", "no"]
    why: str = ""


class Asker(Protocol):
    """A face that can ask."""

    async def __call__(self, question: Question) -> PermissionAnswer: ...
