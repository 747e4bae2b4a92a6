"""The charts of the page, as inline SVG. Colours come from the page's style sheet, so light and dark both work."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate

from outlive.replay.report import KINDS, ReplayReport

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1000, 56, 16, 34, 30
TALL, LOW = 360, 200


def size_chart(report: ReplayReport) -> str:
    """Tokens of each request by kind, the window as a line, the passes as marks."""
    plot = Plot(len(report.turns), max(report.window, report.largest), TALL)
    parts = [*plot.grid(), *_areas(report, plot)]
    y = plot.y(report.window)
    parts.append(f'<line class="window" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>')
    parts.append(f'<text class="window-label" x="{LEFT + 4}" y="{y - 5}">window {report.window:,}</text>')
    at = {turn.turn: number for number, turn in enumerate(report.turns)}
    for made in report.passes:
        if made.turn in at:
            x = plot.x(at[made.turn])
            parts.append(f'<line class="pass" x1="{x}" x2="{x}" y1="{TOP - 12}" y2="{plot.floor}"/>')
            mark = f"M{x - 4} {TOP - 20}h8l-4 7z"
            tip = f"pass before message {made.turn}: {made.before:,} → {made.after:,}"
            parts.append(f'<path class="mark" d="{mark}"><title>{escape(tip)}</title></path>')
    parts.append(f'<text class="first" x="{LEFT}" y="{TALL - 9}">message {report.turns[0].turn}</text>')
    parts.append(f'<text class="last" x="{WIDTH - RIGHT}" y="{TALL - 9}">message {report.turns[-1].turn}</text>')
    parts.append(f'<line class="cursor" y1="{TOP}" y2="{plot.floor}"/>')
    return plot.svg("sizes", "Size of each request by kind, in tokens", parts)


def cost_chart(report: ReplayReport) -> str:
    """Cumulative cost at each call, with passes and without."""
    ours = list(accumulate(turn.price.cost for turn in report.turns))
    plain = list(accumulate(turn.plain_price.cost for turn in report.turns))
    plot = Plot(len(report.turns), max(ours[-1], plain[-1]), LOW)
    parts = plot.grid()
    for name, values in (("plain", plain), ("ours", ours)):
        points = " ".join(f"{plot.x(number + 0.5)},{plot.y(value)}" for number, value in enumerate(values))
        parts.append(f'<polyline class="line {name}" points="{points}"/>')
    for name, value, label in (("plain", plain[-1], "never compacting"), ("ours", ours[-1], "with passes")):
        y = max(plot.y(value) - 7, 12)
        parts.append(f'<text class="end {name}" x="{WIDTH - RIGHT}" y="{y}">{label} {short(value)}</text>')
    return plot.svg("costs", "Cost so far, in uncached input tokens", parts)


class Plot:
    def __init__(self, count: int, top: float, height: int) -> None:
        self.count = max(count, 1)
        self.top = max(top * 1.04, 1.0)
        self.height = height
        self.floor = height - BOTTOM

    def x(self, number: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * number / self.count, 1)

    def y(self, value: float) -> float:
        return round(self.floor - (self.floor - TOP) * value / self.top, 1)

    def grid(self) -> list[str]:
        rows = []
        for value in _ticks(self.top):
            y = self.y(value)
            rows.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>')
            rows.append(f'<text class="tick" x="{LEFT - 8}" y="{y + 4}">{short(value)}</text>')
        return rows

    def svg(self, name: str, label: str, parts: Iterable[str]) -> str:
        head = f'<svg id="{name}" viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{escape(label)}">'
        return head + "".join(parts) + "</svg>"


def _areas(report: ReplayReport, plot: Plot) -> Iterator[str]:
    """One stepped area a kind, stacked in the order of a request."""
    below = [0.0] * len(report.turns)
    for kind in KINDS:
        above = [base + turn.kinds.get(kind, 0) for base, turn in zip(below, report.turns, strict=True)]
        if above != below:
            path = _steps(plot, above) + _steps(plot, below, back=True)
            yield f'<path class="area {kind}" d="M{path}z"/>'
        below = above


def _steps(plot: Plot, values: Sequence[float], *, back: bool = False) -> str:
    corners = []
    for number, value in enumerate(values):
        y = plot.y(value)
        corners += [f"{plot.x(number)} {y}", f"{plot.x(number + 1)} {y}"]
    return ("L" if back else "") + "L".join(reversed(corners) if back else corners)


def _ticks(top: float) -> Iterator[float]:
    """Four to six round numbers."""
    size = 1.0
    while size * 10 < top:
        size *= 10
    step = next(size * part / 10 * 2 for part in (1, 2, 2.5, 5, 10) if top / (size * part / 10 * 2) <= 6)
    value = 0.0
    while value <= top:
        yield value
        value += step


def short(tokens: float) -> str:
    """Format 12,345 as 12.3k."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if tokens >= size:
            return f"{tokens / size:.3g}{unit}" if tokens < 1000 * size else f"{tokens / size:.0f}{unit}"
    return f"{tokens:.0f}"
