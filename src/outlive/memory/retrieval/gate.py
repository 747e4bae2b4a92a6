"""Whether an entry is worth showing unasked. Being the best of what is there is not enough."""

from collections.abc import Mapping

from outlive.memory.retrieval.analysis import is_telling

COVERAGE = 0.2
"""The share of what a query tells that an entry must hold, by words alone."""
TERMS = 2
"""So many telling words must be shared, or all where the query has fewer: one alone is shared by chance."""
MEANS_THE_SAME = 0.5
"""A cosine from which an entry is about the query, whatever its words."""
MEANS_SOMETHING_ELSE = 0.32
"""A cosine below which shared words are an accident."""
STANDS_OUT, ABOVE = 0.37, 0.25
"""A cosine that is enough where it is so far above those of the others: a prompt that nothing speaks to is about
equally far from all."""
HINTS, HINTED, HINTED_ABOVE = 0.15, 0.3, 0.2
"""The same, where a word is shared that makes up this part of the query."""
OTHERS, USUAL = 6, 0.12
"""What an entry must stand out from: the cosine of the sixth, or with fewer entries what it usually is."""


def telling(weighed: Mapping[str, float]) -> dict[str, float]:
    """The terms of a query that say what it is about."""
    return {term: weight for term, weight in weighed.items() if is_telling(term)}


def shares_enough(shared: Mapping[str, float], telling: Mapping[str, float], ideal: float) -> bool:
    """The rule for words: enough telling ones are shared, and they are a fair part of the query."""
    wanted = min(TERMS, len(telling))
    return wanted > 0 and len(shared) >= wanted and sum(shared.values()) >= COVERAGE * ideal


def hints(shared: Mapping[str, float], ideal: float) -> bool:
    """Less than enough: one telling word, if it is no small part of the query."""
    return bool(shared) and sum(shared.values()) >= HINTS * ideal


def is_relevant(*, shares: bool, hints: bool, cosine: float, others: float) -> bool:
    """By what it means, and how far that stands out from the others."""
    if cosine >= MEANS_THE_SAME or (shares and cosine >= MEANS_SOMETHING_ELSE):
        return True
    above = cosine - others
    return (cosine >= STANDS_OUT and above >= ABOVE) or (hints and cosine >= HINTED and above >= HINTED_ABOVE)
