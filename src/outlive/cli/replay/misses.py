"""The cache of a recorded session in words: how much was read from it, and what the misses cost."""

from collections.abc import Iterator

from outlive.cli.replay.chart import short
from outlive.replay.cache_misses import CacheAccount, CacheMiss, MissReason

REASONS: dict[MissReason, str] = {
    "expired": "after a pause of more than five minutes",
    "compacted": "after its own compactions",
    "model": "after a change of the model",
    "changed": "because the beginning of the prompt changed",
}


def cache_lines(account: CacheAccount) -> Iterator[str]:
    """A line for all, and one for each reason."""
    count, tokens, cost = account.missed()
    yield (
        f"{account.share:.1%} of {short(account.input + account.written + account.read)} input tokens read in "
        f"{account.calls:,} calls; {_misses(count)}{_cost(tokens, cost)}"
    )
    for reason, words in REASONS.items():
        count, tokens, cost = account.missed(reason)
        if count:
            yield f"{_misses(count)} {words}{_cost(tokens, cost)}"


def miss_cells(miss: CacheMiss) -> tuple[str, str, str, str]:
    """Call, reason, tokens and cost, for a table."""
    pause = f" ({miss.gap / 60:,.0f} minutes)" if miss.reason == "expired" else ""
    return f"{miss.call:,}", REASONS[miss.reason] + pause, f"{miss.tokens:,}", _dollars(miss.cost)


def _misses(count: int) -> str:
    return f"{count:,} {'miss' if count == 1 else 'misses'}"


def _cost(tokens: int, cost: float | None) -> str:
    if not tokens:
        return ""
    return f": {short(tokens)} tokens paid again" + (f", {_dollars(cost)} more than reading them" if cost else "")


def _dollars(cost: float | None) -> str:
    return "" if cost is None else f"${cost:,.2f}"
