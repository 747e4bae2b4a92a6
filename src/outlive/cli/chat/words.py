"""Formatting of sizes, durations and names."""

from rich.cells import cell_len, set_cell_size


def tokens(count: int) -> str:
    """`850`, `37k`, `1.2M`"""
    if count < 1000:
        return str(count)
    return f"{count / 1000:.0f}k" if count < 999_500 else f"{count / 1_000_000:.1f}M"


def dollars(amount: float) -> str:
    """Format dollars to cents, small amounts to a tenth of a cent."""
    return f"${amount:.2f}" if amount >= 0.1 or not amount else f"${amount:.3f}"


def duration(seconds: float) -> str:
    """`0.3 s`, `42 s`, `3 min 5 s`, `2 h 10 min`"""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def elapsed(seconds: float) -> str:
    """Like `duration`, but without fractions that flicker while it grows."""
    return f"{int(seconds)} s" if seconds < 60 else duration(seconds)


def ago(seconds: float) -> str:
    """`just now`, `5 min ago`, `3 h ago`, `12 days ago`"""
    for size, name in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {'day' if name == 'days' and count == 1 else name} ago"
    return "just now"


def counted(count: int, one: str, many: str = "") -> str:
    """`1 task`, `3 tasks`"""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def short_session(session: str) -> str:
    last = session.rpartition("-")[2]
    return last[:6] if len(last) >= 6 and last != session else session[:16]


def cut(text: str, width: int) -> str:
    """Cut a text to `width` terminal columns."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def cut_start(text: str, width: int) -> str:
    """Cut the start of a text, such as a path, to `width` terminal columns."""
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) >= width:
        text = text[1:]
    return "…" + text
