"""`outlive demo replay`: a session far larger than its window, and what is left of it at the end."""

import click

from outlive.cli.demo.telling import check
from outlive.cli.replay.timeline import render
from outlive.context.policy import RICH
from outlive.messages import Message, Text, ToolCall, ToolResult
from outlive.replay.player import Replay
from outlive.replay.recording import Recording, timed
from outlive.replay.report import Account
from outlive.stores.logs.protocol import LogStore

WINDOW = 12_000  # holds a small part of the files, so that all rungs engage
FILE_COUNT = 120  # enough calls that the early ones are long out of the view
ASKED = "Find out why uploads time out. Never touch anything under vendor/."
NEEDLE = "RETRY_LIMIT_SECONDS = 47"
NEEDLE_STEP = 3
"""The step that reads the decisive line, long before it is needed."""


def recording() -> Recording:
    """Make up a session that reads many files; one line of an early file matters at the end."""
    messages = [Message("user", (Text(ASKED),))]
    for number in range(FILE_COUNT):
        call = ToolCall(f"call_{number}", "read_file", {"path": path(number)})
        messages.append(Message("assistant", (Text(f"Next: {path(number)}."), call)))
        messages.append(Message("user", (ToolResult(call.id, source(number)),)))
        if number == NEEDLE_STEP:
            call = ToolCall("grep", "grep", {"pattern": "RETRY_LIMIT_SECONDS", "path": "src"})
            messages.append(Message("assistant", (Text("Who else uses that limit?"), call)))
            messages.append(Message("user", (ToolResult(call.id, f"{path(number)}:21:{NEEDLE}"),)))
    edit = ToolCall(
        "edit", "edit_file", {"path": path(NEEDLE_STEP), "old": NEEDLE, "new": NEEDLE.replace("47", "470")}
    )
    messages.append(Message("assistant", (Text("That limit is shorter than an upload takes."), edit)))
    return Recording(
        id="demo-session", format="demo", system="Be brief.", messages=tuple(timed((m, None) for m in messages))
    )


def path(number: int) -> str:
    return f"src/uploads/part_{number:02d}.py"


def source(number: int) -> str:
    rows = [f"def handle_{number}_{row}(request):  # {'pad ' * (row % 4)}" for row in range(40)]
    if number == NEEDLE_STEP:
        rows.insert(20, NEEDLE)
    return "\n".join(f"{row + 1}\t{text}" for row, text in enumerate(rows))


def tell(store: LogStore) -> None:
    """Play the session, and check that everything needed is in the last request or behind a handle."""
    played = Replay(recording(), window=WINDOW, policy=RICH)
    account = Account(played)
    last = ""
    for step in played.steps():
        account.take(step)
        if step.request is not None:
            blocks = [block for message in step.request.messages for block in message.blocks]
            texts = [block.text for block in blocks if isinstance(block, (Text, ToolResult))]
            last = "\n".join(texts)
    played.save(store)
    report = account.report(window=WINDOW, policy=RICH.name)
    click.echo(render(report, width=84, passes=False) + "\n")
    first = next(
        piece for unit in played.session.engine.history.units for piece in unit.pieces if piece.kind == "result"
    )
    recalled = "".join(played.session.engine.recall(page).text for page in first.pages)
    check(
        {
            "the request shows what the user asked, word for word": ASKED in last,
            "the request shows the standing instruction": "Never touch anything under vendor/." in last,
            f"the request shows {NEEDLE!r}, read {FILE_COUNT - NEEDLE_STEP} calls earlier": NEEDLE in last,
            f"@h{first.pages[0]} gives back the first file, byte for byte": first.text in recalled,
        }
    )
