"""Ranking: from scores of single entries to the order of the answer.

An entry is lifted by the word scores of its neighbours, because in a dialogue an answer rarely repeats the question,
and by the best entry of its group, because they come from one occasion.
"""

from collections.abc import Callable, Iterable, Mapping

from outlive.memory.retrieval.index import TextIndex

LIFTING_ENTRIES = 50
"""The best entries that lift others."""
NEIGHBOURS = ((1, 0.3), (2, 0.15))
"""Share of a neighbour's word score, by distance."""
GROUP_WEIGHT = 0.3
"""Share of the best score in the group; an entry without a group is its own."""


def lifted(
    index: TextIndex, best: Iterable[int], own: Callable[[int], float], words: Mapping[int, float], count: int
) -> list[tuple[int, float]]:
    """Slots and scores of the best entries and of those they lift, highest first, ties by key."""
    order = sorted(best, key=lambda slot: (-own(slot), index.document(slot).key))[: max(count, LIFTING_ENTRIES)]
    lifting = order[:LIFTING_ENTRIES]
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
        scored.append((slot, own(slot) + extra.get(slot, 0.0) + GROUP_WEIGHT * together))
    scored.sort(key=lambda pair: (-pair[1], index.document(pair[0]).key))
    return scored
