"""Cache diagnosis: where a request differs from the one that produced an earlier message.

Only requests with the field `diagnostics` are remembered, and of each only hashes and a length.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from outlive.testing.simulator.anthropic.checks.fields import check_fields
from outlive.testing.simulator.anthropic.prompt import block_bytes, blocks_of, pieces_of
from outlive.testing.simulator.tokens import block_characters, compact, tokens_of, tool_characters

MAX_REMEMBERED = 1000
"""How many messages are remembered."""
HASH_BYTES = 8
"""Bytes of each hash."""
OTHER_PARAMETERS = ("tool_choice", "thinking", "context_management", "output_config")


@dataclass(frozen=True)
class PromptFingerprint:
    """The hashes of a request. The hashes of its messages are one string of bytes."""

    model: bytes
    tools: bytes
    system: bytes
    others: bytes
    messages: bytes
    characters: int


@dataclass
class CacheDiagnosis:
    """The fingerprints of the last requests, by the id of their answer. Thread-safe."""

    _known: OrderedDict[str, PromptFingerprint] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, body: dict[str, Any], betas: Collection[str], message_id: str) -> dict[str, Any] | None:
        """Compare a request with an earlier one, and remember it. None if nothing differs or is to be compared."""
        asked = body.get("diagnostics")
        if asked is None:
            return None
        now = _fingerprint(body, betas)
        with self._lock:
            before = self._known.get(asked.get("previous_message_id") or "")
            self._known[message_id] = now
            if len(self._known) > MAX_REMEMBERED:
                self._known.popitem(last=False)
        if asked.get("previous_message_id") is None:
            return None
        reason = _difference(before, now, body) if before else {"type": "previous_message_not_found"}
        return {"cache_miss_reason": reason} if reason else None


def check_diagnostics(diagnostics: Any) -> None:
    if diagnostics is not None:
        check_fields(diagnostics, "diagnostics.", {}, {"previous_message_id": str})


def _fingerprint(body: dict[str, Any], betas: Collection[str]) -> PromptFingerprint:
    return PromptFingerprint(
        _hash(compact([body["model"], body.get("speed")])),
        _hash(*(block_bytes(tool) for tool in body.get("tools") or [])),
        _hash(*(block_bytes(block) for block in blocks_of(body.get("system") or []))),
        _hash(compact([[body.get(name) for name in OTHER_PARAMETERS], sorted(betas)])),
        b"".join(_message_hash(message) for message in body["messages"]),
        sum(piece.characters for piece in pieces_of(body)),
    )


def _difference(before: PromptFingerprint, now: PromptFingerprint, body: dict[str, Any]) -> dict[str, Any] | None:
    """Return the earliest difference, in the order of the prompt."""
    tools = sum(tool_characters(tool) for tool in body.get("tools") or [])
    system = sum(block_characters(block) for block in blocks_of(body.get("system") or []))
    if before.model != now.model:
        return _changed("model_changed", before, 0)
    if before.tools != now.tools:
        return _changed("tools_changed", before, 0)
    if before.system != now.system:
        return _changed("system_changed", before, tools)
    if before.others != now.others:
        return {"type": "unavailable"}
    if now.messages.startswith(before.messages):
        return None
    same = _messages_in_common(before.messages, now.messages)
    shown = pieces_of({"messages": body["messages"][:same]})
    return _changed("messages_changed", before, tools + system + sum(piece.characters for piece in shown))


def _changed(kind: str, before: PromptFingerprint, characters: int) -> dict[str, Any]:
    """Describe a change after so many characters that are the same."""
    return {"type": kind, "cache_missed_input_tokens": tokens_of(max(0, before.characters - characters))}


def _messages_in_common(one: bytes, other: bytes) -> int:
    pairs = ((one[at : at + HASH_BYTES], other[at : at + HASH_BYTES]) for at in range(0, len(one), HASH_BYTES))
    return next(index for index, (left, right) in enumerate(pairs) if left != right)


def _message_hash(message: dict[str, Any]) -> bytes:
    manner = compact([message["role"], message.get("clear_at")])
    return _hash(manner, *(block_bytes(block) for block in blocks_of(message["content"])))


def _hash(*pieces: bytes) -> bytes:
    state = hashlib.sha256()
    for piece in pieces:
        state.update(len(piece).to_bytes(8) + piece)
    return state.digest()[:HASH_BYTES]
