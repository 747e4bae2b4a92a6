"""How thinking is requested: each generation of Claude has its own form and refuses the others."""

import re
from typing import Any

MIN_BUDGET, USUAL = 1_024, 8_000
"""Tokens of a budget: the minimum, and the meaning of `on`."""
ALWAYS_THINKING = ("fable", "mythos")
_VERSION = re.compile(r"claude-(?P<line>[a-z]+)-(?P<major>\d{1,2})(?:-(?P<minor>\d{1,2}))?(?!\d)")
Version = tuple[int, int]
ADAPTIVE_FROM: Version = (4, 6)
UNASKED_FROM: Version = (5, 0)
BETWEEN_FROM: Version = (5, 5)
BOUND_FROM: Version = (5, 5)
ALWAYS_BOUND_FROM: Version = (5, 1)
SUMMARIZES_FROM: Version = (4, 6)
SUMMARIZES_HAIKU_FROM: Version = (5, 5)
SYSTEM_TURNS_FROM: Version = (5, 5)
OPUS_SYSTEM_TURNS_FROM: Version = (4, 8)
OUTPUT_FORMAT_FROM: Version = (4, 5)
ADAPTIVE = {"type": "adaptive", "display": "summarized"}
"""With summaries: text between calls arrives as thinking too."""


def thinking_form(name: str, wanted: int | None) -> dict[str, Any] | None:
    """The field `thinking`, or None to leave it out. `wanted`: None for the model's default, 0 off, else a budget."""
    line, version = version_of(name)
    if version < ADAPTIVE_FROM:
        return {"type": "enabled", "budget_tokens": max(MIN_BUDGET, wanted)} if wanted else None
    if wanted or (wanted is None and version >= UNASKED_FROM):
        return dict(ADAPTIVE)
    if wanted is None or version < UNASKED_FROM:
        return None
    if line in ALWAYS_THINKING or (line == "opus" and version >= BETWEEN_FROM):
        return dict(ADAPTIVE)
    return {"type": "between_tools" if version >= BETWEEN_FROM else "disabled"}


def binds_thinking(name: str) -> bool:
    """Whether thinking of this model is valid only after exactly the same prefix."""
    line, version = version_of(name)
    return version >= (ALWAYS_BOUND_FROM if line in ALWAYS_THINKING else BOUND_FROM)


def summarizes(name: str) -> bool:
    """Whether the provider summarizes conversations with this model, and takes such a summary back."""
    line, version = version_of(name)
    return version >= (SUMMARIZES_HAIKU_FROM if line == "haiku" else SUMMARIZES_FROM)


def takes_system_turns(name: str) -> bool:
    """Whether messages of the system may stand in the middle of the conversation."""
    line, version = version_of(name)
    if line in ALWAYS_THINKING:
        return True
    return version >= (OPUS_SYSTEM_TURNS_FROM if line == "opus" else SYSTEM_TURNS_FROM)


def enforces_output(name: str) -> bool:
    """Whether the provider enforces an output format on answers of this model."""
    return version_of(name)[1] >= OUTPUT_FORMAT_FROM


def takes_effort(name: str) -> bool:
    """Whether the model is told an effort; older ones take a budget of tokens."""
    return version_of(name)[1] >= ADAPTIVE_FROM


def version_of(name: str) -> tuple[str, Version]:
    """The line and the version in a model's name; ("", (0, 0)) without one."""
    found = _VERSION.search(name)
    return (found["line"], (int(found["major"]), int(found["minor"] or 0))) if found else ("", (0, 0))


def read_thinking(setting: str | None) -> int | None:
    """`OUTLIVE_THINKING`: unset, `off`, `on`, or a budget in tokens. Raises ValueError for anything else."""
    word = (setting or "").strip().lower()
    if not word:
        return None
    if word in ("off", "no", "false"):
        return 0
    if word in ("on", "yes", "true"):
        return USUAL
    if not word.isdecimal():
        raise ValueError(f"OUTLIVE_THINKING is {setting!r}; it takes on, off or a number of tokens")
    return int(word)
