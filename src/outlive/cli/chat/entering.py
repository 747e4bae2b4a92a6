"""What a line of input is: a slash command, a shell command after `!`, or words for the agent."""

from outlive.cli.chat.slash import is_command, obey
from outlive.cli.chat.talk import Talk


def is_prompt(words: str) -> bool:
    """Whether the words are for the agent."""
    return not is_command(words)


async def enter(talk: Talk, words: str) -> None:
    """Do what the user entered."""
    if is_command(words):
        await obey(talk, words)
    else:
        talk.say(words)
