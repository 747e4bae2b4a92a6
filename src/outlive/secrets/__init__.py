"""Secrets in text: found before they are written, masked before they are shown.

The detectors of detect-secrets know the keys of most providers; the rules here add what they miss (keys of model
providers, fine-grained tokens, passwords in plain sentences) and drop what is only long (hashes, uuids, paths).
The library is loaded when a text has something in it that could be a secret, so a look at ordinary text costs little.
"""

from typing import Any

from outlive.errors import OutliveError
from outlive.secrets.finding import assigned, blocks, known, spoken
from outlive.secrets.library import from_library
from outlive.secrets.places import Secret


class SecretFound(OutliveError):
    """A text has a secret in it and was not written. The message names the kind, never the value."""


def find(text: str) -> list[Secret]:
    """All secrets in a text, in order, none within another."""
    lowered = text.lower()
    lowered = lowered if len(lowered) == len(text) else text
    found = [
        *blocks(text),
        *known(text),
        *assigned(text, lowered),
        *spoken(text, lowered),
        *from_library(text, lowered),
    ]
    apart: list[Secret] = []
    for secret in sorted(found, key=_by_place):
        if not apart or secret.start >= apart[-1].end:
            apart.append(secret)
        elif secret.end > apart[-1].end:
            apart[-1] = Secret(apart[-1].start, secret.end, apart[-1].kind)
    return apart


def refuse(text: str, what: str) -> None:
    """Raise SecretFound when there is one; `what` is the thing that was to be written."""
    kinds = list(dict.fromkeys(secret.kind for secret in find(text)))
    if kinds:
        raise SecretFound(
            f"{what} contains what looks like a secret ({', '.join(kinds)}); it was not written. "
            "Say where the secret is kept instead of the secret"
        )


def mask(text: str) -> str:
    """The text with each secret replaced by its kind. Masking twice changes nothing."""
    parts, end = [], 0
    for secret in find(text):
        parts += [text[end : secret.start], f"[masked {secret.kind}]"]
        end = secret.end
    return "".join([*parts, text[end:]]) if parts else text


def mask_value(value: Any, name: str = "") -> Any:
    """A value of JSON with every text in it masked, keys too; what is called a password is one at any depth."""
    if isinstance(value, str):
        head = f"{name}: "
        shown = mask(head + value) if name else mask(value)
        return shown.removeprefix(head) if name and shown.startswith(head) else mask(value)
    if isinstance(value, dict):
        return {mask(str(key)): mask_value(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask_value(item, name) for item in value]
    return value


def _by_place(secret: Secret) -> tuple[int, int]:
    return secret.start, -secret.end
