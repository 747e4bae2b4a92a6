"""MEMORY.md: one line per memory, always in the system prompt, and therefore capped.

What stays is chosen by rank, not by age, and what is left out is named: a correction is never crowded out by the
error it corrects.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from urllib.parse import quote

from outlive.memory.guard import blocked_reason
from outlive.printable import visible
from outlive.secrets import mask
from outlive.stores.memories.records import Memory

TITLE = "What is remembered (memory_search finds the rest of each)"
"""Heading of the index, which is the last part of a system prompt."""
MAX_LINES = 200  # the index is in every system prompt, hence this and the following
MAX_BYTES = 25 * 1024  # of all lines
MAX_LINE_CHARS = 240  # of a description with its name
_LAST_LINE_BYTES = 700
"""Bytes for the last line, which names what is left out."""
_LABELS = {"user": "", "model": " (the model's reading)", "tool": " (from a tool)", "web": " (from the web)"}
_TAG = re.compile(r"<(?=[/!?A-Za-z])")


def rank(memory: Memory) -> tuple[int, float, str]:
    """Sort key: rules of work and corrections first, newest first; then the rest, newest first."""
    guidance = memory.type == "feedback" or bool(memory.supersedes)
    return (0 if guidance else 1, -memory.updated.timestamp(), memory.slug)


Entry = tuple[str, str]
"""The line of a memory, and its short name."""


def index_text(
    memories: Sequence[Memory],
    *,
    user_folder: str = "",
    made: dict[str, tuple[Memory, Entry]] | None = None,
) -> str:
    """The index of these memories; `user_folder` prefixes the files of user-wide ones.

    `made` caches the entries of one store by slug: searching 200 of them for secrets takes longer than everything
    else.
    """
    kept = {} if made is None else made

    def entry_of(memory: Memory) -> Entry:
        if memory.slug not in kept or kept[memory.slug][0] != memory:
            kept[memory.slug] = (memory, entry(memory, user_folder if memory.scope == "user" else ""))
        return kept[memory.slug][1]

    ranked = sorted(memories, key=rank)
    count = len(ranked)
    lines: list[str] = []
    size = 0
    entries = map(entry_of, ranked)
    for number, (line, name) in enumerate(entries):
        if not line:
            continue
        rest = 0 if number == count - 1 else _LAST_LINE_BYTES
        if len(lines) + 1 + bool(rest) > MAX_LINES or size + len(line.encode()) + 1 + rest > MAX_BYTES:
            lines.append(_left_out(count - number, chain([name], (name for _, name in entries))))
            break
        lines.append(line)
        size += len(line.encode()) + 1
    return "".join(f"{line}\n" for line in lines)


def entry(memory: Memory, folder: str = "") -> Entry:
    """The line of a memory and its short name; None if it must not reach a model."""
    if blocked_reason(memory):
        return "", ""
    return index_line(memory, folder), mask(_one_line(memory.name, 60))


def index_line(memory: Memory, folder: str = "") -> str:
    """`- [name](file.md) — description` on one line, with a label unless it is the user's word."""
    name = _one_line(memory.name, 100).replace("[", "(").replace("]", ")")
    file = f"{folder}{quote(memory.slug)}.md"
    about = _one_line(memory.description or memory.body, MAX_LINE_CHARS - 100)
    label = "" if memory.provenance.is_users else _LABELS[memory.provenance.who]
    return mask(f"- [{name}]({file}) — {about}{label}")


def _left_out(count: int, names: Iterable[str]) -> str:
    """The number of omitted memories, and as many names as fit; `outlive memory list` has all of them."""
    text = f"- … {count} more, not shown here (outlive memory list): "
    named: list[str] = []
    size = len(text.encode()) - 2
    for name in filter(None, names):
        size += len(name.encode()) + 2
        if size > _LAST_LINE_BYTES - 10:
            named.append("…")
            break
        named.append(name)
    return text + ", ".join(named)


def _one_line(text: str, longest: int) -> str:
    """The text without line ends, control characters and tags: it is shown in a system prompt."""
    shown = " ".join(visible(text[: longest * 8]).split())
    shown = _TAG.sub("&lt;", shown)
    return shown if len(shown) <= longest else shown[: longest - 1].rstrip() + "…"
