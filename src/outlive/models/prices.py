"""Windows, longest answers and prices of well-known models. Nothing is guessed for others.

Figures are those of the providers' own pages (platform.claude.com, developers.openai.com) in November 2026.
"""

import re

from msgspec import Struct

from outlive.models.protocol import Price

MILLION, LONG_GPT = 1_000_000, 272_000
_VERSIONED = re.compile(r"(?:[-@]\d{4}-?\d{2}-?\d{2})?(?:-v\d+:\d+)?|-latest|-0")
"""Suffixes of the same model: a date, the version of a gateway, an alias."""


class ModelFacts(Struct, frozen=True):
    """Facts about a model; 0 and None mean unknown."""

    window: int = 0
    output: int = 0
    price: Price | None = None


def facts(name: str) -> ModelFacts:
    """The facts about a model by its name, which may have the prefix of a gateway (`us.anthropic.claude-…`)."""
    plain = re.sub(r"^(?:[a-z]+[./])*(?=claude-|gpt-|o\d)", "", name)
    found = max((known for known in KNOWN if plain.startswith(known)), key=len, default="")
    return KNOWN[found] if found and _VERSIONED.fullmatch(plain[len(found) :]) else ModelFacts()


def _claude(window: int, output: int, input: float, answer: float, read: float = 0.1) -> ModelFacts:
    """Writing the cache costs 1.25 times the input price, reading it a tenth, less with the newest models."""
    return ModelFacts(window, output, Price(input, round(1.25 * input, 4), round(read * input, 4), answer))


def _gpt(window: int, output: int, input: float, cached: float, answer: float, *, long: bool = False) -> ModelFacts:
    """Writing the cache costs the input price."""
    price = Price(input, input, cached, answer, LONG_GPT, 2.0, 1.5) if long else Price(input, input, cached, answer)
    return ModelFacts(window, output, price)


def _gpt_writing(input: float, cached: float, answer: float) -> ModelFacts:
    """From 5.6 on, writing the cache costs 1.25 times the input price; the prompt may have 922,000 tokens."""
    return ModelFacts(922_000, 128_000, Price(input, 1.25 * input, cached, answer, LONG_GPT, 2.0, 1.5))


KNOWN: dict[str, ModelFacts] = {
    "claude-fable-5-1": _claude(MILLION, 128_000, 10, 50, read=0.025),
    "claude-fable-5": _claude(MILLION, 128_000, 10, 50),
    "claude-opus-5-5": _claude(MILLION, 128_000, 4, 20, read=0.05),
    "claude-opus-5": _claude(MILLION, 128_000, 5, 25),
    "claude-sonnet-5-5": _claude(MILLION, 128_000, 2, 10),
    "claude-sonnet-5": _claude(MILLION, 128_000, 2, 10),
    "claude-haiku-5-5": ModelFacts(MILLION, 128_000, Price(0.1, 0.125, 0.01, 0.5, 100_000, 5.0, 5.0)),
    "claude-opus-4-8": _claude(MILLION, 128_000, 5, 25),
    "claude-opus-4-7": _claude(MILLION, 128_000, 5, 25),
    "claude-opus-4-6": _claude(MILLION, 128_000, 5, 25),
    "claude-sonnet-4-6": _claude(MILLION, 64_000, 3, 15),
    "claude-opus-4-5": _claude(200_000, 64_000, 5, 25),
    "claude-sonnet-4-5": _claude(200_000, 64_000, 3, 15),
    "claude-haiku-4-5": _claude(200_000, 64_000, 1, 5),
    "claude-opus-4-1": _claude(200_000, 32_000, 15, 75),
    "claude-opus-4": _claude(200_000, 32_000, 15, 75),
    "claude-sonnet-4": _claude(200_000, 64_000, 3, 15),
    "gpt-6-astra": _gpt_writing(10, 1.0, 50),
    "gpt-6.1-sol": _gpt_writing(2, 0.1, 10),
    "gpt-6-sol": _gpt_writing(2, 0.2, 10),
    "gpt-5.6-sol": _gpt_writing(4, 0.4, 20),
    "gpt-5.6-terra": _gpt_writing(2, 0.2, 12),
    "gpt-5.6-luna": _gpt_writing(0.2, 0.02, 1.2),
    "gpt-5.5": _gpt(922_000, 128_000, 5, 0.5, 30, long=True),
    "gpt-5.4": _gpt(922_000, 128_000, 2.5, 0.25, 15, long=True),
    "gpt-5.4-mini": _gpt(272_000, 128_000, 0.75, 0.075, 4.5),
    "gpt-5.4-nano": _gpt(272_000, 128_000, 0.2, 0.02, 1.25),
    "gpt-5.2": _gpt(272_000, 128_000, 1.75, 0.175, 14),
    "gpt-5.1": _gpt(272_000, 128_000, 1.25, 0.125, 10),
    "gpt-5": _gpt(272_000, 128_000, 1.25, 0.125, 10),
    "gpt-5-mini": _gpt(272_000, 128_000, 0.25, 0.025, 2),
    "gpt-5-nano": _gpt(272_000, 128_000, 0.05, 0.005, 0.4),
    "gpt-4.1": _gpt(1_047_576, 32_768, 2, 0.5, 8),
    "gpt-4.1-mini": _gpt(1_047_576, 32_768, 0.4, 0.1, 1.6),
    "gpt-4.1-nano": _gpt(1_047_576, 32_768, 0.1, 0.025, 0.4),
    "gpt-4o": _gpt(128_000, 16_384, 2.5, 1.25, 10),
    "gpt-4o-mini": _gpt(128_000, 16_384, 0.15, 0.075, 0.6),
    "o4-mini": _gpt(200_000, 100_000, 1.1, 0.275, 4.4),
}
