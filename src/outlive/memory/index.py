"""MEMORY.md: one line for each memory, in the system prompt always, and therefore capped.

What does not fit is chosen by rank, not by age, and is named: a correction is never crowded out by what it corrects.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from urllib.parse import quote

from outlive.memory.guard import blocked_reason
from outlive.secrets import mask
from outlive.stores.memories.records import Memory

TITLE = "What is remembered (memory_search finds the rest of each)"
"""Heading of the index, which is the last part of a system prompt."""
MAX_LINES = 200
MAX_BYTES = 25 * 1024
LONGEST_LINE = 240
_NAMED = 700
"""Bytes for the last line, which names what was left out."""
_LABELS = {"user": "", "model": " (the model's reading)", "tool": " (from a tool)", "web": " (from the web)"}
_TAG = re.compile(r"<(?=[/!?A-Za-z])")


def rank(memory: Memory) -> tuple[int, float, str]:
    """What stays first: how to work and what was corrected, the newest first; then the rest, the newest first."""
    told = memory.type == "feedback" or bool(memory.supersedes)
    return (0 if told else 1, -memory.updated.timestamp(), memory.slug)


Entry = tuple[str, str]
"""The line of a memory, and its short name."""


def index_text(
    memories: Sequence[Memory],
    *,
    user_folder: str = "",
    made: dict[str, tuple[Memory, Entry]] | None = None,
) -> str:
    """The index of these memories; `user_folder` goes before files of the user-wide ones. `made` keeps the entries
    of one store by slug for the next time: the search for secrets in 200 takes longer than all the rest."""
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
        rest = 0 if number == count - 1 else _NAMED
        if len(lines) + 1 + bool(rest) > MAX_LINES or size + len(line.encode()) + 1 + rest > MAX_BYTES:
            lines.append(_left_out(count - number, chain([name], (name for _, name in entries))))
            break
        lines.append(line)
        size += len(line.encode()) + 1
    return "".join(f"{line}\n" for line in lines)


def entry(memory: Memory, folder: str = "") -> Entry:
    """The line of a memory and its short name; nothing for one that must not reach a model."""
    if blocked_reason(memory):
        return "", ""
    return index_line(memory, folder), mask(_one_line(memory.name, 60))


def index_line(memory: Memory, folder: str = "") -> str:
    """`- [name](file.md) — description`, on one line whatever is in them; what is not the user's word says so."""
    name = _one_line(memory.name, 100).replace("[", "(").replace("]", ")")
    file = f"{folder}{quote(memory.slug)}.md"
    about = _one_line(memory.description or memory.body, LONGEST_LINE - 100)
    label = "" if memory.provenance.is_users else _LABELS[memory.provenance.who]
    return mask(f"- [{name}]({file}) — {about}{label}")


def _left_out(count: int, names: Iterable[str]) -> str:
    """How many, and which as far as there is room; `outlive memory list` has all of them."""
    text = f"- … {count} more, not shown here (outlive memory list): "
    named: list[str] = []
    size = len(text.encode()) - 2
    for name in filter(None, names):
        size += len(name.encode()) + 2
        if size > _NAMED - 10:
            named.append("…")
            break
        named.append(name)
    return text + ", ".join(named)


def _one_line(text: str, longest: int) -> str:
    """No line ends, no control characters, no tags: it is shown in a system prompt."""
    shown = " ".join("".join(c if c.isprintable() else " " for c in text[: longest * 8]).split())
    shown = _TAG.sub("&lt;", shown)
    return shown if len(shown) <= longest else shown[: longest - 1].rstrip() + "…"
