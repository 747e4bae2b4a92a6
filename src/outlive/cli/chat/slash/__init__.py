"""Slash commands. `obey` runs one.

base.py     what a command is, and the list of them
look.py     those that only look
change.py   those that change something
back.py     those that go back
"""

from difflib import get_close_matches

from outlive.cli.chat.render.item import Item
from outlive.cli.chat.slash import back, change, look
from outlive.cli.chat.slash.base import ALIASES, COMMANDS
from outlive.cli.chat.talk import Talk
from outlive.errors import OutliveError

__all__ = ["COMMANDS", "back", "change", "is_command", "look", "obey"]
_ORDER = (
    "help tasks plan directives context compact receipts recall undo edit rewind expand mode model add-dir theme mcp "
    "cost memory remember new renew sessions resume fork export continue quit"
)
for _name in _ORDER.split():
    COMMANDS[_name] = COMMANDS.pop(_name)


async def obey(talk: Talk, line: str) -> None:
    """Run `/name arguments` and show the result or the error."""
    name, _, words = line.strip().removeprefix("/").partition(" ")
    found = COMMANDS.get(ALIASES.get(name, name))
    if found is None and talk.say_custom(name, line.strip()):
        return
    if found is None:
        names = [*COMMANDS, *talk.custom_commands()]
        starts = [known for known in names if name and known.startswith(name)]
        close = starts or get_close_matches(name, names, n=1, cutoff=0.5)
        talk.complain(
            f"there is no /{name}; " + (f"did you mean /{close[0]}?" if close else "/help lists the commands")
        )
        return
    if found.resting and talk.working:
        talk.complain(f"/{name} has to wait until the agent rests; Esc stops it")
        return
    try:
        shown = await found.run(talk, words.strip())
    except (OutliveError, OSError) as error:
        talk.complain(str(error))
        return
    if shown is not None:
        talk.show(Item("block", shown))
    if not talk.leaving:
        talk.refresh()


def is_command(words: str) -> bool:
    """Whether the text is `/name …` and not a file path."""
    first = words.split()[0]
    return words.startswith("/") and "/" not in first[1:] and len(first) > 1
