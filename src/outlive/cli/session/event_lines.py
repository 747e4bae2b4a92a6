"""Events of a log as lines of text."""

import click

from outlive.events import (
    AssistantSaid,
    Compacted,
    Event,
    Forked,
    Noted,
    PermissionAnswered,
    Renewed,
    StateShown,
    ToolFinished,
    Undone,
    Unknown,
    UserSaid,
)
from outlive.messages import call_label, plain_text, tool_calls
from outlive.origin import user_words
from outlive.printable import one_line

LINE_COLUMNS = 110  # an event a line, on the usual wide terminal
TELLING = (UserSaid, AssistantSaid, ToolFinished, Compacted, Noted, Renewed, PermissionAnswered, Undone, Forked)
"""Events that say what was said and done; the rest is bookkeeping."""


def event_line(event: Event) -> str:
    """What an event says, in one line."""
    match event:
        case UserSaid():
            who = "user" if user_words(event.blocks) else "harness"
            words = user_words(event.blocks) or plain_text(event.blocks)
            return click.style(f"{who}: ", fg="yellow") + one_line(words, LINE_COLUMNS)
        case AssistantSaid():
            calls = ", ".join(call_label(call, 50) for call in tool_calls(event.blocks))
            words = " → ".join(filter(None, [plain_text(event.blocks), calls]))
            return click.style("assistant: ", fg="cyan") + one_line(words, LINE_COLUMNS)
        case ToolFinished():
            mark = click.style(" failed", fg="red") if event.is_error else ""
            return click.style(f"result{mark} {len(event.text):,} characters: ", dim=True) + one_line(
                event.text, LINE_COLUMNS
            )
        case Compacted():
            receipt = event.receipt
            return click.style(f"pass: {receipt.reason}, {receipt.before:,} → {receipt.after:,}", fg="magenta")
        case Noted() | Renewed():
            return "note: " + one_line(event.text if isinstance(event, Noted) else event.handoff, LINE_COLUMNS)
        case PermissionAnswered():
            return f"permission: {event.choice} to {one_line(event.tool)}, by {one_line(event.by, LINE_COLUMNS)}"
        case StateShown():
            return click.style("state: ", dim=True) + one_line(event.text.partition("\n")[2], LINE_COLUMNS)
        case Undone():
            return f"undone: {'pass' if event.what == 'pass' else 'all after event'} {event.target}"
        case Forked():
            return f"forked from {event.session} at event {event.at}"
        case Unknown():
            return click.style("written by a newer outlive", dim=True)
        case _:
            return click.style(type(event).__name__, dim=True)
