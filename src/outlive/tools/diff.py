"""Changes of a file as people read them: a unified diff, bounded."""

MOST_LINES = 400
DIFFICULT = 4_000_000
"""Lines of one side times lines of the other, past which the change is shown as a whole."""


def unified(before: str, after: str, name: str) -> str:
    """The difference, or nothing when there is none."""
    rows = _changes(before, after)
    if not rows:
        return ""
    more = len(rows) - MOST_LINES
    if more > 0:
        rows[MOST_LINES:] = [f"… {more:,} more lines of the diff"]
    return printable("\n".join([f"--- {name}", f"+++ {name}", *rows]))


def counted(before: str, after: str) -> str:
    """`+3 −2`: lines that came and went."""
    rows = _changes(before, after)
    return f"+{sum(row.startswith('+') for row in rows)} −{sum(row.startswith('-') for row in rows)}"


def printable(text: str) -> str:
    """Without halves of characters, which stand for bytes that are no text and cannot be shown."""
    return text.encode("utf-8", "replace").decode()


def _changes(before: str, after: str) -> list[str]:
    """The rows of a diff. Only what lies between the first and the last difference is compared."""
    if before == after:
        return []
    old, new = _lines(before), _lines(after)
    head = _common(old, new, min(len(old), len(new)))
    tail = _common(old[::-1], new[::-1], min(len(old), len(new)) - head)
    start, spare = max(0, head - 3), max(0, tail - 3)
    return _rows(old[start : len(old) - spare], new[start : len(new) - spare], start)


def _lines(text: str) -> list[str]:
    """A last line without its end is another line than one with it, as in every diff."""
    *whole, rest = text.split("\n")
    return [*whole, f"{rest}\n\\ No newline at end of file"] if rest else whole


def _common(one: list[str], other: list[str], most: int) -> int:
    return next((at for at in range(most) if one[at] != other[at]), most)


def _rows(old: list[str], new: list[str], start: int) -> list[str]:
    if len(old) * len(new) > DIFFICULT:
        title = f"@@ -{start + 1},{len(old)} +{start + 1},{len(new)} @@"
        return [title, *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    from difflib import unified_diff

    rows = list(unified_diff(old, new, lineterm="", n=3))[2:]
    return [_moved(row, start) if row.startswith("@@ ") else row for row in rows]


def _moved(title: str, start: int) -> str:
    """`@@ -1,7 +1,8 @@` further down in the file."""
    spans = []
    for span in title.split()[1:3]:
        first, comma, length = span[1:].partition(",")
        spans.append(f"{span[0]}{int(first) + start}{comma}{length}")
    return f"@@ {' '.join(spans)} @@"
