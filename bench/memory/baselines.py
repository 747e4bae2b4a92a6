"""What others do, over the same entries: the first five with a word in common, plain BM25, SQLite's FTS5."""

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence

from outlive.memory.retrieval import Entry

Search = Callable[[str, int], list[str]]
_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _text(entry: Entry) -> str:
    return f"{entry.name} {entry.description} {entry.body} {entry.date}"


def first_five(entries: Sequence[Entry]) -> Search:
    """The first entries that hold any word of the query, in the order of the store; never more than five."""
    texts = [(entry.key, set(_words(_text(entry)))) for entry in entries]

    def search(query: str, k: int) -> list[str]:
        asked = set(_words(query))
        return [key for key, words in texts if asked & words][: min(k, 5)]

    return search


def plain_bm25(entries: Sequence[Entry]) -> Search:
    """BM25 with its textbook parameters over lower-case words: no stemming, no stop words."""
    counts = [Counter(_words(_text(entry))) for entry in entries]
    lengths = [sum(count.values()) for count in counts]
    average = sum(lengths) / max(1, len(lengths))
    holders = Counter(word for count in counts for word in count)

    def search(query: str, k: int) -> list[str]:
        scored = []
        asked = set(_words(query))
        for entry, count, length in zip(entries, counts, lengths, strict=True):
            score = 0.0
            for word in asked & count.keys():
                tells = math.log(1 + (len(counts) - holders[word] + 0.5) / (holders[word] + 0.5))
                score += tells * count[word] * 2.2 / (count[word] + 1.2 * (0.25 + 0.75 * length / average))
            scored.append((-score, entry.key))
        return [key for score, key in sorted(scored)[:k] if score < 0]

    return search


def fts5(entries: Sequence[Entry]) -> Search:
    """SQLite's full-text search with its Porter stemmer, any word of the query, ordered by its own rank."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE entry USING fts5(key UNINDEXED, text, tokenize = 'porter unicode61')")
    database.executemany("INSERT INTO entry VALUES (?, ?)", [(entry.key, _text(entry)) for entry in entries])

    def search(query: str, k: int) -> list[str]:
        asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(_words(query)))
        if not asked:
            return []
        rows = database.execute("SELECT key FROM entry WHERE entry MATCH ? ORDER BY rank LIMIT ?", (asked, k))
        return [key for (key,) in rows]

    return search


BASELINES: dict[str, Callable[[Sequence[Entry]], Search]] = {
    "first five with a word in common": first_five,
    "plain BM25": plain_bm25,
    "SQLite FTS5 (porter)": fts5,
}
