"""Codex rollouts: `~/.codex/sessions/**/rollout-*.jsonl`.

A line is `{"timestamp", "type", "payload"}`; the first versions wrote the bare payload. `response_item` lines
(message, function_call, function_call_output, custom tools, reasoning) count; `event_msg` repeats them for the
screen. Messages of the developer and AGENTS.md files before the user's first words become part of the system prompt;
later ones and the environment are kept in tags.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from outlive.messages import Block, Image, Role, Text, Thinking, ToolCall, ToolResult
from outlive.origin import tagged, user_words
from outlive.replay.importers.attachments import injected
from outlive.replay.importers.lines import TranscriptLine
from outlive.replay.importers.origins import with_origins
from outlive.replay.recording import Joiner, RecordedUsage, Recording, seconds, usage_of

_INSTRUCTIONS = ("# AGENTS.md instructions", "<user_instructions>")
_LEFT_OUT = {
    "ghost_snapshot": "points to return to, which the model does not see",
    "compaction": "its own compactions",
    "web_search_call": "searches on the provider's side, of which no result is recorded",
}
_FRAME = re.compile(
    r"(?:Chunk ID: \w+\n)?(Wall time: .*\nProcess exited with code -?\d+\n)(?:Original token count: \d+\n)?"
)
"""What Codex writes before an output; the id and the count are of no use later, and differ every time."""
_SCRIPT = re.compile(r"Script (completed|failed)\nWall time .*\nOutput:\n")
Item = tuple[dict[str, Any], float | None, int]
"""A response item, its time, and where its line begins."""
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def read(path: Path, lines: list[TranscriptLine], skipped: tuple[str, ...]) -> Recording:
    """Read the session of a rollout."""
    items: list[Item] = []
    meta: dict[str, Any] = {}
    model = given = ""
    compactions = 0
    usage: list[RecordedUsage | None] = []
    for line in lines:
        kind, payload = _opened(line.value)
        if kind == "session_meta":
            meta = meta or payload
        elif kind == "turn_context":
            model = payload.get("model") or model
            given = given or str(payload.get("user_instructions") or "")
        elif kind == "compacted":
            compactions += 1
            if items and _is_summary(items[-1][0], payload.get("message")):
                items.pop()
        elif kind == "response_item":
            items.append((payload, seconds(line.value.get("timestamp")), line.offset))
        elif payload.get("type") == "token_count" and isinstance(info := payload.get("info"), dict):
            usage.append(usage_of(info.get("last_token_usage"), seconds(line.value.get("timestamp")), model))
        elif payload.get("type") == "thread_rolled_back":
            _roll_back(items, payload.get("num_turns"))
    system = _system(meta, items, given)
    joined = Joiner()
    after_call = False
    for item, time, offset in items:
        after_call = _take(joined, item, time, offset, after_call=after_call)
    return Recording(
        id=str(meta.get("id") or meta.get("session_id") or path.name.partition(".jsonl")[0]),
        format="codex",
        messages=joined.done(),
        system=system,
        model=model,
        folder=str(meta.get("cwd") or ""),
        compactions=compactions,
        usage=tuple(filter(None, usage)),
        skipped=(*skipped, *_left_out(path, items)),
        damaged=len(skipped),
        last_answer=joined.last_answer,
    )


def only_goes_on(lines: list[TranscriptLine]) -> bool:
    """Whether lines from an answer on can be read without those before: nothing taken back, and no words of the
    program, which become part of the system prompt at the beginning of a session."""
    for line in lines:
        kind, payload = _opened(line.value)
        if kind == "session_meta" or payload.get("type") == "thread_rolled_back":
            return False
        if kind == "response_item" and payload.get("type") == "message" and _is_told(payload):
            return False
    return True


def _is_told(item: dict[str, Any]) -> bool:
    """Whether a message holds words of the developer or instruction files."""
    blocks = _words(item.get("content"))
    return item.get("role") == "developer" or any(isinstance(b, Text) and _is_instructions(b.text) for b in blocks)


def _is_summary(item: dict[str, Any], compacted: object) -> bool:
    """Whether an item is the model's answer that a compaction is made of; `compacted` ends with it."""
    text = "".join(block.text for block in _words(item.get("content")) if isinstance(block, Text)).strip()
    ends = isinstance(compacted, str) and compacted.rstrip().endswith(text)
    return item.get("role") == "assistant" and bool(text) and ends


def _system(meta: dict[str, Any], items: list[Item], given: str) -> str:
    """Join the base instructions and those given before the user's first words, which are removed from `items`."""
    parts = [_instructions(meta)]
    first = next((n for n, (item, *_) in enumerate(items) if _is_users(item)), len(items) - 1)
    for n, (item, time, offset) in enumerate(items[: first + 1]):
        if item.get("type") == "message" and item.get("role") != "assistant":
            developer = item.get("role") == "developer"
            blocks = _words(item.get("content"))
            told = [b.text for b in blocks if isinstance(b, Text) and (developer or _is_instructions(b.text))]
            parts += told
            rest = [part for part in _parts(item.get("content")) if part.get("text") not in told]
            items[n] = ({**item, "content": rest}, time, offset)
    if given and not any(given.strip() in part for part in parts):
        parts.append(given)
    return "\n\n".join(dict.fromkeys(filter(None, parts)))


def _is_instructions(text: str) -> bool:
    return text.lstrip().startswith(_INSTRUCTIONS)


def _is_users(item: dict[str, Any]) -> bool:
    """Whether an item contains words of the user."""
    if item.get("type") != "message" or item.get("role") != "user":
        return False
    blocks = list(with_origins(_words(item.get("content"))))
    return bool(user_words(blocks).strip()) or any(isinstance(block, Image) for block in blocks)


def _left_out(path: Path, items: list[Item]) -> list[str]:
    """Report what is not in the messages, by kind, with the reason."""
    taken = ("message", "reasoning", *_CALLS, *_OUTPUTS)
    counts = Counter(str(item.get("type")) for item, *_ in items if item.get("type") not in taken)
    return [f"{path}: {count} x {kind}: {_LEFT_OUT.get(kind, 'not known')}" for kind, count in counts.items()]


def _roll_back(items: list[Item], turns: object) -> None:
    """Remove the last turns, each from the user's words on, because the user went back."""
    asked = [n for n, (item, *_) in enumerate(items) if _is_users(item)]
    if isinstance(turns, int) and turns > 0 and asked:
        del items[asked[-min(turns, len(asked))] :]


def _opened(value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return kind and payload of a line; a bare line is the metadata or an item."""
    payload = value.get("payload")
    if isinstance(payload, dict):
        return str(value.get("type")), payload
    if "type" in value:
        return "response_item", value
    return ("session_meta", value) if "id" in value else ("", {})


def _take(joined: Joiner, item: dict[str, Any], time: float | None, offset: int, *, after_call: bool) -> bool:
    """Add one item; returns whether it was a call, after which other words begin a new answer."""
    kind = item.get("type")
    if kind == "message" and item.get("role") in ("user", "assistant", "developer"):
        role: Role = "assistant" if item["role"] == "assistant" else "user"
        joined.add(role, _said(item), time, apart=after_call, offset=offset)
        return False
    if kind == "reasoning":
        joined.add("assistant", _reasoning(item), time, apart=after_call, offset=offset)
        return False
    if kind in _CALLS:
        joined.add("assistant", (_call(item),), time, offset=offset)
        return True
    if kind in _OUTPUTS:
        joined.add("user", (_output(item),), time)
        return False
    return after_call


def _said(item: dict[str, Any]) -> list[Block]:
    """Return the words of a message; texts of the developer and instruction files are tagged as not the user's."""
    blocks = _words(item.get("content"))
    if item["role"] == "developer":
        return [injected(block.text, "developer") if isinstance(block, Text) else block for block in blocks]
    if item["role"] == "assistant":
        return blocks
    told = (
        Text(tagged("instructions", f"\n{block.text.strip()}\n"), "memory")
        if isinstance(block, Text) and _is_instructions(block.text)
        else block
        for block in blocks
    )
    return list(with_origins(told))


def _words(content: Any) -> list[Block]:
    blocks: list[Block] = []
    for part in _parts(content):
        text = part.get("text")
        if isinstance(text, str):
            blocks.append(Text(text))
        elif isinstance(url := part.get("image_url"), str):
            blocks.append(_image(url))
    return blocks


def _parts(content: Any) -> list[dict[str, Any]]:
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [part for part in parts if isinstance(part, dict)]


def _image(url: str) -> Image:
    head, _, data = url.partition(";base64,")
    return Image(head.removeprefix("data:"), data) if data and head.startswith("data:") else Image(url=url)


def _reasoning(item: dict[str, Any]) -> list[Block]:
    """Return the readable part of the reasoning; the rest is encrypted."""
    parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
    text = "\n\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))
    return [Thinking(text)] if text.strip() else []


def _call(item: dict[str, Any]) -> ToolCall:
    call = str(item.get("call_id") or item.get("id") or "")
    if item["type"] == "local_shell_call":
        action = item.get("action")
        return ToolCall(call, "shell", action if isinstance(action, dict) else {})
    raw = item.get("arguments", item.get("input"))
    return ToolCall(call, str(item.get("name") or "tool"), _arguments(raw))


def _arguments(raw: Any) -> dict[str, Any]:
    """Parse arguments: JSON in a string, or plain text of a custom tool."""
    if isinstance(raw, dict):
        return raw
    try:
        value = json.loads(raw)
    except (TypeError, ValueError, RecursionError):
        value = raw
    return value if isinstance(value, dict) else {"input": "" if raw is None else raw}


def _output(item: dict[str, Any]) -> ToolResult:
    output = item.get("output")
    failed = False
    if isinstance(output, str) and output.startswith("{"):
        try:
            output = json.loads(output)
        except (ValueError, RecursionError):
            pass
        else:
            output, failed = _unwrapped(output, item["output"])
    elif isinstance(output, dict):
        output, failed = _unwrapped(output, json.dumps(output, ensure_ascii=False))
    images: tuple[Image, ...] = ()
    if isinstance(output, list):
        blocks = _words(output)
        images = tuple(block for block in blocks if isinstance(block, Image))
        texts = [block.text for block in blocks if isinstance(block, Text)]
        failed = bool(texts) and texts[0].startswith("Script failed\n")
        output = _script_output(texts)
    text = str(output or "")
    if frame := _FRAME.match(text):
        text = frame[1] + text[frame.end() :]
    return ToolResult(str(item.get("call_id") or ""), text, failed, images)


def _script_output(texts: list[str]) -> str:
    """Join what a script printed; results of commands, which are JSON there, are written as outside of scripts."""
    told = [_command_output(text) for text in texts]
    alone = len(told) == 2 and told[1] != texts[1] and _SCRIPT.fullmatch(told[0])
    return told[1] if alone else "\n".join(told)


def _command_output(text: str) -> str:
    if not text.startswith('{"chunk_id":'):
        return text
    try:
        form = json.loads(text)
    except (ValueError, RecursionError):
        return text
    code, output, time = form.get("exit_code"), form.get("output"), form.get("wall_time_seconds")
    if not isinstance(code, int) or not isinstance(output, str) or not isinstance(time, float | int):
        return text
    return f"Wall time: {time:.4f} seconds\nProcess exited with code {code}\nOutput:\n{output}"


def _unwrapped(form: dict[str, Any], whole: str) -> tuple[Any, bool]:
    """Unwrap `{"output", "metadata": {"exit_code"}}` or `{"content", "success"}`; anything else is the output itself.

    The exit code, which the model saw, is written as in later versions.
    """
    metadata = form.get("metadata")
    if "output" in form and isinstance(metadata, dict):
        code, time = metadata.get("exit_code"), metadata.get("duration_seconds", 0)
        known = isinstance(code, int) and isinstance(form["output"], str)
        framed = f"Exit code: {code}\nWall time: {time} seconds\nOutput:\n{form['output']}"
        return framed if known else form["output"], bool(code)
    if "content" in form and "success" in form:
        return form["content"], form["success"] is False
    return whole, False


def _instructions(meta: dict[str, Any]) -> str:
    base = meta.get("base_instructions")
    if isinstance(base, dict):
        return str(base.get("text") or "")
    return str(meta.get("instructions") or "")
