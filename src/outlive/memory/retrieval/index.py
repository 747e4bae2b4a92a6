"""Assigns entries to slots and maintains the word index over them. No embeddings, ranking or disk access here."""

from collections.abc import Iterator

from outlive.memory.retrieval.document import Document, indexed
from outlive.memory.retrieval.entry import Entry
from outlive.memory.retrieval.postings import Postings
from outlive.memory.retrieval.snapshot import Snapshot


class TextIndex:
    def __init__(self, snapshot: Snapshot | None = None) -> None:
        kept = snapshot or Snapshot([], {})
        self._documents: list[Document | None] = list(kept.documents)
        self._slots = {document.key: slot for slot, document in enumerate(kept.documents)}
        self._free: list[int] = []
        self._lines: dict[tuple[str, int], list[int]] = {}
        for slot, document in enumerate(kept.documents):
            self._line_up(slot, document)
        self.postings = Postings(kept.postings)
        self.postings.restore(kept.documents)

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def size(self) -> int:
        """Number of slots, empty ones included."""
        return len(self._documents)

    def held(self) -> list[str]:
        """The keys of all entries."""
        return list(self._slots)

    def find(self, key: str) -> Document | None:
        slot = self._slots.get(key)
        return None if slot is None else self._documents[slot]

    def document(self, slot: int) -> Document:
        document = self._documents[slot]
        if document is None:
            raise KeyError(slot)
        return document

    def occupied(self) -> Iterator[tuple[int, Document]]:
        return ((slot, document) for slot, document in enumerate(self._documents) if document is not None)

    def slot(self, key: str) -> int:
        return self._slots[key]

    def put(self, entry: Entry, content: bytes) -> int:
        """Add an entry with a new key; returns its slot."""
        document, weights = indexed(entry, content)
        if self._free:
            slot = self._free.pop()
            self._documents[slot] = document
        else:
            slot = len(self._documents)
            self._documents.append(document)
        self._slots[entry.key] = slot
        self._line_up(slot, document)
        self.postings.add(slot, document, weights)
        return slot

    def drop(self, key: str) -> int:
        """Remove an entry; returns its slot, which is empty now."""
        slot = self._slots.pop(key)
        document = self.document(slot)
        self._documents[slot] = None
        self._free.append(slot)
        if document.place.line:
            self._lines[document.place.line, document.place.number].remove(slot)
        self.postings.remove(slot, document)
        return slot

    def beside(self, slot: int, distance: int) -> list[int]:
        """The slots before and after one in its line, at a distance."""
        place = self.document(slot).place
        if not place.line:
            return []
        before, after = (place.line, place.number - distance), (place.line, place.number + distance)
        return [*self._lines.get(before, ()), *self._lines.get(after, ())]

    def snapshot(self) -> Snapshot:
        kept = list(self.occupied())
        whole = len(kept) == len(self._documents)
        renumbered = None if whole else {slot: number for number, (slot, _) in enumerate(kept)}
        return Snapshot([document for _, document in kept], self.postings.packed(renumbered))

    def _line_up(self, slot: int, document: Document) -> None:
        if document.place.line:
            self._lines.setdefault((document.place.line, document.place.number), []).append(slot)
