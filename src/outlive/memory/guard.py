"""What a memory may not contain, and what only the user may say."""

import re
from typing import Any

from outlive.memory.errors import InvalidMemory, NeedsConfirmation, PoisonedMemory
from outlive.secrets import find, refuse
from outlive.stores.memories.records import KINDS, SCOPES, WHOS, Memory

MAX_NAME_CHARS = 200  # one line in lists
MAX_DESCRIPTION_CHARS = 2_000  # the index shows a part of it; what is longer belongs into the body

_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]|[\u200b\u2060]{3,}")
"""Characters that reorder text or hide it from people, but not from a model."""
_TAKES_OVER = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+|these\s+)?"
    r"(?:previous|prior|above|earlier|preceding|system|other)\s+(?:instructions?|prompts?|messages?|rules?|directives?)"
    r"|\byou are now (?:in )?(?:developer|god|dan|jailbreak|unrestricted)\b"
    r"|\b(?:do not|don't|never|without) (?:telling|tell|informing|inform|asking|alerting|alert) the user\b"
    r"|\b(?:reveal|print|repeat|send|post|upload|exfiltrate)\b[^.\n]{0,40}\b(?:system prompt|api keys?|credentials)\b"
    r"|\b(?:auto-?approve|skip|bypass|disable)\b[^.\n]{0,30}\b(?:permissions?|approvals?|confirmations?|safety)\b"
)
"""Texts that address a harness rather than the reader of a note."""
_SUSPECT = re.compile(
    r"(?i)ignor|disreg|forget|overr|are now|the user|prompt|credential|api key|ermission|pprov|nfirm|safety"
)
"""Cheap pre-check: such a text contains one of these."""


def poison(memory: Memory) -> str:
    """Why a memory must not reach a model, else empty."""
    if found := find(_everything(memory)):
        return f"contains what looks like a secret ({found[0].kind})"
    return _takes_over(memory.text)


def _everything(memory: Memory) -> str:
    """All text in its file, including unknown keys, a line each."""
    lines = [memory.text, memory.date, memory.provenance.session]
    pending: list[tuple[str, Any]] = list(memory.extra.items())
    while pending:
        key, value = pending.pop()
        if isinstance(value, dict):
            pending += value.items()
        elif isinstance(value, (list, tuple)):
            pending += [(key, item) for item in value]
        else:
            lines.append(f"{key}: {value}")
    return "\n".join(lines)


def _takes_over(text: str) -> str:
    if _HIDDEN.search(text):
        return "contains hidden or direction-changing characters"
    if _SUSPECT.search(text) and (match := _TAKES_OVER.search(text)):
        return f"speaks to the harness ({' '.join(match[0].split())[:60]!r})"
    return ""


def instructs(memory: Memory) -> bool:
    """Whether it tells an agent what to do, rather than stating a fact."""
    from outlive import instructions  # compiling its patterns takes longer than reading memories does

    return memory.type == "feedback" or instructions.instructs(f"{memory.text}\n{memory.date}")


def needs_confirmation(memory: Memory) -> bool:
    """Whether the user has to confirm it. Tools, pages and models may report; only the user gives instructions and
    says who the user is. A model's own words may come from a file."""
    return not memory.provenance.is_users and (memory.type == "user" or instructs(memory))


def blocked_reason(memory: Memory) -> str:
    """Why a stored memory is not shown to a model, else empty. Files may come from anywhere."""
    if memory.provenance.untrusted:
        return "came with the folder"
    return poison(memory) or ("instructs without the user's consent" if needs_confirmation(memory) else "")


def came_from(memory: Memory) -> str:
    """Who said it, as part of a sentence."""
    source = memory.provenance
    who = "page" if source.who == "web" else source.who
    return "came with the folder" if source.untrusted else f"comes from a {who}"


def checked(memory: Memory) -> Memory:
    """The memory, or an error that says why it may not be written."""
    what = f"the memory {memory.name[:60]!r}"
    if not memory.name.strip():
        raise InvalidMemory("a memory needs a name")
    if not memory.description.strip() and not memory.body.strip():
        raise InvalidMemory(f"{what} says nothing; give it a description or a body")
    choices: dict[str, tuple[str, tuple[str, ...]]] = {"type": (memory.type, KINDS), "scope": (memory.scope, SCOPES)}
    choices["who"] = (memory.provenance.who, WHOS)
    for field, (value, allowed) in choices.items():
        if value not in allowed:
            raise InvalidMemory(f"{what}: {field} is one of {', '.join(allowed)}, not {value!r}")
    for field, limit in (("name", MAX_NAME_CHARS), ("description", MAX_DESCRIPTION_CHARS)):
        if (length := len(getattr(memory, field))) > limit:
            raise InvalidMemory(f"{what}: the {field} has {length} characters, the limit is {limit}")
    refuse(_everything(memory), what)
    if reason := _takes_over(memory.text):
        raise PoisonedMemory(f"{what} {reason}; it was not written. Say in your own words what is to be remembered")
    if needs_confirmation(memory):
        raise NeedsConfirmation(f"{what} instructs, and {came_from(memory)}", hint="only the user can confirm it")
    return memory
