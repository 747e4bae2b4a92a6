"""Finding the few texts that matter among thousands, without a model call: memories, or entries of session logs.

`Retriever` is the door. BM25 over stemmed words and dates is always there; with the extra `dense` a small embedding
model joins in. Nothing in here knows what an entry is, only that it has a name, a description, a body and a date.
"""

from outlive.memory.retrieval.entry import Entry, SearchHit
from outlive.memory.retrieval.errors import DenseUnavailable
from outlive.memory.retrieval.retriever import Retriever

__all__ = ["DenseUnavailable", "Entry", "Retriever", "SearchHit"]
