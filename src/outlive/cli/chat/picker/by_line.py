"""A picker for plain lines: a numbered list, and a line that names a number or words to search for."""

from collections.abc import Awaitable, Callable, Sequence

from outlive.cli.chat.picker.rows import PickerRow, RowSearch, shown_detail, shown_label

MAX_LISTED = 20  # a page; searching narrows it

ReadLine = Callable[[], Awaitable[str | None]]
"""Reads one line of the user; None at the end of the input."""


async def pick_by_line(
    title: str, rows: Sequence[PickerRow], read: ReadLine, write: Callable[[str], None]
) -> PickerRow | None:
    """Ask until a row is chosen; an empty line or the end of the input chooses none."""
    search = RowSearch(rows)
    while True:
        for line in _listing(title, search.found):
            write(line)
        answer = ((await read()) or "").strip()
        if not answer:
            return None
        if answer.isdigit():
            if 1 <= int(answer) <= len(search.found):
                return search.found[int(answer) - 1]
            write(f"there is no number {answer} in the list")
            continue
        search.search(answer)
        if not search.found:
            write(f"nothing has {answer!r} in it")
            search.search("")
        elif len(search.found) == 1:
            return search.found[0]


def _listing(title: str, found: Sequence[PickerRow]) -> list[str]:
    lines = [f"{title}:"]
    for number, row in enumerate(found[:MAX_LISTED], 1):
        parts = [shown_label(row), shown_detail(row), "in use now" if row.current else ""]
        lines.append(f"{number}. {', '.join(filter(None, parts))}")
    if len(found) > MAX_LISTED:
        lines.append(f"and {len(found) - MAX_LISTED:,} more")
    return [*lines, "Type a number, or words to search for; an empty line chooses nothing."]
