"""Whether an entry is worth showing unasked. Being the best of what is there is not enough."""

from collections.abc import Mapping

from outlive.memory.retrieval.analysis import is_telling

COVERAGE = 0.2
"""The share of what a query tells that an entry must hold, by words alone."""
TERMS = 2
"""So many telling words must be shared, or all where the query has fewer: one alone is shared by chance."""
MEANS_THE_SAME = 0.5
"""A cosine from which an entry is about the query, whatever its words."""
MEANS_SOMETHING_ELSE = 0.3
"""A cosine below which shared words are an accident."""


def telling(weighed: Mapping[str, float]) -> dict[str, float]:
    """The terms of a query that say what it is about."""
    return {term: weight for term, weight in weighed.items() if is_telling(term)}


def shares_enough(shared: Mapping[str, float], telling: Mapping[str, float], ideal: float) -> bool:
    """The rule for words: enough telling ones are shared, and they are a fair part of the query."""
    wanted = min(TERMS, len(telling))
    return wanted > 0 and len(shared) >= wanted and sum(shared.values()) >= COVERAGE * ideal


def is_relevant(*, shares: bool, cosine: float | None) -> bool:
    if cosine is None:
        return shares
    return cosine >= MEANS_THE_SAME or (shares and cosine >= MEANS_SOMETHING_ELSE)
