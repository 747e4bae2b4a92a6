"""A question, and what the engine found out about it."""

from collections.abc import Callable

from msgspec import Struct


class QuizFinding(Struct, frozen=True):
    """The result of an experiment."""

    right: int
    """Which choice is right, counted from 0."""
    evidence: str
    """What the engine did, and what came of it."""


class QuizQuestion(Struct, frozen=True):
    """One question of the quiz. It does not hold its answer: `check` asks the engine."""

    id: str
    topic: str
    text: str
    choices: tuple[str, ...]
    check: Callable[[], QuizFinding]
    reason: str
    source: str
    """Key of the code that decided and of its documentation (`sources.py`)."""
