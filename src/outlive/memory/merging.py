"""Consolidation by rules: what says the same becomes one, a newer word on the same key counts, dates become dates.

A rule hides and never deletes, and it acts only where it cannot be wrong about the meaning: what differs in more than
small words, plurals and the place of a "where" is left to a model, or to people.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from outlive.memory.dates import absolute, read_date
from outlive.memory.guard import withheld
from outlive.memory.order import SentenceReading
from outlive.memory.similar import all_said, sentences, words
from outlive.memory.supersession import hidden_by
from outlive.stores.memories.records import Memory

_TRUST = {"user": 0, "model": 1, "tool": 2, "web": 3}


class MergePlan(msgspec.Struct):
    """What is to change, all at once. A memory that is new has an empty slug."""

    puts: dict[str, Memory] = {}
    adds: list[Memory] = []
    retire: dict[str, str] = {}
    """Slug to the reason."""
    notes: list[str] = []

    @property
    def touched(self) -> set[str]:
        return {*self.puts, *self.retire}

    def __bool__(self) -> bool:
        return bool(self.puts or self.adds or self.retire)


def by_rules(memories: Sequence[Memory]) -> MergePlan:
    """The plan for all memories in use of one store."""
    plan = MergePlan()
    hidden = hidden_by(memories)
    live = [memory for memory in memories if memory.slug not in hidden and not withheld(memory)]
    for memory in live:
        dated = with_dates(memory)
        if dated != memory:
            plan.puts[memory.slug] = replace(dated, revision=memory.revision + 1)
            plan.notes.append(f"dates in {memory.slug}")
    gone: set[str] = set()
    for winner, loser, why in (*_contradicted(live), *_doubled(live)):
        if loser.slug not in gone and winner.slug not in gone:
            gone.add(loser.slug)
            _merge(plan, winner, loser)
            plan.notes.append(f"{winner.slug} {why} {loser.slug}")
    return plan


def with_dates(memory: Memory) -> Memory:
    """Its relative dates as dates, seen from the day that it speaks of, or was written. Not in what says how to work
    or where to look: there, "yesterday" is any day."""
    if memory.type in ("feedback", "reference"):
        return memory
    base = read_date(memory.date) or memory.created.date()
    return replace(memory, description=absolute(memory.description, base), body=absolute(memory.body, base))


def _merge(plan: MergePlan, winner: Memory, loser: Memory) -> None:
    now = plan.puts.get(winner.slug, winner)
    plan.puts[winner.slug] = replace(
        now,
        keys=tuple(dict.fromkeys((*now.keys, *loser.keys))),
        date=now.date or loser.date,
        supersedes=tuple(dict.fromkeys((*now.supersedes, loser.slug))),
        revision=winner.revision + 1,
    )


def _contradicted(live: Sequence[Memory]) -> Iterator[tuple[Memory, Memory, str]]:
    """Of several words on one thing, the newest that the user said. A key names a thing where it is spelled like one
    (`editor.indent`), or where the names agree too; other keys are only words to search by."""
    groups: dict[tuple[object, ...], list[Memory]] = defaultdict(list)
    for memory in live:
        if memory.keys:
            slots = tuple(sorted(key.casefold() for key in memory.keys))
            spelled = all(set(slot) & set("._:/=") and " " not in slot for slot in slots)
            groups[(memory.type, slots, "" if spelled else words(memory.name))].append(memory)
    for group in groups.values():
        said = [memory for memory in group if memory.provenance.by == "user"]
        if len(group) > 1 and said:
            newest = max(said, key=lambda memory: (memory.updated, memory.slug))
            for other in group:
                if other is not newest and other.updated <= newest.updated:
                    yield newest, other, "is newer than"


def _doubled(live: Sequence[Memory]) -> Iterator[tuple[Memory, Memory, str]]:
    """Pairs of which the first says all that the second says."""
    texts = {memory.slug: sentences(memory.body or memory.description) for memory in live}
    holding: dict[tuple[str, ...], list[Memory]] = defaultdict(list)
    for memory in live:
        for bag in {sentence.bag for sentence in texts[memory.slug]}:
            holding[bag].append(memory)
    for loser in live:
        mine = texts[loser.slug]
        if sum(len(sentence.words) for sentence in mine) < 3:
            continue  # "Yes, thanks" is said often, and means something else each time
        others = min((holding[sentence.bag] for sentence in mine), key=len)
        for winner in sorted(others, key=_preference) if len(others) > 1 else ():
            if winner is not loser and _may_replace(winner, loser, texts):
                yield winner, loser, "says all of"
                break


def _may_replace(winner: Memory, loser: Memory, texts: Mapping[str, Sequence[SentenceReading]]) -> bool:
    theirs, mine = texts[winner.slug], texts[loser.slug]
    if not all_said(mine, theirs):
        return False
    alike = winner.type == loser.type and (not loser.date or winner.date in ("", loser.date))
    if not alike or (winner.date == "" and loser.date != "" and len(theirs) > len(mine)):
        return False
    if _TRUST[winner.provenance.by] > _TRUST[loser.provenance.by] and not winner.provenance.agreed:
        return False
    return not all_said(theirs, mine) or _preference(winner) < _preference(loser)


def _preference(memory: Memory) -> tuple[object, ...]:
    """What is to stay: what the user said, then the newest."""
    return _TRUST[memory.provenance.by], -memory.updated.timestamp(), memory.slug


def least_trusted(memories: Iterable[Memory]) -> Memory:
    """What several memories together are worth: as much as the least of them."""
    return max(memories, key=lambda memory: (_TRUST[memory.provenance.by], not memory.provenance.agreed))
