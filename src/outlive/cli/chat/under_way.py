"""What is under way, as lines above the input: the end of the answer, running calls, what the agent waits for."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from outlive.cli.chat import cards
from outlive.cli.chat.clean import one_line
from outlive.cli.chat.markdown import Prose
from outlive.cli.chat.paint import Painter
from outlive.cli.chat.transcript import Transcript, last_words
from outlive.cli.chat.words import cut, elapsed

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAME = 0.12
"""Seconds a picture of the spinner stays."""
QUEUED = 3


def lines(seen: Transcript, painter: Painter, rows: int, *, now: float, since: float) -> list[str]:
    """At most `rows` lines; what does not fit is left out at the top, where it came first."""
    spin = SPINNER[int(now / FRAME) % len(SPINNER)]
    answer = painter.lines(Prose(seen.flow.live(rows))) if seen.flow.tail.strip() else []
    if answer and not seen.flow.tight:
        answer.insert(0, "")
    below = painter.lines(
        Group(*_calls(seen, painter.width, spin, now), _doing(seen, painter.width, spin, now - since))
    )
    below = ["", *below]
    return [*answer[-max(1, rows - len(below)) :], *below][-rows:]


def _calls(seen: Transcript, width: int, spin: str, now: float) -> list[RenderableType]:
    shown: list[RenderableType] = []
    for one in seen.running.values():
        shown.extend(cards.running(one.call, width, spin, now - one.since, one.output))
    if seen.running:
        shown.extend(cards.headline(call, width, "○", "quiet") for call in seen.pending[:4])
    return shown


def _doing(seen: Transcript, width: int, spin: str, seconds: float) -> RenderableType:
    """One line that says what goes on when no card does."""
    if seen.running:
        return Group()
    if seen.waiting:
        return Text(cut(f"↻ {seen.waiting}", width), "warn")
    if seen.arriving:
        what = f"writing a call to {seen.arriving}"
    elif seen.thinking:
        what = f"thinking: {last_words(seen.thinking, max(10, width - 30))}"
    else:
        what = "working"
    return Text.assemble(
        (f"{spin} ", "accent"), (cut(f"{what} · {elapsed(seconds)} · Ctrl-C stops", width - 2), "quiet")
    )


def queued(words: Sequence[str], painter: Painter) -> list[str]:
    """What the user said meanwhile and the agent has not heard yet."""
    if not words:
        return []
    shown = [Text(cut(f"queued > {one_line(one)}", painter.width), "quiet") for one in words[:QUEUED]]
    if len(words) > QUEUED:
        shown.append(Text(f"and {len(words) - QUEUED} more", "quiet"))
    return painter.lines(Group(*shown))
