"""Claude Code's session files: `~/.claude/projects/*/*.jsonl`.

A line is one content block of an answer, or what went back. Lines are linked by `parentUuid`; a rewind leaves
branches behind, which are not part of the session as it ended. Sub-agents (`isSidechain`), bookkeeping (`isMeta`) and
the summaries of its own compactions are left out.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlive.messages import Block, Role, ToolCall, ToolResult
from outlive.models.anthropic_form import read_blocks
from outlive.models.importers.lines import Line
from outlive.models.importers.recording import Joiner, Recording, seconds

_SAID = ("user", "assistant")


def read(path: Path, lines: list[Line], skipped: tuple[str, ...]) -> Recording:
    """The session that a file ends with."""
    facts = {key: value for line in reversed(lines) for key, value in line.value.items() if isinstance(value, str)}
    lost = list(skipped)
    joined = Joiner()
    model = ""
    for entry in _entries(path, lines, lost):
        joined.add(entry.role, entry.blocks, entry.time, apart=True)
        model = entry.model or model
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


@dataclass(slots=True)
class Entry:
    """What one side said: all lines of one answer together, wherever results stand in between."""

    role: Role
    blocks: list[Block]
    time: float | None
    model: str = ""


def _entries(path: Path, lines: list[Line], lost: list[str]) -> list[Entry]:
    on_branch = _branch(lines)
    entries: list[Entry] = []
    answers: dict[str, Entry] = {}
    asked: set[str] = set()
    for line in lines:
        value = line.value
        if not _is_said(value):
            continue
        message = value["message"]
        try:
            blocks = read_blocks(message.get("content"))
        except ValueError as error:
            lost.append(f"{path}, line {line.number}: {error}")
            continue
        answer = str(message.get("id") or f"line {line.number}")
        if not _belongs(value, blocks, on_branch, answer in answers, asked):
            continue
        if value["type"] == "assistant":
            asked.update(block.id for block in blocks if isinstance(block, ToolCall))
            if answer in answers:
                answers[answer].blocks.extend(blocks)
                continue
        entries.append(
            Entry(value["type"], list(blocks), seconds(value.get("timestamp")), message.get("model") or "")
        )
        if value["type"] == "assistant":
            answers[answer] = entries[-1]
    return entries


def _is_said(value: dict[str, Any]) -> bool:
    left_out = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
    return (
        value.get("type") in _SAID
        and isinstance(value.get("message"), dict)
        and not any(value.get(mark) is True for mark in left_out)
    )


def _branch(lines: list[Line]) -> set[str]:
    """The ids from the newest line back to the first.

    Where the chain breaks (a compaction, a damaged line) the line before goes on; a rewind is no break.
    """
    parents: dict[str, str] = {}
    before: dict[str, str] = {}
    compacted: set[str] = set()
    leaf = last = ""
    for line in lines:
        value = line.value
        uuid = value.get("uuid")
        if not isinstance(uuid, str) or value.get("isSidechain") is True:
            continue
        parents[uuid] = value.get("parentUuid") or value.get("logicalParentUuid") or ""
        before[uuid] = last
        last = uuid
        if value.get("subtype") == "compact_boundary" or value.get("isCompactSummary") is True:
            compacted.add(uuid)
        if value.get("type") in _SAID:
            leaf = uuid
    found: set[str] = set()
    while leaf and leaf not in found:
        found.add(leaf)
        parent = parents[leaf]
        broken = parent in found or (parent and parent not in parents) or (not parent and leaf in compacted)
        leaf = before[leaf] if broken else parent
    return found


def _belongs(
    value: dict[str, Any], blocks: tuple[Block, ...], on_branch: set[str], known: bool, asked: set[str]
) -> bool:
    """On the branch, or beside it: parallel calls of one answer and their results hang on it as siblings."""
    uuid = value.get("uuid")
    if not isinstance(uuid, str) or uuid in on_branch:
        return True
    if value["type"] == "assistant":
        return known
    return any(isinstance(block, ToolResult) and block.call_id in asked for block in blocks)
