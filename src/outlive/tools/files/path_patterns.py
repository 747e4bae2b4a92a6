"""Path patterns: `*` and `?` within a name, `**` for any folders, `{a,b}` for alternatives, `[abc]` for a set."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate

from outlive.tools.protocol import ToolError

ANY_FOLDERS = "**"
MAX_ALTERNATIVES = 64
"""Alternatives that braces may expand to."""
_WILD = re.compile(r"[*?\[{]")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


class PathPattern:
    """Matches the parts of a path. A pattern without a slash matches the name at any depth."""

    def __init__(self, pattern: str) -> None:
        whole = pattern if "/" in pattern else f"**/{pattern}"
        self._ways = [_segments(way) for way in _without_braces(whole)]

    def matches(self, parts: Sequence[str]) -> bool:
        return any(_fits(way, parts) for way in self._ways)


def split_fixed(pattern: str) -> tuple[str, str]:
    """Split a pattern into its fixed folder and the rest: `src/app/**/*.py` into `src/app` and `**/*.py`."""
    parts = pattern.split("/")
    count = next((at for at, part in enumerate(parts) if _WILD.search(part)), len(parts) - 1)
    fixed, rest = "/".join(parts[:count]), "/".join(parts[count:])
    return (fixed or "/") if pattern.startswith("/") else fixed, rest


def _segments(pattern: str) -> list[re.Pattern[str] | None]:
    """A pattern for each name; None means any folders."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ToolError(f"the pattern {pattern!r} goes up with ..; give the folder as path")
    if parts and parts[-1] == ANY_FOLDERS:
        parts.append("*")
    return [None if part == ANY_FOLDERS else re.compile(translate(part)) for part in parts]


def _fits(way: Sequence[re.Pattern[str] | None], parts: Iterable[str]) -> bool:
    """Advance all positions in the pattern together, name by name, so that no pattern is slow."""
    here = _past_any(way, {0})
    for part in parts:
        following = set()
        for at in here:
            if at < len(way):
                segment = way[at]
                if segment is None:
                    following.add(at)
                elif segment.match(part):
                    following.add(at + 1)
        here = _past_any(way, following)
    return len(way) in here


def _past_any(way: Sequence[re.Pattern[str] | None], places: set[int]) -> set[int]:
    found = set(places)
    for at in sorted(places):
        while at < len(way) and way[at] is None:
            at += 1
            found.add(at)
    return found


def _without_braces(pattern: str) -> list[str]:
    ways = [pattern]
    while any(_BRACES.search(way) for way in ways):
        ways = [
            way[: found.start()] + choice + way[found.end() :] if found else way
            for way in ways
            for found in [_BRACES.search(way)]
            for choice in (found[1].split(",") if found else [""])
        ]
        if len(ways) > MAX_ALTERNATIVES:
            raise ToolError(f"the braces of {pattern!r} stand for more than {MAX_ALTERNATIVES} patterns")
    return ways
