"""Scores as Markdown tables."""

from collections.abc import Sequence

from bench.context.scoring import Score

HEAD = (
    "| window | policy | cost | pooled | with recalls | direct | evidence | reachable | after a pass | instructions "
    "| with injected | invalid | unseen lost | over | passes | below 80% | warm passes | cold passes |\n"
    + 18 * "|---"
    + "|"
)


def total(scores: Sequence[Score]) -> Score:
    """All sessions put together."""
    whole = Score()
    for score in scores:
        whole.add(score)
    return whole


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


def row(window: int, name: str, scores: Sequence[Score]) -> str:
    """One policy at one window. `cost` is the mean over sessions, `pooled` the sum over all of them."""
    whole = total(scores)
    cells = [
        f"{window // 1000}k" if window < 10**8 else "∞",
        name,
        f"{sum(s.cost / s.base for s in scores) / len(scores):.3f}",
        f"{whole.cost / whole.base:.3f}",
        f"{sum((s.cost + s.recall_cost) / s.base for s in scores) / len(scores):.3f}",
        f"{percent(whole.direct, whole.refs)} ({_mean(scores, 'direct')})",
        f"{percent(whole.evidence, whole.refs)} ({_mean(scores, 'evidence')})",
        percent(whole.reachable, whole.refs),
        percent(whole.after_direct, whole.after_refs),
        percent(whole.rules_kept, whole.rules),
        percent(whole.all_rules_kept, whole.all_rules),
        str(whole.invalid),
        str(whole.unseen_lost),
        str(whole.over),
        str(whole.passes),
        percent(whole.warm_early, whole.warm),
        _sizes(whole.warm_before, whole.warm_after, whole.warm),
        _sizes(whole.cold_before, whole.cold_after, whole.cold),
    ]
    return "| " + " | ".join(cells) + " |"


def _sizes(before: float, after: float, count: int) -> str:
    """Tokens before and after a pass on average, and how many passes there were."""
    return f"{before / count / 1000:.1f}k → {after / count / 1000:.1f}k ({count})" if count else "–"


def _mean(scores: Sequence[Score], what: str) -> str:
    shares = [100 * getattr(score, what) / score.refs for score in scores if score.refs]
    return f"{sum(shares) / len(shares):.1f}" if shares else "–"
