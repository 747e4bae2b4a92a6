"""A few entries and how the tests ask for them."""

import pytest

from outlive.memory.retrieval import Entry, Retriever
from outlive.memory.retrieval.dense import missing

needs_dense = pytest.mark.skipif(
    bool(missing()), reason=f"the extra dense is not installed (missing: {', '.join(missing())}); run: make setup"
)


def entry(key: str, body: str, **fields: object) -> Entry:
    """An entry that is little more than its text."""
    whole: dict[str, object] = {"key": key, "name": key, "description": "", "body": body, **fields}
    return Entry(**whole)  # type: ignore[arg-type]


MEMORIES = [
    entry("test-runner", "The user wants pytest with xdist, never unittest.", description="Which test runner to use"),
    entry("deploys", "Deploys to production go through the blue-green script bin/ship.", date="2023-05-08"),
    entry("tabs", "Indent Makefiles with tabs and Python with four spaces."),
    entry("coffee", "The user drinks espresso and moved from Zürich to Kraków in 2021.", date="8 June, 2023"),
    entry("schema", "The column customer_id in table Orders is deprecated; read accountNumber instead."),
    entry("tokyo", "東京の事務所は渋谷にあります。"),
]


def holding(*entries: Entry, dense: bool = False) -> Retriever:
    retriever = Retriever(dense=dense)
    retriever.update(entries)
    return retriever


def found(retriever: Retriever, query: str, k: int = 10) -> list[str]:
    return [hit.key for hit in retriever.search(query, k)]


def selected(retriever: Retriever, query: str, k: int = 5) -> list[str]:
    return [hit.key for hit in retriever.select(query, k)]
