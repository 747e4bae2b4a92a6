"""Commands that go back: undo, edit, rewind."""

from rich.console import RenderableType
from rich.text import Text

from outlive.agent.rewind import RewindPoint, prompts
from outlive.cli.chat import choices
from outlive.cli.chat.slash.base import WrongUsage, command
from outlive.cli.chat.talk import Talk
from outlive.cli.session.rewind import listed, outcome, told

PARTS = ("", "files", "conversation")


@command("[EVENT]", "take back the last pass, or everything after an event", resting=True)
async def undo(talk: Talk, words: str) -> RenderableType:
    if words and not words.isdigit():
        raise WrongUsage(f"/undo takes the number of an event, not {words!r}; /receipts shows those of passes")
    session = talk.agent.session
    if not words and not session.can_undo_pass:
        raise WrongUsage(
            "there is no pass to take back. /undo is about the conversation (/undo EVENT takes back all after an "
            "event); /rewind goes back with the files"
        )
    done = session.undo_to(int(words)) if words else session.undo_pass()
    what = f"everything after event {done.target}" if words else f"the pass of event {done.target}"
    return Text(f"took back {what}", "quiet")


@command("", "change an earlier message and send it again: the conversation goes back to before it", resting=True)
async def edit(talk: Talk, words: str) -> RenderableType | None:
    if talk.pick is None:
        raise WrongUsage("/edit needs somebody who chooses; /rewind EVENT conversation does the same")
    point = await _picked(talk, "message to change")
    return await _rewound(talk, point.event, "conversation") if point else None


@command("[EVENT [files|conversation]]", "go back to before a message, in conversation and files", resting=True)
async def rewind(talk: Talk, words: str) -> RenderableType | None:
    if words == "revert":
        return Text("\n".join(told(await talk.agent.revert_restore())), "quiet")
    event, _, only = words.partition(" ")
    if not words and talk.pick is not None:
        point = await _picked(talk, "go back to before")
        row = await talk.pick("what goes back", choices.rewind_rows(point)) if point else None
        return await _rewound(talk, point.event, row.value) if point and row else None
    if not words:
        points = prompts(talk.agent.session)
        hint = "\n/rewind EVENT goes back to before that message; /rewind revert puts files back"
        return Text("\n".join(map(listed, points)) + hint if points else "nothing was said yet", "quiet")
    if not event.isdecimal() or only not in PARTS:
        raise WrongUsage("/rewind takes the number of a message, and maybe files or conversation: /rewind 12 files")
    return await _rewound(talk, int(event), only)


async def _picked(talk: Talk, title: str) -> RewindPoint | None:
    points = prompts(talk.agent.session)
    if not points or talk.pick is None:
        raise WrongUsage("nothing was said yet in this session")
    row = await talk.pick(title, choices.prompt_rows(points))
    return row.value if row else None


async def _rewound(talk: Talk, event: int, only: str) -> RenderableType:
    """Go back, and put the message into the input unless only files go back."""
    rewound = await talk.agent.rewind(event, conversation=only != "files", files=only != "conversation")
    if rewound.conversation:
        talk.give_back(rewound.point.text)
    return Text("\n".join(outcome(rewound)), "quiet")
