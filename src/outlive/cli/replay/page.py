"""The report as one self-contained HTML page: no network, light and dark, readable without scripts."""

import json
from collections.abc import Iterator
from html import escape

from outlive.cli.replay.chart import LEFT, RIGHT, WIDTH, cost_chart, short, size_chart
from outlive.cli.replay.look import SCRIPT, STYLE
from outlive.cli.replay.misses import cache_lines, miss_cells
from outlive.context.passes.departures import Departure
from outlive.replay.report import KINDS, Pass, ReplayReport

MAX_MISSES_LISTED = 20
"""Cache misses that are listed."""


def page(report: ReplayReport) -> str:
    body = "\n".join([*_head(report), *_charts(report), *_misses(report), *_passes(report), *_foot(report)])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(report.session)} · outlive replay</title><style>{STYLE}</style></head>\n"
        f"<body><main>\n{body}\n</main></body></html>\n"
    )


def _head(report: ReplayReport) -> Iterator[str]:
    facts = [report.format, report.model, f"{report.messages:,} messages", f"{len(report.turns):,} model calls"]
    facts += [f"window {report.window:,} tokens", f"policy {report.policy}"]
    yield f"<h1>{escape(report.session)}</h1>"
    yield f'<p class="about">{escape(" · ".join(filter(None, facts)))}</p>'
    costs = f"{short(report.cost)} / {short(report.plain_cost)}"
    tiles = [
        (f"{report.ratio:.2f}", f"of the cost of never compacting ({costs})"),
        (f"{report.cached:.0%}", "of the input read from the cache"),
        (short(report.largest), f"largest request, without compaction {short(report.plain_largest)}"),
        (str(len(report.passes)), "pass" if len(report.passes) == 1 else "passes"),
    ]
    inner = "".join(f'<div class="tile"><b>{value}</b><span>{text}</span></div>' for value, text in tiles)
    yield f'<div class="tiles">{inner}</div>'


def _charts(report: ReplayReport) -> Iterator[str]:
    if not report.turns:
        return
    used = [kind for kind in KINDS if any(turn.kinds.get(kind) for turn in report.turns)]
    legend = "".join(f'<span><i style="background:var(--{kind})"></i>{kind}</span>' for kind in used)
    style = "".join(f".area.{kind}{{fill:var(--{kind})}}" for kind in used)
    yield f"<style>{style}</style>"
    yield f'<section><h2>What each request was made of</h2>{size_chart(report)}<div class="legend">{legend}</div>'
    yield '<div class="tip"></div></section>'
    yield f"<section><h2>What it cost so far</h2>{cost_chart(report)}</section>"
    turns = [[turn.turn, turn.tokens, [turn.kinds.get(kind, 0) for kind in KINDS]] for turn in report.turns]
    data = json.dumps({"kinds": KINDS, "turns": turns, "width": WIDTH, "left": LEFT, "right": RIGHT})
    yield f'<script type="application/json" id="turns">{data}</script><script>{SCRIPT}</script>'


def _misses(report: ReplayReport) -> Iterator[str]:
    account = report.recorded_cache
    if account is None:
        return
    first, *rest = cache_lines(account)
    yield f"<section><h2>What the recorded session paid for its cache</h2><p>{escape(first)}</p>"
    yield "".join(["<ul>", *(f"<li>{escape(line)}</li>" for line in rest), "</ul>"]) if rest else ""
    dearest = sorted(account.misses, key=lambda miss: -miss.tokens)[:MAX_MISSES_LISTED]
    if dearest:
        yield "<table><tr><th>call</th><th>missed</th><th class=n>tokens</th><th class=n>cost</th></tr>"
        for miss in dearest:
            call, reason, tokens, cost = map(escape, miss_cells(miss))
            yield f"<tr><td>{call}</td><td>{reason}</td><td class=n>{tokens}</td><td class=n>{cost}</td></tr>"
        yield "</table>"
    yield "</section>"


def _passes(report: ReplayReport) -> Iterator[str]:
    if not report.passes:
        return
    yield "<section><h2>What left, and when</h2>"
    for made in report.passes:
        yield (
            f'<details><summary><span>message {made.turn:,}</span><span class="why">{escape(made.reason)}</span>'
            f"<span>{short(made.before)} → {short(made.after)}</span>"
            f'<span class="more">{escape(_told(made))}</span></summary>'
        )
        yield "<table><tr><th>what</th><th>handles</th><th class=n>before</th><th class=n>left</th></tr>"
        yield from map(_row, made.left)
        yield "</table></details>"
    yield "</section>"


def _told(made: Pass) -> str:
    counts = ((made.units_shrunk, "shrunk"), (made.units_folded, "folded"), (made.lines_kept, "lines kept"))
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _row(left: Departure) -> str:
    handles = " ".join(left.handles[:4]) + (" …" if len(left.handles) > 4 else "")
    stayed = f"{left.after:,}" if left.after else "folded"
    return (
        f"<tr><td><code>{escape(left.what)}</code></td><td><code>{handles}</code></td>"
        f"<td class=n>{left.before:,}</td><td class=n>{stayed}</td></tr>"
    )


def _foot(report: ReplayReport) -> Iterator[str]:
    for refused in report.refused:
        yield f"<p><b>Refused before message {refused.turn}:</b> {escape(refused.why)}</p>"
    yield (
        "<footer>Tokens are characters / 3.2. Cost in uncached input tokens: cache write 1.25, read 0.1, output 5, "
        "cache lifetime five minutes by the recorded times. Everything that left can be recalled: "
        f"<code>outlive recall @h1 --session {escape(report.session)}</code></footer>"
    )
