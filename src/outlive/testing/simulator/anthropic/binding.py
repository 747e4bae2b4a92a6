"""Thinking bound to the conversation before it.

A signature of a model that binds records four hashes: of `system`, of `tools`, of every block before the thinking
block, and of the thinking block before it. Thinking and breakpoints are not part of the first three. As the record is
in the signature, any simulator with the same key can check it.

The hash of the messages is a chain, so that it can go on from a record. The signature of a compaction block records
the heads of the chain after the messages that it summarizes. In a request that starts with such a block there are
several heads: of what is sent, and of each conversation that the block replaces. Thinking is valid at any of them.
"""

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from outlive.testing.simulator.anthropic.checks.messages import turn_scoped
from outlive.testing.simulator.anthropic.compaction import COMPACTION, is_noop, starts_with_block
from outlive.testing.simulator.anthropic.prompt import block_bytes, blocks_of
from outlive.testing.simulator.anthropic.signing import record_of

HASH_DIGITS = 12
"""Hexadecimal digits of each hash in a record."""
NONE = "0" * HASH_DIGITS
"""In place of the hash of the thinking block before, if there is none."""
THINKING = ("thinking", "redacted_thinking")


@dataclass(frozen=True)
class BindingMismatch:
    """A thinking block that fails the check, and what differs."""

    path: str
    reason: str


class PrefixHash:
    """The hashes of a conversation up to a place; grows block by block."""

    def __init__(self, body: dict[str, Any]) -> None:
        tools = [tool for tool in body.get("tools") or [] if not tool.get("defer_loading")]
        self._system = _hash(*map(block_bytes, blocks_of(body.get("system") or [])))
        self._tools = _hash(*map(block_bytes, tools))
        self._heads = [NONE]
        """The head of what is sent, then those of the conversations that a compaction block replaces."""
        self._summarized = self._heads_before(body["messages"])
        self._last_role: str = body["messages"][-1]["role"]

    def add(self, role: str, block: dict[str, Any]) -> None:
        """Continue after a block; thinking is not part of the prefix. The role says too if it is turn-scoped."""
        if block["type"] in THINKING or is_noop(block):
            return
        data = role.encode() + b"\n" + block_bytes(block)
        self._heads = [_hash(head.encode(), data) for head in self._heads]
        if block["type"] == COMPACTION:
            self._heads += self._summarized

    def record(self, previous: str) -> str:
        """Return the record of a thinking block at this place, after the thinking block with this hash."""
        return self._system + self._tools + self._heads[0] + previous

    def summary_record(self) -> str:
        """Return the record of a compaction block that replaces the whole request."""
        return self._system + self._tools + self._last_role[0] + "".join(self._heads)

    def _heads_before(self, messages: list[dict[str, Any]]) -> list[str]:
        """Return the heads that the compaction block of a request continues.

        None if `system` or `tools` differ, or if the first message after the block would be merged into the last one
        that it summarizes.
        """
        record = record_of(messages[0]["content"][0].get("signature") or "") if starts_with_block(messages) else ""
        if not record.startswith(self._system + self._tools):
            return []
        kept = messages[0] if len(messages[0]["content"]) > 1 else messages[:2][-1]
        last_role, heads = record[2 * HASH_DIGITS], record[2 * HASH_DIGITS + 1 :]
        if kept["role"][0] == last_role:
            return []
        return [heads[at : at + HASH_DIGITS] for at in range(0, len(heads), HASH_DIGITS)]

    def difference(self, signature: str, previous: str | None) -> str:
        """Return what differs from when a thinking block was made; empty if nothing does.

        `previous` is the hash of the thinking block before it, or None for the first block of the request, which may
        have come after any.
        """
        record = record_of(signature)
        if not record:
            return "The block carries no record of the conversation that it was created in."
        system, tools, messages, before = (
            record[at : at + HASH_DIGITS] for at in range(0, 4 * HASH_DIGITS, HASH_DIGITS)
        )
        if system != self._system:
            return "The `system` prompt differs from when the block was created."
        if tools != self._tools:
            return "The `tools` list differs from when the block was created."
        if messages not in self._heads:
            return "Content before this block differs from when it was created."
        if previous not in (None, before):
            return "The thinking block before this one is not the one that it was created after."
        return ""


def mismatches(body: dict[str, Any], *, enforced: bool) -> list[BindingMismatch]:
    """Return the thinking blocks that fail, in order.

    Enforced, a failing block counts as absent for the blocks after it, and takes the rest of its run of thinking
    with it; otherwise each block is judged on its own.
    """
    prefix, found, failing = PrefixHash(body), list[BindingMismatch](), False
    previous: str | None = None
    for path, role, block in _walk(body["messages"]):
        if block["type"] != "thinking":
            prefix.add(role, block)
            failing = False
            continue
        reason = prefix.difference(block["signature"], previous)
        if failing and enforced:
            reason = reason or "The thinking block before this one fails the check."
        if reason:
            found.append(BindingMismatch(path, reason))
        failing = bool(reason)
        previous = (previous or NONE) if failing and enforced else hash_of(block["signature"])
    return found


def prefix_of(body: dict[str, Any], dropped: Collection[str]) -> tuple[PrefixHash, str]:
    """Return the hashes at the end of a request, and the hash of the last thinking block that the model is shown."""
    prefix, previous = PrefixHash(body), NONE
    for path, role, block in _walk(body["messages"]):
        prefix.add(role, block)
        if block["type"] == "thinking" and path not in dropped:
            previous = hash_of(block["signature"])
    return prefix, previous


def without(body: dict[str, Any], paths: Collection[str]) -> dict[str, Any]:
    """Return a body without the blocks at some paths."""
    messages = []
    for index, message in enumerate(body["messages"]):
        content = message["content"]
        if isinstance(content, list):
            content = [block for at, block in enumerate(content) if f"messages.{index}.content.{at}" not in paths]
        messages.append({**message, "content": content})
    return {**body, "messages": messages}


def hash_of(signature: str) -> str:
    """Return the hash by which a later thinking block names this one."""
    return _hash(signature.encode())


def _walk(messages: list[dict[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the path, the role and the block of everything in the messages."""
    for index, message in enumerate(messages):
        role = "turn-scoped" if turn_scoped(message) else message["role"]
        for at, block in enumerate(blocks_of(message["content"])):
            yield f"messages.{index}.content.{at}", role, block


def _hash(*pieces: bytes) -> str:
    state = hashlib.sha256()
    for piece in pieces:
        state.update(len(piece).to_bytes(8) + piece)
    return state.hexdigest()[:HASH_DIGITS]
