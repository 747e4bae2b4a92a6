"""MEMORY.md: one line for each memory, in the system prompt always, and therefore capped.

What does not fit is chosen by rank, not by age, and is named: a correction is never crowded out by what it corrects.
"""

import re
from collections.abc import Sequence
from urllib.parse import quote

from outlive.memory.guard import withheld
from outlive.secrets import mask
from outlive.stores.memory_records import Memory

TITLE = "What is remembered (memory_search finds the rest of each)"
"""Over the index in a system prompt, where it stands last."""
MAX_LINES = 200
MAX_BYTES = 25 * 1024
LONGEST_LINE = 240
_NAMED = 700
"""Bytes for the last line, which names what was left out."""
_TAG = re.compile(r"<(?=[/!?A-Za-z])")


def rank(memory: Memory) -> tuple[int, float, str]:
    """What stays first: how to work and what was corrected, the newest first; then the rest, the newest first."""
    told = memory.type == "feedback" or bool(memory.supersedes)
    return (0 if told else 1, -memory.updated.timestamp(), memory.slug)


def index_text(memories: Sequence[Memory], *, under: dict[str, str] | None = None) -> str:
    """The index of these memories; `under` puts a folder before the files of a scope."""
    ranked = sorted(memories, key=rank)
    lines: list[str] = []
    size = 0
    for number, memory in enumerate(ranked):
        if withheld(memory):
            continue
        line = index_line(memory, (under or {}).get(memory.scope, ""))
        rest = 0 if number == len(ranked) - 1 else _NAMED
        if len(lines) + 1 + bool(rest) > MAX_LINES or size + len(line.encode()) + 1 + rest > MAX_BYTES:
            lines.append(_left_out(ranked[number:]))
            break
        lines.append(line)
        size += len(line.encode()) + 1
    return "".join(f"{line}\n" for line in lines)


def index_line(memory: Memory, folder: str = "") -> str:
    """`- [name](file.md) — description`, on one line whatever is in them."""
    name = _one_line(memory.name, 100).replace("[", "(").replace("]", ")")
    file = f"{folder}{quote(memory.slug)}.md"
    about = _one_line(memory.description or memory.body, LONGEST_LINE - 100)
    return mask(f"- [{name}]({file}) — {about}")


def _left_out(left: Sequence[Memory]) -> str:
    """How many, and which as far as there is room; `outlive memory list` has all of them."""
    text = f"- … {len(left)} more, not shown here (outlive memory list): "
    names: list[str] = []
    for memory in left:
        if withheld(memory):
            continue
        name = mask(_one_line(memory.name, 60))
        if len((text + ", ".join([*names, name])).encode()) > _NAMED - 10:
            names.append("…")
            break
        names.append(name)
    return text + ", ".join(names)


def _one_line(text: str, longest: int) -> str:
    """No line ends, no control characters, no tags: it stands in a system prompt."""
    shown = " ".join("".join(c if c.isprintable() else " " for c in text[: longest * 8]).split())
    shown = _TAG.sub("&lt;", shown)
    return shown if len(shown) <= longest else shown[: longest - 1].rstrip() + "…"
