"""Asking the user whether a call may run. A face answers; without a face the answer is no."""

import getpass
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from outlive.tools.files.diff import FileChange

PermissionMode = Literal["ask", "accept-edits", "plan", "bypass"]
"""What runs without asking: `ask`, `accept-edits`, `plan` or `bypass`."""
MODES: tuple[PermissionMode, ...] = ("ask", "accept-edits", "plan", "bypass")
MODE_WORDS: dict[PermissionMode, str] = {
    "ask": "asks before it edits or runs",
    "accept-edits": "edits without asking, asks before it runs",
    "plan": "looks and plans, changes nothing",
    "bypass": "asks nothing",
}


class PermissionQuestion(Struct, frozen=True):
    """A request for permission: the tool, its subject, what would change, and what "always" would cover."""

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
    """The user's answer to a permission question; `why` goes to the model."""

    choice: Literal["yes", "always", "no"]
    why: str = ""
    by: str = ""
    """Who answered, and from where. The answer is logged if this is set."""


class Asker(Protocol):
    """Asks the user for permission: an async function from a question to an answer."""

    async def __call__(self, question: PermissionQuestion) -> PermissionAnswer: ...


def signed(asker: Asker, where: str) -> Asker:
    """An asker whose answers name the user of this process and `where` the answer came from."""

    async def ask(question: PermissionQuestion) -> PermissionAnswer:
        answer = await asker(question)
        return answer if answer.by else replace(answer, by=f"{user_name()} {where}")

    return ask


def user_name() -> str:
    """The name of the user that this process runs as."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without an entry in the system's list
        return "user"
