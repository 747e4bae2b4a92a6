"""Claude Code's session files: `~/.claude/projects/*/*.jsonl`.

A line is one content block of an answer, or what went back. Lines are linked by `parentUuid`; a rewind leaves
branches behind, which are not part of the session as it ended. Sub-agents (`isSidechain`), bookkeeping (`isMeta`) and
the summaries of its own compactions are left out.
"""

from pathlib import Path
from typing import Any

from outlive.importers.lines import Line
from outlive.importers.recording import Joiner, Recording, seconds
from outlive.messages import Block, ToolCall, ToolResult
from outlive.models.anthropic_form import read_blocks

_SAID = ("user", "assistant")


def read(path: Path, lines: list[Line], skipped: tuple[str, ...]) -> Recording:
    """The session that a file ends with."""
    facts = {key: value for line in reversed(lines) for key, value in line.value.items() if isinstance(value, str)}
    said = [line for line in lines if _is_said(line.value)]
    on_branch = _branch(lines)
    joined = Joiner()
    lost = list(skipped)
    model = answer = ""
    asked: set[str] = set()
    for line in said:
        try:
            blocks = read_blocks(line.value["message"].get("content"))
        except ValueError as error:
            lost.append(f"{path}, line {line.number}: {error}")
            continue
        if not _belongs(line.value, blocks, on_branch, answer, asked):
            continue
        time = seconds(line.value.get("timestamp"))
        if line.value["type"] == "user":
            joined.add("user", blocks, time)
            continue
        asked.update(block.id for block in blocks if isinstance(block, ToolCall))
        message = line.value["message"]
        joined.add("assistant", blocks, time, apart=message.get("id", line.number) != answer)
        answer, model = message.get("id", line.number), message.get("model") or model
    return Recording(
        id=facts.get("sessionId") or path.name.partition(".")[0],
        format="claude-code",
        messages=joined.done(),
        model=model,
        folder=facts.get("cwd", ""),
        task=facts.get("summary", ""),
        compactions=sum(line.value.get("isCompactSummary") is True for line in lines),
        skipped=tuple(lost),
    )


def _is_said(value: dict[str, Any]) -> bool:
    left_out = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
    return (
        value.get("type") in _SAID
        and isinstance(value.get("message"), dict)
        and not any(value.get(mark) is True for mark in left_out)
    )


def _branch(lines: list[Line]) -> set[str]:
    """The ids from the newest line back to the first; past a compaction the logical parent goes on."""
    parents: dict[str, str] = {}
    leaf = ""
    for line in lines:
        value = line.value
        uuid = value.get("uuid")
        if isinstance(uuid, str) and value.get("isSidechain") is not True:
            parents[uuid] = value.get("parentUuid") or value.get("logicalParentUuid") or ""
            if value.get("type") in _SAID:
                leaf = uuid
    found: set[str] = set()
    while leaf and leaf not in found:
        found.add(leaf)
        leaf = parents.get(leaf, "")
    return found


def _belongs(
    value: dict[str, Any], blocks: tuple[Block, ...], on_branch: set[str], answer: str, asked: set[str]
) -> bool:
    """On the branch, or beside it: parallel calls of one answer and their results hang on it as siblings."""
    uuid = value.get("uuid")
    if not isinstance(uuid, str) or uuid in on_branch:
        return True
    if value["type"] == "assistant":
        return bool(answer) and value["message"].get("id") == answer
    return any(isinstance(block, ToolResult) and block.call_id in asked for block in blocks)
