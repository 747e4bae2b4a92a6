"""Work in progress, shown above the input: the end of the answer, running calls, what the agent waits for."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from outlive.cli.chat.render import cards
from outlive.cli.chat.render.markdown import Prose
from outlive.cli.chat.render.paint import Painter
from outlive.cli.chat.render.transcript import Transcript, last_words
from outlive.cli.chat.words import cut, elapsed
from outlive.messages import ToolCall
from outlive.printable import one_line
from outlive.tools.permissions.asking import PermissionQuestion

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAME_SECONDS = 0.12
"""Seconds between two frames of the spinner."""
MAX_QUEUED_SHOWN = 3  # the rest is counted
MAX_CALLS_SHOWN = 4  # of a batch that is still being written


def lines(
    seen: Transcript,
    painter: Painter,
    rows: int,
    *,
    now: float,
    since: float,
    asked: PermissionQuestion | None = None,
) -> list[str]:
    """Render at most `rows` lines, dropping the oldest. A call that the user is `asked` about is left out."""
    spin = SPINNER[int(now / FRAME_SECONDS) % len(SPINNER)]
    answer = painter.lines(Prose(seen.flow.live(rows))) if seen.flow.tail.strip() else []
    if answer and not seen.flow.tight:
        answer.insert(0, "")
    calls = [running for running in seen.running.values() if asked is None or not _is_about(asked, running.call)]
    shown: list[RenderableType] = []
    for running in calls:
        shown.extend(cards.running(running.call, painter.width, spin, now - running.since, running.output))
    if shown:
        shown.extend(cards.headline(call, painter.width, "○", "quiet") for call in seen.pending[:MAX_CALLS_SHOWN])
    if not seen.running:
        shown.append(_doing(seen, painter.width, spin, now - since))
    below = painter.lines(Group(*shown))
    below = ["", *below] if below else []
    return [*answer[-max(1, rows - len(below)) :], *below][-rows:]


def _is_about(question: PermissionQuestion, call: ToolCall) -> bool:
    return question.tool == call.name and question.subject in map(str, call.input.values())


def _doing(seen: Transcript, width: int, spin: str, seconds: float) -> RenderableType:
    """Render the one line shown while no call runs."""
    if seen.waiting:
        return Text(cut(f"↻ {seen.waiting}", width), "warn")
    if seen.arriving:
        what = f"writing a call to {seen.arriving}"
    elif seen.thinking:
        what = f"thinking: {last_words(seen.thinking, max(10, width - 30))}"
    else:
        what = "working"
    parts = [what, elapsed(seconds) if seconds >= 1 else "", "Esc stops"]
    return Text.assemble((f"{spin} ", "accent"), (cut(" · ".join(filter(None, parts)), width - 2), "quiet"))


def queued(words: Sequence[str], painter: Painter) -> list[str]:
    """Render words of the user that the agent has not received yet."""
    if not words:
        return []
    shown = [Text(cut(f"queued > {one_line(text)}", painter.width), "quiet") for text in words[:MAX_QUEUED_SHOWN]]
    if len(words) > MAX_QUEUED_SHOWN:
        shown.append(Text(f"and {len(words) - MAX_QUEUED_SHOWN} more", "quiet"))
    return painter.lines(Group(*shown))
