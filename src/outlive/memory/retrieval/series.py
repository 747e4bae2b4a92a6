"""What an entry stands beside: the others of its session or day, and the ones right before and after it.

Turns of a dialogue say it themselves. Of other entries it is read from what they have: entries of one date were
written on one occasion, and names that end in a number ("D1:3", "note-12") count on.
"""

import re

import msgspec

from outlive.memory.retrieval.entry import Entry

_NUMBERED = re.compile(r"(.*?)(\d{1,9})", re.DOTALL)


class Place(msgspec.Struct, frozen=True, array_like=True):
    """`group` is shared by entries of one occasion; entries of one `line` are neighbours by `number`."""

    group: str
    line: str
    number: int


def place(entry: Entry) -> Place:
    if entry.group:
        return Place(f"g{entry.group}", f"g{entry.group}", entry.position)
    match = _NUMBERED.fullmatch(entry.name[-200:])
    line, number = (f"n{match[1]}", int(match[2])) if match else ("", 0)
    return Place(f"d{entry.date}" if entry.date else line, line, number)
