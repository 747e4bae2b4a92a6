"""Decides whether an entry is relevant enough to be shown unasked. Being the best match is not enough."""

from collections.abc import Mapping

from outlive.memory.retrieval.analysis import is_telling

MIN_COVERAGE = 0.2
"""Minimum share of the query's information that the shared words must cover."""
MIN_SHARED_TERMS = 2
"""Minimum number of significant shared terms, or all if the query has fewer: one alone is shared by chance."""
RELEVANT_COSINE = 0.5
"""From this cosine on an entry is relevant, whatever its words."""
UNRELATED_COSINE = 0.32
"""Below this cosine shared words are an accident."""
STANDS_OUT, ABOVE = 0.37, 0.25
"""A cosine that is enough if it exceeds the others by this much: an unrelated prompt is about equally far from
all."""
HINTS, HINTED, HINTED_ABOVE = 0.15, 0.3, 0.2
"""The same for an entry that shares a word with this part of the query's information."""
OTHERS, USUAL = 6, 0.12
"""What an entry must exceed: the cosine of the sixth best, or with fewer entries a usual value."""


def telling(weighed: Mapping[str, float]) -> dict[str, float]:
    """The significant terms of a query."""
    return {term: weight for term, weight in weighed.items() if is_telling(term)}


def shares_enough(shared: Mapping[str, float], telling: Mapping[str, float], ideal: float) -> bool:
    """Whether enough significant terms are shared and they cover enough of the query."""
    wanted = min(MIN_SHARED_TERMS, len(telling))
    return wanted > 0 and len(shared) >= wanted and sum(shared.values()) >= MIN_COVERAGE * ideal


def hints(shared: Mapping[str, float], ideal: float) -> bool:
    """Whether at least one significant term is shared that is a fair part of the query."""
    return bool(shared) and sum(shared.values()) >= HINTS * ideal


def is_relevant(*, shares: bool, hints: bool, cosine: float, others: float) -> bool:
    """Decide by cosine, and by how far it exceeds the others."""
    if cosine >= RELEVANT_COSINE or (shares and cosine >= UNRELATED_COSINE):
        return True
    above = cosine - others
    return (cosine >= STANDS_OUT and above >= ABOVE) or (hints and cosine >= HINTED and above >= HINTED_ABOVE)
