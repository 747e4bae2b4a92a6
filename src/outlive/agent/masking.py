"""Secrets never reach the log: every event is masked before it is written. Views are made of the log."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from outlive.events import Unknown
from outlive.messages import Image, Opaque, Thinking
from outlive.secrets import mask_value

T = TypeVar("T")
Mask = Callable[[str], str]
_AS_THEY_ARE = (Thinking, Opaque, Image, Unknown)
"""A provider checks its thinking to the letter; pictures have no text."""
_NAMES = frozenset({"id", "call_id", "calls", "session", "folder", "model", "mode", "kind", "label", "blob"})
"""Fields by which the harness finds things again."""


def masked(event: T, mask: Mask) -> T:
    """The event, or another Struct, with the secrets in all of its texts masked."""
    return cast(T, _masked(event, mask))


def _masked(value: Any, mask: Mask) -> Any:
    if isinstance(value, _AS_THEY_ARE):
        return value
    if isinstance(value, Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__ if name not in _NAMES}
        changed = {name: new for name, old in fields.items() if (new := _masked(old, mask)) != old}
        return replace(value, **changed) if changed else value
    if isinstance(value, tuple):
        return tuple(_masked(item, mask) for item in value)
    return mask_value(value, by=mask)
