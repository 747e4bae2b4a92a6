"""Two views side by side: which block of the first is which block of the second, and what became of it."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from outlive.web.sessions.past.rows import SentRow, ViewRow, sent

Change = Literal["same", "changed", "shrunk", "moved", "left", "new"]
"""moved: the words stand in a block that collects them."""
CHANGES: tuple[Change, ...] = ("same", "changed", "shrunk", "moved", "left", "new")
_HEAD = "[The user's own words"
_SPEAKER = re.compile(r"^User, event \d+: ")
REQUEST = "request"
"""Role of the current request, which stands in the view as the user said it, or beside the digest."""


class RowPair(msgspec.Struct, frozen=True):
    """A block before and after a pass."""

    change: Change
    before: ViewRow | None
    after: ViewRow | None


class SentPair(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pair as it is sent; of a block that stayed as it was, one side."""

    number: int
    change: Change
    before: SentRow | None = None
    after: SentRow | None = None


def paired(before: Sequence[ViewRow], after: Sequence[ViewRow]) -> Iterator[RowPair]:
    """The blocks of both views: those of the first in their order, each new one after the block that it follows."""
    place = {row.key: at for at, row in enumerate(after)}
    partner = {at: place[row.key] for at, row in enumerate(before) if row.key in place}
    partner |= _same_request(before, after, partner)
    origin = {to: at for at, to in partner.items()}
    following: dict[int, list[ViewRow]] = {}
    anchor = -1
    for to, row in enumerate(after):
        if to in origin:
            anchor = origin[to]
        else:
            following.setdefault(anchor, []).append(row)
    yield from (RowPair("new", None, row) for row in following.get(-1, ()))
    for at, row in enumerate(before):
        yield _pair(row, after[partner[at]] if at in partner else None, after)
        yield from (RowPair("new", None, one) for one in following.get(at, ()))


def _same_request(before: Sequence[ViewRow], after: Sequence[ViewRow], partner: dict[int, int]) -> dict[int, int]:
    """The current request moves beside the digest when the turn that it began is folded."""
    to = next((to for to, row in enumerate(after) if row.role == REQUEST), None)
    if to is None or to in partner.values():
        return {}
    for at in reversed(range(len(before))):
        row = before[at]
        if at not in partner and row.kind == "user" and row.text.strip() and row.text.strip() in after[to].text:
            return {at: to}
    return {}


def _pair(row: ViewRow, partner: ViewRow | None, after: Sequence[ViewRow]) -> RowPair:
    if partner is None:
        moved = row.kind == "user" and any(_collects(one, row) for one in after)
        return RowPair("moved" if moved else "left", row, None)
    if partner.text == row.text:
        return RowPair("same", row, partner)
    shrunk = partner.short or (not row.role and row.kind != "digest" and partner.tokens < row.tokens)
    return RowPair("shrunk" if shrunk else "changed", row, partner)


def _collects(one: ViewRow, row: ViewRow) -> bool:
    """Whether a block of the user's words holds those of another, line by line."""
    lines = [_SPEAKER.sub("", line).strip() for line in row.text.splitlines() if not line.startswith(_HEAD)]
    return one.kind == "user" and any(lines) and all(line in one.text for line in lines)


def sent_pairs(pairs: Sequence[RowPair], skip: int, limit: int, change: str) -> dict[str, object]:
    """A page of pairs; with `change` only of those that changed so."""
    counts = {name: sum(pair.change == name for pair in pairs) for name in CHANGES}
    chosen = [(number, pair) for number, pair in enumerate(pairs) if not change or pair.change == change]
    page = [
        SentPair(
            number,
            pair.change,
            sent(pair.before, number) if pair.before is not None else None,
            sent(pair.after, number) if pair.after is not None and pair.change != "same" else None,
        )
        for number, pair in chosen[skip : skip + limit]
    ]
    return {
        "pairs": page,
        "counts": counts,
        "total": len(chosen),
        "next": skip + limit if skip + limit < len(chosen) else None,
    }
