"""Finding the few texts that matter among thousands, without a model call: memories, or entries of session logs.

`Retriever` is the entry point. BM25 over stemmed words and dates is always there; with the extra `dense` a small
embedding model joins in. An entry has a name, a description, a body and a date; nothing in here knows what it is.
"""

from outlive.memory.retrieval.entry import DenseUnavailable, Entry, SearchHit
from outlive.memory.retrieval.retriever import Retriever

__all__ = ["DenseUnavailable", "Entry", "Retriever", "SearchHit"]
