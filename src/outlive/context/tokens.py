"""Counting tokens without a tokenizer: an estimate by characters, corrected by what the provider reports."""

import re

from msgspec import Struct

CHARS_PER_TOKEN = 3.2
"""Of code and English; reports of the provider correct it."""
IMAGE_TOKENS = 1600
"""Of a picture of the largest size that is not scaled down."""
BLOCK_TOKENS = 4
"""Roles, brackets and ids around a block."""

# East Asian scripts and symbols beyond: about one token a character, where Latin text needs a third of one.
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\U0001f000-\U0003ffff]")
_ASCII = bytes(range(0x80))


def estimate(text: str) -> float:
    """Tokens of `text`, unrounded."""
    if text.isascii():
        return len(text) / CHARS_PER_TOKEN
    wide = _wide(text)
    return wide + (len(text) - wide) / CHARS_PER_TOKEN


def _wide(text: str) -> int:
    other = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)  # much faster than to search all of it
    return len(_WIDE.findall(other.decode("utf-8", "surrogatepass")))


class Meter(Struct, frozen=True):
    """How much the provider's count differs from the estimate in this session."""

    ratio: float = 1.0
    reports: int = 0

    def reported(self, estimated: float, actual: int) -> "Meter":
        """Learn from one report. The newest weighs most; one wild report cannot ruin the session."""
        if estimated <= 0 or actual <= 0:
            return self
        seen = min(max(actual / estimated, 0.4), 3.0)
        weight = 0.5 if self.reports else 1.0
        return Meter(self.ratio + (seen - self.ratio) * weight, self.reports + 1)

    def tokens(self, estimated: float) -> int:
        """The estimate as the provider would count it."""
        return round(estimated * self.ratio)
