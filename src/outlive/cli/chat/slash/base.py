"""What a slash command is, and how one is found."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from difflib import get_close_matches

from rich.console import RenderableType

from outlive.cli.chat.talk import Talk
from outlive.errors import OutliveError

Run = Callable[[Talk, str], Awaitable[RenderableType | None]]


class WrongUsage(OutliveError):
    """A slash command was given something it cannot use."""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """`/name arguments`: one line about it, from which /help and the documentation are made."""

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
"""What the same things are called elsewhere."""


def command(arguments: str, about: str, *, resting: bool = False) -> Callable[[Run], Run]:
    """Make a command of a function; its name is that of the function."""

    def register(run: Run) -> Run:
        name = getattr(run, "__name__", "").strip("_")
        COMMANDS[name] = SlashCommand(name, arguments, about, run, resting)
        return run

    return register


def nearest(name: str) -> str:
    """The command that was probably meant, or nothing."""
    starts = [known for known in COMMANDS if name and known.startswith(name)]
    close = starts or get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
    return close[0] if close else ""
