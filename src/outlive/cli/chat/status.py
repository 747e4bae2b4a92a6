"""The status line: model, use of the window and the next pass, cost, tasks, mode, session."""

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text

from outlive.agent.runtime import Gauge, Runtime
from outlive.cli.chat.words import counted, dollars, short_session, tokens
from outlive.printable import one_line

GAUGE_CELLS = 12


class StatusFacts(Struct, frozen=True):
    """The values of the status line, read from the agent on events, not on every redraw."""

    model: str
    gauge: Gauge
    dollars: float
    priced: bool
    tasks: int
    mode: str
    session: str


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
    )


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


def line(known: StatusFacts, width: int) -> Text:
    """Render what fits, dropping the least important parts first."""
    gauge = known.gauge
    name = known.model.rpartition(":")[2] or known.model
    used = f"{tokens(gauge.used)} / {tokens(gauge.window)}"
    parts: list[tuple[int, str, str]] = [
        (2, name, ""),
        (0, used, ""),
        (4, bar(gauge), ""),
        (6, f"next pass at {tokens(gauge.next_pass)}", "quiet"),
        (3, dollars(known.dollars) if known.priced else "", ""),
        (5, counted(known.tasks, "task") if known.tasks else "", ""),
        (1, known.mode, "warn" if known.mode == "bypass" else "accent" if known.mode == "plan" else ""),
        (7, known.session, "quiet"),
    ]
    shown = [part for part in parts if part[1]]
    while len(shown) > 1 and cell_len(_joined(shown).plain) > width:
        shown.remove(max(shown))
    return _joined(shown)


def _joined(parts: list[tuple[int, str, str]]) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis", style="quiet")
    for number, (_, words, style) in enumerate(parts):
        about_gauge = words.startswith(("▕", "next pass"))
        text.append((" " if about_gauge else " · ") if number else "")
        text.append(words, style or "quiet")
    return text
