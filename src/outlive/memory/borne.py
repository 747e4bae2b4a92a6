"""Whether a text that a model made of memories says what they say: nothing else, and all of it.

Clauses are compared, not meanings: each has to be one of a source, with its names, numbers and code as they stand and
with what limits it. So it refuses what may be a good paraphrase, and takes nothing that is put together from two.
"""

from collections.abc import Sequence

from outlive.memory import guard
from outlive.memory.clauses import ClauseSentence, ClauseSet, statements
from outlive.memory.dates import every_day, read_date
from outlive.stores.memories.records import Memory


def not_borne_out(text: str, sources: Sequence[Memory]) -> str:
    """What of the text no source says, or nothing."""
    known = ClauseSet([one for source in sources for text in _texts(source) for one in statements(text)])
    for statement in statements(text, is_source=False):
        if not known.has(statement):
            return f"{statement.text[:60]!r} stands in none of them"
    return ""


def left_unsaid(text: str, sources: Sequence[Memory]) -> str:
    """What of the sources the text leaves out, or nothing. What another one says with more words is not left out."""
    made = ClauseSet(statements(text, is_source=False))
    kept: list[tuple[str, ClauseSentence]] = []
    lost: list[tuple[str, ClauseSentence]] = []
    for source in sources:
        plain, *dated = map(statements, _bodies(source))
        said = dated[0] if dated and len(dated[0]) == len(plain) else plain
        for one, other in [*zip(plain, said, strict=True), *((fact, fact) for fact in _facts_beside(source))]:
            (kept if made.has(one) or made.has(other) else lost).append((source.slug, one))
    for slug, statement in lost:
        if not any(_says_more(other, statement) for _, other in kept):
            return f"{statement.text[:60]!r} of {slug}"
    return ""


def is_named_after(name: str, sources: Sequence[Memory]) -> bool:
    """Whether a name has only words of one sentence of a source, in their order, and what limits them."""
    called = statements(name)
    said = [one for source in sources for text in _texts(source) for one in statements(text)]
    return len(called) == 1 and any(
        called[0].limits == one.limits and _in_order(called[0].flat, one.flat) for one in said
    )


def newly_instructs(memory: Memory, sources: Sequence[Memory]) -> bool:
    """Whether it tells an agent what to do, and no source does."""
    return guard.instructs(memory) and not any(map(guard.instructs, sources))


def _texts(source: Memory) -> list[str]:
    return [source.name, source.description, *_bodies(source)]


def _bodies(source: Memory) -> list[str]:
    """What it says, as it says it and with dates for "yesterday"."""
    whole = source.body if source.body.strip() else source.description
    dated = every_day(whole, read_date(source.date) or source.created.date())
    return [whole, dated] if dated != whole else [whole]


def _facts_beside(source: Memory) -> list[ClauseSentence]:
    """What its description says with names, numbers or code, and is not how its body begins."""
    short = " ".join(source.description.rstrip("…").split())
    if not source.body.strip() or " ".join(source.body.split()).startswith(short):
        return []
    return [one for one in statements(source.description) if not all(map(str.islower, one.text.split()[1:]))]


def _says_more(one: ClauseSentence, other: ClauseSentence) -> bool:
    """Whether a statement says the other one too: all its words in their order, under no other limits, and not only
    of some place or case."""
    if one.limits != other.limits or one.context != other.context or not _in_order(other.flat, one.flat):
        return False
    phrases = [phrase for clause in one.clauses for phrase in clause.ways[0]]
    mine = [phrase for clause in other.clauses for phrase in clause.ways[0]]
    more = [phrase for phrase in phrases if phrase[0] and phrase not in mine]
    return all(begins == "at" or set(words) & set(other.flat) for begins, words in more)


def _in_order(few: Sequence[str], many: Sequence[str]) -> bool:
    rest = iter(many)
    return all(word in rest for word in few)
