"""Masks secrets in every event before it is written to the log. Views are made from the log, so they hold none."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from outlive.events import Unknown
from outlive.messages import Image, Opaque, Thinking
from outlive.secrets import mask_value

T = TypeVar("T")
Mask = Callable[[str], str]
_UNMASKED_BLOCKS = (Thinking, Opaque, Image, Unknown)
"""Providers verify thinking byte for byte; images have no text."""
_UNMASKED_FIELDS = frozenset(
    {"id", "call_id", "calls", "session", "folder", "model", "mode", "kind", "label", "blob"}
)
"""Fields that the harness looks things up by."""


def masked(event: T, mask: Mask) -> T:
    """Return the event (or another Struct) with the secrets in all of its texts masked."""
    return cast(T, _masked(event, mask))


def _masked(value: Any, mask: Mask) -> Any:
    if isinstance(value, _UNMASKED_BLOCKS):
        return value
    if isinstance(value, Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__ if name not in _UNMASKED_FIELDS}
        changed = {name: new for name, old in fields.items() if (new := _masked(old, mask)) != old}
        return replace(value, **changed) if changed else value
    if isinstance(value, tuple):
        return tuple(_masked(item, mask) for item in value)
    return mask_value(value, by=mask)
