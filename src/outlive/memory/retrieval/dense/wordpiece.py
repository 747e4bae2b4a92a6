"""Text to the token numbers that BERT models were trained on (the uncased vocabulary of 30,522 pieces).

The `tokenizers` package does the same, faster, and brings a hub client with an HTTP stack along; a test holds this
one to what that one answers.
"""

import re
import unicodedata
from functools import lru_cache
from importlib.resources import files

UNKNOWN, START, END = 100, 101, 102
MARKER_TOKENS = 2
"""The start and end markers of a text."""
_MAX_WORD_CHARS = 100  # as in BERT's tokenizer: longer words are unknown
_CONTROL = ("Cc", "Cf", "Co", "Cs")
_CJK = re.compile(
    "([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b820-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f])"
)
_MAX_CHARS_PER_TOKEN = 32
"""Bounds the characters that are read for each requested token."""


def token_numbers(text: str, head: int, tail: int = 0) -> list[int]:
    """The first `head` tokens and the last `tail` of the rest, between the markers."""
    reach = (head + tail) * _MAX_CHARS_PER_TOKEN
    if len(text) <= 2 * reach:
        found = _numbers(text)
    else:
        found = _numbers(text[:reach])[:head] + (_numbers(text[-reach:])[-tail:] if tail else [])
    if len(found) > head + tail:
        found = found[:head] + (found[-tail:] if tail else [])
    return [START, *found, END]


def _numbers(text: str) -> list[int]:
    return [number for word in _words(text) for number in _pieces(word)]


def _words(text: str) -> list[str]:
    clean = "".join(" " if sign in "\t\n\r" else sign for sign in text if not _is_control(sign))
    bare = unicodedata.normalize("NFD", _CJK.sub(r" \1 ", clean))
    lowered = "".join(sign for sign in bare if unicodedata.category(sign) != "Mn").lower()
    return "".join(f" {sign} " if _is_punctuation(sign) else sign for sign in lowered).split()


@lru_cache(maxsize=1 << 14)
def _pieces(word: str) -> tuple[int, ...]:
    """Greedy: the longest known piece, then the longest that continues it."""
    if len(word) > _MAX_WORD_CHARS:
        return (UNKNOWN,)
    known = _vocabulary()
    found: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            number = known.get(mark + word[start:end])
            if number is not None:
                found.append(number)
                start = end
                break
        else:
            return (UNKNOWN,)
    return tuple(found)


@lru_cache(maxsize=1)
def _vocabulary() -> dict[str, int]:
    lines = files("outlive.memory.retrieval.dense").joinpath("vocab.txt").read_text("utf-8").split("\n")
    return {piece: number for number, piece in enumerate(lines) if piece}


def _is_control(sign: str) -> bool:
    return sign not in "\t\n\r" and (sign == "\ufffd" or unicodedata.category(sign) in _CONTROL)


@lru_cache(maxsize=1 << 12)
def _is_punctuation(sign: str) -> bool:
    return (sign.isascii() and sign.isprintable() and not sign.isalnum() and sign != " ") or unicodedata.category(
        sign
    ).startswith("P")
