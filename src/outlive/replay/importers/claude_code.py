"""Claude Code's session files: `~/.claude/projects/*/*.jsonl`.

A line is one content block of an answer, or a user message. Lines are linked by `parentUuid`; branches left behind by
a rewind are ignored. Texts that the program added (`isMeta`: bodies of skills and commands; `attachment`: files,
memory, reminders) are kept in tags; the system prompt is a snapshot of it and the first CLAUDE.md files. Everything
left out is reported by kind, with the reason.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlive.messages import Block, Role, Text, ToolCall, ToolResult
from outlive.models.anthropic.form import read_blocks
from outlive.replay.importers.attachments import attached, injected, instructions, system_prompt
from outlive.replay.importers.lines import TranscriptLine
from outlive.replay.importers.origins import with_origins
from outlive.replay.recording import Joiner, RecordedUsage, Recording, seconds, usage_of

_SAID = ("user", "assistant")
_SETUP = ("prompt_snapshot", "instructions")
_LEFT_OUT = {
    "isSidechain": "talk of sub-agents",
    "isCompactSummary": "summaries of its own compactions",
    "isVisibleInTranscriptOnly": "shown to the user only",
    "isApiErrorMessage": "errors of the API, shown to the user only",
}
_REWOUND = "messages of a branch that the user left by a rewind"


def read(path: Path, lines: list[TranscriptLine], skipped: tuple[str, ...]) -> Recording:
    """Read the session that a file ends with."""
    facts = {key: value for line in reversed(lines) for key, value in line.value.items() if isinstance(value, str)}
    lost = list(skipped)
    left_out: Counter[str] = Counter()
    joined = Joiner()
    model = ""
    for entry in _entries(path, lines, lost, left_out):
        joined.add(entry.role, entry.blocks, entry.time, apart=True, offset=entry.offset)
        model = entry.model or model
    return Recording(
        id=facts.get("sessionId") or path.name.partition(".")[0],
        format="claude-code",
        messages=joined.done(),
        system=_system(lines),
        model=model,
        folder=facts.get("cwd", ""),
        task=facts.get("summary", ""),
        compactions=sum(line.value.get("isCompactSummary") is True for line in lines),
        usage=_usage(lines),
        skipped=(*lost, *_left_out(path, lines, left_out)),
        damaged=len(lost),
        last_answer=joined.last_answer,
    )


def only_goes_on(lines: list[TranscriptLine]) -> bool:
    """Whether lines from an answer on can be read without those before: no rewind, no compaction, nothing that the
    program says about the session as a whole."""
    known: set[str] = set()
    for line in lines:
        value = line.value
        form = _attachment(value)
        if form is not None and form.get("type") in (*_SETUP, "queued_command"):
            return False
        uuid = value.get("uuid")
        if not isinstance(uuid, str) or value.get("isSidechain") is True:
            continue
        if value.get("subtype") == "compact_boundary" or value.get("isCompactSummary") is True:
            return False
        if known and value.get("parentUuid") not in known:
            return False
        known.add(uuid)
    return True


def _usage(lines: list[TranscriptLine]) -> tuple[RecordedUsage, ...]:
    """The usage of each call, also on other branches. The lines of one answer repeat it."""
    found: dict[str, RecordedUsage] = {}
    for line in lines:
        value = line.value
        message = value.get("message")
        if value.get("type") != "assistant" or value.get("isSidechain") is True or not isinstance(message, dict):
            continue
        usage = usage_of(message.get("usage"), seconds(value.get("timestamp")), str(message.get("model") or ""))
        if usage is not None:
            found[str(message.get("id") or line.number)] = usage
    return tuple(found.values())


@dataclass(slots=True)
class TranscriptEntry:
    """A message: all lines of one answer together, even with results between them."""

    role: Role
    blocks: list[Block]
    time: float | None
    model: str = ""
    offset: int = 0


def _entries(
    path: Path, lines: list[TranscriptLine], lost: list[str], left_out: Counter[str]
) -> list[TranscriptEntry]:
    on_branch = _branch(lines)
    entries: list[TranscriptEntry] = []
    answers: dict[str, TranscriptEntry] = {}
    asked: set[str] = set()
    said = _typed(lines, on_branch)
    setup = {line.number for line in _setup(lines)}
    for line in lines:
        value = line.value
        if (form := _attachment(value)) is not None:
            if str(value.get("uuid")) in on_branch and line.number not in setup and not _said_twice(form, said):
                entries.append(TranscriptEntry("user", attached(form), seconds(value.get("timestamp"))))
            continue
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
            left_out[_REWOUND] += value.get("isMeta") is not True
            continue
        if value["type"] == "assistant":
            asked.update(block.id for block in blocks if isinstance(block, ToolCall))
            if answer in answers:
                answers[answer].blocks.extend(blocks)
                continue
        elif value.get("isMeta") is True:
            blocks = tuple(_by_the_program(blocks))
        else:
            blocks = tuple(with_origins(blocks))
        time, model = seconds(value.get("timestamp")), message.get("model") or ""
        entries.append(TranscriptEntry(value["type"], list(blocks), time, model, line.offset))
        if value["type"] == "assistant":
            answers[answer] = entries[-1]
    return entries


def _is_said(value: dict[str, Any]) -> bool:
    return (
        value.get("type") in _SAID
        and isinstance(value.get("message"), dict)
        and not any(value.get(mark) is True for mark in _LEFT_OUT)
    )


def _by_the_program(blocks: Iterable[Block]) -> Iterable[Block]:
    """The blocks, with their texts marked as not the user's words."""
    return (injected(block.text) if isinstance(block, Text) else block for block in blocks)


def _attachment(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the attachment of a line, unless it belongs to a sub-agent."""
    form = value.get("attachment")
    own = value.get("type") == "attachment" and value.get("isSidechain") is not True
    return form if own and isinstance(form, dict) else None


def _setup(lines: list[TranscriptLine]) -> list[TranscriptLine]:
    """Find the newest snapshot of the system prompt before the first answer, and the first instruction files."""
    found: dict[str, TranscriptLine] = {}
    for line in lines:
        form = _attachment(line.value)
        if line.value.get("type") == "assistant" and line.value.get("isSidechain") is not True and found:
            break
        if form is not None and (kind := form.get("type")) in _SETUP:
            found[str(kind)] = line
    return [found[kind] for kind in _SETUP if kind in found]


def _system(lines: list[TranscriptLine]) -> str:
    forms = [line.value["attachment"] for line in _setup(lines)]
    texts = [system_prompt(form) if form["type"] == "prompt_snapshot" else instructions(form) for form in forms]
    return "\n\n".join(filter(None, texts))


def _typed(lines: list[TranscriptLine], on_branch: set[str]) -> set[str]:
    """Return ids and texts of the user's own lines on the branch."""
    found: set[str] = set()
    for line in lines:
        value = line.value
        message = value.get("message")
        own = value.get("type") == "user" and str(value.get("uuid")) in on_branch and value.get("isMeta") is not True
        if own and isinstance(message, dict):
            found.add(str(value.get("uuid")))
            content = message.get("content")
            parts = content if isinstance(content, list) else [{"text": content}]
            found.update(p["text"].strip() for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str))
    return found


def _said_twice(form: dict[str, Any], said: set[str]) -> bool:
    """Whether queued words also have a line of their own, as older versions wrote."""
    if form.get("type") != "queued_command":
        return False
    prompt = form.get("prompt")
    return str(form.get("source_uuid")) in said or (
        isinstance(prompt, str) and len(prompt) > 20 and prompt.strip() in said
    )


def _left_out(path: Path, lines: list[TranscriptLine], counts: Counter[str]) -> list[str]:
    """Report what is not in the messages, by kind, with the reason; `counts` has what is known already."""
    setup = {line.number for line in _setup(lines)}
    for line in lines:
        form = _attachment(line.value)
        if mark := next((mark for mark in _LEFT_OUT if line.value.get(mark) is True), ""):
            counts[_LEFT_OUT[mark]] += 1
        elif form is not None and line.number not in setup and not attached(form):
            later = form.get("type") == "prompt_snapshot"
            reason = "a replay has one system prompt, the first" if later else "nothing that the model was shown"
            counts[f"attachment `{form.get('type')}`: {reason}"] += 1
    return [f"{path}: {count} x {reason}" for reason, count in counts.items() if count]


def _branch(lines: list[TranscriptLine]) -> set[str]:
    """Return the ids from the newest line back to the first.

    Where the chain breaks (a compaction, a damaged line) it continues with the line before; a rewind is not a break.
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
    """Whether a line is on the branch or a sibling of it: a parallel call of one answer, or its result."""
    uuid = value.get("uuid")
    if not isinstance(uuid, str) or uuid in on_branch:
        return True
    if value["type"] == "assistant":
        return known
    return any(isinstance(block, ToolResult) and block.call_id in asked for block in blocks)
