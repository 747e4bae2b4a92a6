"""Rules across messages: turns, calls and their results, thinking that belongs to calls."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from outlive.testing.simulator.anthropic.compaction import COMPACTION
from outlive.testing.simulator.verdict import RuleBroken

DOCS = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"


@dataclass
class MergedTurn:
    """Consecutive messages of one role, which the API merges."""

    role: str
    blocks: list[dict[str, Any]]
    places: list[str]
    """The path of each block, as `messages.3.content.0`."""
    last: int
    """The index of the last message in it."""

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        return [block for block in self.blocks if block["type"] in kinds]


def turns_of(messages: list[dict[str, Any]]) -> list[MergedTurn]:
    """Merge messages into turns. System messages and summaries are outside of turns and do not end one."""
    turns: list[MergedTurn] = []
    for index, message in enumerate(messages):
        if message["role"] == "system":
            continue
        content = message["content"]
        given = [{"type": "text", "text": content}] if isinstance(content, str) else content
        kept = [number for number, block in enumerate(given) if block["type"] != COMPACTION]
        blocks = [given[number] for number in kept]
        places = [f"messages.{index}.content.{number}" for number in kept]
        if turns and turns[-1].role == message["role"]:
            turns[-1].blocks += blocks
            turns[-1].places += places
            turns[-1].last = index
        else:
            turns.append(MergedTurn(message["role"], blocks, places, index))
    return turns


def check_pairs(turns: list[MergedTurn]) -> None:
    """Check that the next turn starts with the results of all calls, and that each result has its call before it."""
    known: set[str] = set()
    for number, turn in enumerate(turns):
        _check_unique(turn, known)
        if turn.role == "user":
            _check_results(turn, turns[number - 1] if number else None)
        following = turns[number + 1] if number + 1 < len(turns) else None
        asked = [block["id"] for block in turn.of("tool_use")]
        answered = _leading_results(following) if following else set()
        missing = [call for call in asked if call not in answered]
        if missing:
            raise RuleBroken(
                f"messages.{turn.last}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                "next message."
            )


def _check_unique(turn: MergedTurn, known: set[str]) -> None:
    for block, place in zip(turn.blocks, turn.places, strict=True):
        if block["type"] == "tool_use":
            if block["id"] in known:
                raise RuleBroken(f"{place}: `tool_use` ids must be unique")
            known.add(block["id"])


def _check_results(turn: MergedTurn, before: MergedTurn | None) -> None:
    asked = {block["id"] for block in before.of("tool_use")} if before else set()
    seen: set[str] = set()
    for block, place in zip(turn.blocks, turn.places, strict=True):
        if block["type"] != "tool_result":
            continue
        call = block["tool_use_id"]
        if call not in asked:
            raise RuleBroken(
                f"{place}: unexpected `tool_use_id` found in `tool_result` blocks: {call}. Each `tool_result` block "
                "must have a corresponding `tool_use` block in the previous message."
            )
        if call in seen:
            raise RuleBroken(
                f"{place}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: "
                f"{call}"
            )
        seen.add(call)


def _leading_results(turn: MergedTurn) -> set[str]:
    """Return the ids of the results at the start of a turn."""
    found = set()
    for block in turn.blocks:
        if block["type"] != "tool_result":
            break
        found.add(block["tool_use_id"])
    return found


def goes_on(turn: MergedTurn) -> bool:
    """Whether the assistant continues after this user turn, because it holds only results."""
    return all(block["type"] == "tool_result" for block in turn.blocks)


def check_thinking_kept(turns: list[MergedTurn], sent: dict[str, frozenset[str]], *, budgeted: bool) -> None:
    """Check that the thinking of the last calls came back as sent; with a budget, that it opens the turn."""
    number = max((index for index, turn in enumerate(turns) if turn.role == "assistant"), default=-1)
    if number < 0 or not turns[number].of("tool_use"):
        return
    _check_unmodified(turns[number], sent)
    while number >= 2 and goes_on(turns[number - 1]):
        number -= 2
    first = turns[number]
    kind = first.blocks[0]["type"]
    if budgeted and kind not in ("thinking", "redacted_thinking"):
        raise RuleBroken(
            f"{first.places[0]}.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`. When "
            "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the "
            "lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from "
            "previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at "
            + DOCS
        )


def _check_unmodified(turn: MergedTurn, sent: dict[str, frozenset[str]]) -> None:
    here: Collection[str] = {block["signature"] for block in turn.of("thinking")}
    for block, place in zip(turn.blocks, turn.places, strict=True):
        if block["type"] == "tool_use" and not sent.get(block["id"], frozenset()) <= set(here):
            raise RuleBroken(
                f"{place}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
                "modified. These blocks must remain as they were in the original response."
            )
