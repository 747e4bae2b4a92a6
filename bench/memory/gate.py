"""The gate: how often something is shown for a prompt that nothing speaks to, and how often for one that has."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from bench.memory.developer import MEMORIES, RELATED, UNRELATED
from bench.memory.locomo import Conversation
from bench.memory.prompts import GENERIC, SMALL_TALK
from bench.memory.recall import CORPORA
from outlive.memory.retrieval import Entry, Retriever


def measure(conversations: Sequence[Conversation], ways: dict[str, bool], cache: Path) -> None:
    print("\n### The gate of `select`, in percent of prompts\n")
    columns = ("own questions", "evidence in the five", "coding prompts", "small talk", "others' questions")
    print("| | | " + " | ".join(columns) + " |\n|---|---|" + "---|" * len(columns))
    for name, dense in ways.items():
        for kind in ("turns", "observations"):
            kept, evidence, coding, small_talk, others = [], [], [], [], []
            for conversation in conversations:
                corpus = CORPORA[kind](conversation)
                retriever = Retriever(dense=dense, cache=cache)
                retriever.update(corpus.entries)
                for question in conversation.questions:
                    hits = retriever.select(question.text)
                    kept.append(bool(hits))
                    turns = frozenset[str]().union(*(corpus.stands_for[hit.key] for hit in hits))
                    evidence.append(len(turns & question.evidence) / len(question.evidence))
                coding += [bool(retriever.select(prompt)) for prompt in GENERIC]
                small_talk += [bool(retriever.select(prompt)) for prompt in SMALL_TALK]
                foreign = [other for other in conversations if other is not conversation]
                others += [bool(retriever.select(asked.text)) for other in foreign for asked in other.questions[::4]]
            cells = " | ".join(
                f"{100 * fmean(values):.1f}" for values in (kept, evidence, coding, small_talk, others)
            )
            print(f"| {name} | {kind} | {cells} |", flush=True)
    print("\n### The gate over memories of a developer, prompts in other words\n")
    print("| | the right one was shown | others beside it | shown for unrelated prompts |\n|---|---|---|---|")
    for name, dense in ways.items():
        developer(name, dense, cache)


def developer(name: str, dense: bool, cache: Path) -> None:
    """One row, the prompts that figures were chosen by and those that were held back apart."""
    retriever = Retriever(dense=dense, cache=cache / "developer")
    rows = [line.split("|") for line in MEMORIES]
    retriever.update(Entry(key=key, name=key.replace("-", " "), description=text, body=text) for key, _, text in rows)
    shown = [({hit.key for hit in retriever.select(prompt)}, key) for prompt, key in (r.split("|") for r in RELATED)]
    right = [key in keys for keys, key in shown]
    beside = sum(len(keys - {key}) for keys, key in shown)
    wrong = [bool(retriever.select(prompt)) for prompt in UNRELATED]
    cells = [f"{sum(part[::2])} + {sum(part[1::2])} of {len(part)}" for part in (right, wrong)]
    print(f"| {name} | {cells[0]} | {beside} | {cells[1]} |", flush=True)
