"""Retrieval: finds the few relevant texts among thousands without a model call: memories, or entries of session logs.

`Retriever` is the entry point. BM25 over stemmed words and dates is always available; the extra `dense` adds a small
embedding model. An entry has a name, a description, a body and a date; this package does not know its meaning.
"""

from outlive.memory.retrieval.entry import DenseUnavailable, Entry, SearchHit
from outlive.memory.retrieval.retriever import Retriever

__all__ = ["DenseUnavailable", "Entry", "Retriever", "SearchHit"]
