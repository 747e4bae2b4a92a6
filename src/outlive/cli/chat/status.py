"""The status line: the parts that the user wants, as far as they fit."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text

from outlive.agent.runtime import Gauge, Runtime
from outlive.cli.chat.words import counted, dollars, short_session, tokens
from outlive.config.git import branch
from outlive.config.settings import DEFAULT_STATUS
from outlive.events import UserSaid
from outlive.origin import user_words
from outlive.printable import one_line

GAUGE_CELLS = 12  # columns; the status line has to fit one row together with the following
MAX_TITLE_CHARS = 60  # a title is the user's first message, of any length
MAX_BRANCH_CHARS = 40  # a branch may have a long name


class StatusFacts(Struct, frozen=True):
    """The values of the status line, read from the agent on events, not on every redraw."""

    model: str
    gauge: Gauge
    dollars: float
    priced: bool
    tasks: int
    mode: str
    session: str
    folder: str = ""
    branch: str = ""
    title: str = ""
    """The beginning of the user's first words."""


def facts(agent: Runtime, tasks: int) -> StatusFacts:
    spent = agent.spending
    return StatusFacts(
        model=one_line(f"{agent.parts.model.name} {agent.effort}"),
        gauge=agent.gauge,
        dollars=spent.dollars,
        priced=spent.requests > spent.unpriced,
        tasks=tasks,
        mode=agent.mode,
        session=one_line(short_session(agent.session.id)),
        folder=one_line(agent.parts.root.name),
        branch=one_line(branch(agent.parts.root), MAX_BRANCH_CHARS),
        title=_title(agent),
    )


def _title(agent: Runtime) -> str:
    said = (user_words(event.blocks) for event in agent.session.events if isinstance(event, UserSaid))
    return one_line(next(filter(None, said), ""), MAX_TITLE_CHARS)


def bar(gauge: Gauge, cells: int = GAUGE_CELLS) -> str:
    """Draw `▕██░░|░░▏`: used tokens and where the next pass engages; a huge window is cropped to twice that."""
    full = min(gauge.window, 2 * gauge.next_pass)
    if full <= 0:
        return ""
    filled = min(cells, round(cells * gauge.used / full))
    mark = min(cells - 1, round(cells * gauge.next_pass / full))
    drawn = ["█" if cell < filled else "░" for cell in range(cells)]
    drawn[mark] = "|" if mark >= filled else "█"
    return f"▕{''.join(drawn)}▏"


def line(known: StatusFacts, width: int, parts: Sequence[str] = DEFAULT_STATUS) -> Text:
    """Render the named parts that fit, dropping the least important ones first."""
    shown = [part for part in map(_part(known), parts) if part[1]]
    while len(shown) > 1 and cell_len(_joined(shown).plain) > width:
        shown.remove(max(shown))
    return _joined(shown)


def _part(known: StatusFacts) -> Callable[[str], tuple[int, str, str]]:
    """Makes (rank, text, style) of the name of a part; the highest rank is dropped first."""
    gauge = known.gauge
    parts = {
        "window": (0, f"{tokens(gauge.used)} / {tokens(gauge.window)}", ""),
        "mode": (1, known.mode, "warn" if known.mode == "bypass" else "accent" if known.mode == "plan" else ""),
        "model": (2, known.model.rpartition(":")[2] or known.model, ""),
        "cost": (3, dollars(known.dollars) if known.priced else "", ""),
        "bar": (4, bar(gauge), ""),
        "tasks": (5, counted(known.tasks, "task") if known.tasks else "", ""),
        "next_pass": (6, f"next pass at {tokens(gauge.next_pass)}", "quiet"),
        "branch": (7, known.branch, "quiet"),
        "folder": (8, known.folder, "quiet"),
        "session": (9, known.session, "quiet"),
    }
    return parts.__getitem__


def _joined(parts: list[tuple[int, str, str]]) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis", style="quiet")
    for number, (_, words, style) in enumerate(parts):
        about_gauge = words.startswith(("▕", "next pass"))
        text.append((" " if about_gauge else " · ") if number else "")
        text.append(words, style or "quiet")
    return text
