"""What a line of input is: a slash command, a shell command after `!`, or a prompt for the agent."""

from typing import Literal

from outlive.cli.chat.slash import COMMANDS, is_command, obey
from outlive.cli.chat.talk import Talk
from outlive.messages import Block

EntryKind = Literal["prompt", "slash", "shell"]


def kind_of(shown: str) -> EntryKind:
    """The kind of an input, by what the user sees of it: the text of a folded paste is never a command."""
    if shown.startswith("!"):
        return "shell"
    return "slash" if shown and is_command(shown) else "prompt"


def is_said(talk: Talk, shown: str, kind: EntryKind) -> bool:
    """Whether the input becomes words of the user in the conversation: a prompt, or a command that the user wrote."""
    if kind != "slash":
        return kind == "prompt"
    name = shown.split()[0].removeprefix("/")
    return name not in COMMANDS and name in talk.custom_commands()


async def enter(talk: Talk, words: str, kind: EntryKind, images: tuple[Block, ...] = ()) -> None:
    """Do what the user entered. `images` go with a prompt."""
    if kind == "slash":
        await obey(talk, words)
    elif kind == "shell":
        talk.shell(words)
    else:
        talk.say(words, images)
