"""What a slash command is, and the list of them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from rich.console import RenderableType

from outlive.cli.chat.talk import Talk
from outlive.errors import OutliveError

Run = Callable[[Talk, str], Awaitable[RenderableType | None]]


class WrongUsage(OutliveError):
    """A slash command was given something it cannot use."""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command `/name arguments`; `about` is its line in /help and in the documentation."""

    name: str
    arguments: str
    about: str
    run: Run
    resting: bool
    """Only while the agent rests."""

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()


COMMANDS: dict[str, SlashCommand] = {}
ALIASES = {"clear": "new", "exit": "quit"}
"""Names that other agents use for the same commands."""


def command(arguments: str, about: str, *, resting: bool = False) -> Callable[[Run], Run]:
    """Register a function as the command of the same name."""

    def register(run: Run) -> Run:
        name = getattr(run, "__name__", "").strip("_").replace("_", "-")
        COMMANDS[name] = SlashCommand(name, arguments, about, run, resting)
        return run

    return register
