"""What a line of input is: a slash command, a shell command after `!`, or a prompt for the agent."""

from typing import Literal

from outlive.cli.chat.slash import is_command, obey
from outlive.cli.chat.talk import Talk
from outlive.messages import Block

EntryKind = Literal["prompt", "slash", "shell"]


def kind_of(shown: str) -> EntryKind:
    """The kind of an input, by what the user sees of it: the text of a folded paste is never a command."""
    if shown.startswith("!"):
        return "shell"
    return "slash" if shown and is_command(shown) else "prompt"


async def enter(talk: Talk, words: str, kind: EntryKind, images: tuple[Block, ...] = ()) -> None:
    """Do what the user entered. `images` go with a prompt."""
    if kind == "slash":
        await obey(talk, words)
    elif kind == "shell":
        talk.shell(words)
    else:
        talk.say(words, images)
