"""The report in the terminal: context size by kind over time, the passes, and the costs."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from outlive.cli.replay.chart import short
from outlive.cli.replay.misses import cache_lines
from outlive.replay.report import KINDS, Pass, ReplayReport, ReplayTurn

CHART_ROWS = 14  # with legend and title, a terminal of 24 rows
LEFT_MARGIN = 8  # columns of the axis labels
_LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "system": ("·", {"fg": "bright_black"}),
    "digest": ("▒", {"fg": "magenta"}),
    "user": ("U", {"fg": "yellow"}),
    "assistant": ("a", {"fg": "cyan"}),
    "calls": ("c", {"fg": "blue"}),
    "results": ("█", {"fg": "green"}),
    "shrunk": ("░", {"fg": "green"}),
    "state": ("s", {"fg": "red"}),
}


def render(report: ReplayReport, width: int = 100, *, passes: bool = True) -> str:
    rows = [*_title(report), "", *_chart(report, width), "", *_sums(report)]
    if report.passes and passes:
        rows += ["", *_passes(report.passes, width)]
    return "\n".join(rows)


def summary(report: ReplayReport) -> str:
    return "\n".join([*_title(report), *_sums(report)])


def _title(report: ReplayReport) -> Iterator[str]:
    name = click.style(report.session, bold=True)
    yield f"{name}  {report.format}, {report.messages} messages, {len(report.turns)} model calls"
    yield click.style(f"window {report.window:,} tokens, policy {report.policy}", dim=True)


def _chart(report: ReplayReport, width: int) -> Iterator[str]:
    columns = list(_buckets(report.turns, max(10, width - LEFT_MARGIN - 2)))
    if not columns:
        return
    top = max(report.window, report.largest)
    marks = "".join("▼" if any(turn.passes for turn in column) else " " for column in columns)
    if marks.strip():
        yield f"{'passes':>{LEFT_MARGIN - 1}} {click.style(marks, fg='red', bold=True)}"
    stacks = [_stack(max(column, key=lambda turn: turn.tokens), top) for column in columns]
    for row in range(CHART_ROWS, 0, -1):
        label = f"{short(round(top * row / CHART_ROWS))}" if row == CHART_ROWS or row % 4 == 2 else ""
        edge = "┤" if label else "│"
        yield f"{label:>{LEFT_MARGIN - 2}} {edge}{''.join(_cell(stack, row) for stack in stacks)}"
    yield f"{'0':>{LEFT_MARGIN - 2}} └{'─' * len(columns)}"
    first, last = f"message {report.turns[0].turn}", f"message {report.turns[-1].turn}"
    yield " " * LEFT_MARGIN + first + last.rjust(max(0, len(columns) - len(first)))
    used = [kind for kind in KINDS if any(turn.kinds.get(kind) for turn in report.turns)]
    yield " " * LEFT_MARGIN + "  ".join(f"{click.style(_LOOKS[kind][0], **_LOOKS[kind][1])} {kind}" for kind in used)


def _buckets(turns: Sequence[ReplayTurn], most: int) -> Iterator[Sequence[ReplayTurn]]:
    """Group neighbouring calls into the available columns; few calls get wider bars."""
    if not turns:
        return
    wide = max(1, min(4, most // len(turns)))
    count = min(len(turns), most)
    for number in range(count):
        column = turns[number * len(turns) // count : (number + 1) * len(turns) // count]
        for _ in range(wide):
            yield column


def _stack(turn: ReplayTurn, top: int) -> list[str]:
    """Return the kinds of a request from the bottom up, one entry a row."""
    rows: list[str] = []
    total = 0.0
    for kind in KINDS:
        total += turn.kinds.get(kind, 0)
        rows += [kind] * (round(total / top * CHART_ROWS) - len(rows))
    return rows


def _cell(stack: list[str], row: int) -> str:
    if row > len(stack):
        return " "
    char, style = _LOOKS[stack[row - 1]]
    return click.style(char, **style)


def _sums(report: ReplayReport) -> Iterator[str]:
    colour = "green" if report.ratio < 1 else "yellow"
    ratio = click.style(f"{report.ratio:.2f}", fg=colour, bold=True)
    passes = f"{len(report.passes)} passes" if len(report.passes) != 1 else "1 pass"
    spent = f"{short(report.cost)} against {short(report.plain_cost)}, in uncached input tokens"
    yield f"cost      {ratio} of never compacting  ({spent})"
    yield f"cache     {report.cached:.1%} of the input read from it, {passes}"
    yield f"largest   {report.largest:,} tokens, without compaction {report.plain_largest:,}"
    if report.recorded_cache is not None:
        first, *rest = cache_lines(report.recorded_cache)
        yield f"recorded  {first}"
        yield from (f"          {line}" for line in rest)


def _passes(passes: Sequence[Pass], width: int) -> Iterator[str]:
    yield click.style("before message   why        size              shrunk  folded  what left first", dim=True)
    for made in passes:
        size = f"{short(made.before)} → {short(made.after)}"
        left = f"{made.left[0].what} {made.left[0].handles[0] if made.left[0].handles else ''}" if made.left else ""
        row = (
            f"{made.turn:>14}   {made.reason:<9}  {size:<16}  {made.units_shrunk:>6}  {made.units_folded:>6}  {left}"
        )
        yield row if len(row) <= width else row[: width - 1] + "…"
