"""Evidence recall: of the turns that a question's answer rests on, the share that is among the first k found."""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from bench.memory.baselines import BASELINES, Search
from bench.memory.locomo import Conversation, Corpus
from outlive.memory.retrieval import Entry, Retriever

KS = (5, 10)
CORPORA: dict[str, Callable[[Conversation], Corpus]] = {
    "turns": lambda conversation: conversation.turns,
    "turns as imported": lambda conversation: conversation.imported,
    "observations": lambda conversation: conversation.observations,
}


def ours(dense: bool, cache: Path) -> Callable[[Sequence[Entry]], Search]:
    def make(entries: Sequence[Entry]) -> Search:
        retriever = Retriever(dense=dense, cache=cache)
        retriever.update(entries)
        return lambda query, k: [hit.key for hit in retriever.search(query, k)]

    return make


def measure(conversations: Sequence[Conversation], ways: dict[str, bool], cache: Path) -> None:
    """Print one table; `ways` are our own, by name, with or without dense."""
    makers = BASELINES | {name: ours(dense, cache) for name, dense in ways.items()}
    count = sum(len(conversation.questions) for conversation in conversations)
    print(f"\n### Evidence recall at 5 / 10, in percent ({count} questions)\n")
    print("| | " + " | ".join(CORPORA) + " |\n|---|" + "---|" * len(CORPORA))
    for name, make in makers.items():
        cells = [_recall(conversations, corpus_of, make) for corpus_of in CORPORA.values()]
        print(
            f"| {name} | " + " | ".join(f"{100 * five:.1f} / {100 * ten:.1f}" for five, ten in cells) + " |",
            flush=True,
        )


def _recall(
    conversations: Sequence[Conversation],
    corpus_of: Callable[[Conversation], Corpus],
    make: Callable[[Sequence[Entry]], Search],
) -> tuple[float, float]:
    found: dict[int, list[float]] = {k: [] for k in KS}
    for conversation in conversations:
        corpus = corpus_of(conversation)
        search = make(corpus.entries)
        for question in conversation.questions:
            keys = search(question.text, max(KS))
            for k in KS:
                turns = frozenset[str]().union(*(corpus.stands_for[key] for key in keys[:k]))
                found[k].append(len(turns & question.evidence) / len(question.evidence))
    return fmean(found[5]), fmean(found[10])
