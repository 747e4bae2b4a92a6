"""Slugs: the file name of a memory without its suffix, made from its name once. A slug never leads out of the
folder."""

import hashlib
import re
import unicodedata
from collections.abc import Callable

MAX_SLUG_CHARS = 60  # a file name that fits a line of the index
_MAX_FOUND_CHARS = 200  # of names that people chose
_RESERVED = frozenset(
    ["memory", "readme", "con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(10))]
)
"""Other files of the folder, and names that some file systems keep for themselves."""


def is_slug(text: str) -> bool:
    """Whether a file of that name can be a memory. People choose any name; ours are plainer."""
    return (
        0 < len(text) <= _MAX_FOUND_CHARS
        and text.isprintable()
        and not text.startswith(".")
        and not {"/", "\\"} & set(text)
        and text.lower() not in ("memory", "readme")
    )


def slug_of(name: str) -> str:
    """A file name for a memory of that name. Different names may have the same slug."""
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", folded.lower()).strip("-")
    lost = sum(character.isalnum() for character in name) - sum(character.isalnum() for character in folded)
    if not words or lost > len(words) // 2 or words in _RESERVED:
        digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
        words = f"{words[:MAX_SLUG_CHARS]}-{digest}".strip("-")
    return words[:MAX_SLUG_CHARS].strip("-")


def free_slug(name: str, taken: Callable[[str], bool]) -> str:
    """The slug of a new memory, with a number if it is taken."""
    slug, number = slug_of(name), 1
    found = slug
    while taken(found):
        number += 1
        found = f"{slug}-{number}"
    return found
