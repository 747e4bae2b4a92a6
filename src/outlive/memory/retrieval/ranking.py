"""From the score of each entry on its own to the order of the answer.

An entry is lifted by what it stands beside: by the words of its neighbours, because in a dialogue an answer rarely
repeats the question, and by the best of its group, because what belongs together was said on one occasion.
"""

from collections.abc import Callable, Iterable, Mapping

from outlive.memory.retrieval.index import TextIndex

LIFTING = 50
"""So many of the best lift others."""
NEIGHBOURS = ((1, 0.3), (2, 0.15))
"""The share of a neighbour's score by words, at a distance."""
GROUP = 0.3
"""The share of the score of the best in the group; an entry without one is its own."""


def lifted(
    index: TextIndex, best: Iterable[int], own: Callable[[int], float], words: Mapping[int, float], count: int
) -> list[tuple[int, float]]:
    """Slots and scores of the best entries and of those they lift, highest first, ties by key."""
    order = sorted(best, key=lambda slot: (-own(slot), index.document(slot).key))[: max(count, LIFTING)]
    lifting = order[:LIFTING]
    extra: dict[int, float] = {}
    group_best: dict[str, float] = {}
    for slot in lifting:
        group = index.document(slot).place.group
        group_best[group] = max(group_best.get(group, 0.0), own(slot))
        share = words.get(slot, 0.0)
        for distance, part in NEIGHBOURS if share else ():
            for beside in index.beside(slot, distance):
                extra[beside] = extra.get(beside, 0.0) + part * share
    scored = []
    for slot in {*order, *extra}:
        group = index.document(slot).place.group
        together = group_best.get(group, 0.0) if group else own(slot)
        scored.append((slot, own(slot) + extra.get(slot, 0.0) + GROUP * together))
    scored.sort(key=lambda pair: (-pair[1], index.document(pair[0]).key))
    return scored
