"""How much a model is to think: one word for all providers, `off`, `low`, `medium` or `high`."""

from collections.abc import Mapping

from outlive.models.errors import ModelNotSetUp

EFFORTS = ("off", "low", "medium", "high")
VARIABLE = "OUTLIVE_EFFORT"
BUDGETS = {"off": 0, "low": 2_000, "medium": 8_000, "high": 24_000}
"""Tokens, for models that take a budget."""


def read_effort(environment: Mapping[str, str]) -> str:
    """The effort that the environment asks for; empty for the model's own. Raises ModelNotSetUp for anything else."""
    word = environment.get(VARIABLE, "").strip().lower()
    if word and word not in EFFORTS:
        raise ModelNotSetUp(f"{VARIABLE} is {word!r}; it is one of {', '.join(EFFORTS)}")
    return word


def split_effort(text: str) -> tuple[str, str]:
    """Model and effort of `NAME`, `NAME high` or `high`; either may be empty."""
    words = text.split()
    effort = words.pop() if words and words[-1].lower() in EFFORTS else ""
    return " ".join(words), effort.lower()
