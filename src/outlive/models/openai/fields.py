"""Fields of answers, which servers may leave out or send in another type."""

from typing import Any

from outlive.models.protocol import Usage
from outlive.models.sanitize import whole


def field(thing: Any, name: str) -> Any:
    """A field of an object of the SDK, or of a plain one; None if it has none."""
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def text_of(value: Any) -> str:
    """A text; empty for anything else."""
    return value if isinstance(value, str) else ""


def listed(value: Any) -> list[Any]:
    """A list; empty for anything else."""
    return value if isinstance(value, list) else []


def usage_of(prompt: Any, details: Any, answer: Any) -> Usage:
    """The usage; OpenAI counts cached tokens as part of the prompt, we do not."""
    read, write = whole(field(details, "cached_tokens")), whole(field(details, "cache_write_tokens"))
    return Usage(max(0, whole(prompt) - read - write), write, read, whole(answer))
