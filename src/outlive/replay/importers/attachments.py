"""Claude Code's `attachment` lines: what it showed the model besides words, calls and results.

The file has the parts of a request, not the text that was sent. The parts are kept in tags, because they are not the
user's words; only a `queued_command` (typed while the agent worked) can be.
"""

import json
from collections.abc import Callable
from typing import Any

from outlive.messages import Block, Image, Text
from outlive.origin import tagged
from outlive.replay.importers.origins import by_harness, with_origins

Form = dict[str, Any]
_AT_START = ("SessionStart", "UserPromptSubmit")
"""Hooks whose output goes to the model even on success."""


def attached(form: Form) -> list[Block]:
    """Return what an attachment showed the model; nothing for bookkeeping and unknown kinds."""
    kind = str(form.get("type"))
    if kind == "queued_command":
        return _queued(form)
    content = form.get("content")
    if kind == "file" and isinstance(content, dict) and content.get("type") == "image":
        return _image(content)
    made = _TEXTS.get(kind)
    text = made(form).strip() if made else ""
    return [injected(text, kind)] if text else []


def injected(text: str, name: str = "injected") -> Text:
    """Put a text of the harness into tags, unless it has tags already."""
    whole = text.strip()
    if whole.startswith("<") and not whole.startswith("<command-") and whole.endswith(">"):
        return by_harness(text)
    return by_harness(tagged(name.replace("_", "-"), f"\n{whole}\n"))


def instructions(form: Form) -> str:
    """Return the instruction files of the user and the project (CLAUDE.md), as they were loaded."""
    files = form.get("files")
    texts = [
        f"Contents of {file.get('path')}:\n\n{file['content']}"
        for file in (files if isinstance(files, list) else ())
        if isinstance(file, dict) and isinstance(file.get("content"), str) and file["content"].strip()
    ]
    return "\n\n".join(texts) or _string(form, "content")


def system_prompt(form: Form) -> str:
    """Return the system prompt of a snapshot."""
    parts = form.get("systemPrompt")
    return "\n\n".join(part for part in parts if isinstance(part, str)) if isinstance(parts, list) else ""


def _queued(form: Form) -> list[Block]:
    """Return words typed while the agent worked; notifications and messages of other agents are tagged."""
    prompt = form.get("prompt")
    parts = prompt if isinstance(prompt, list) else [prompt]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    text = "\n\n".join(part for part in texts if isinstance(part, str) and part.strip())
    origin = form.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else "human"
    own = kind == "human" and form.get("commandMode", "prompt") == "prompt" and form.get("isMeta") is not True
    if not text:
        return []
    return list(with_origins([Text(text)])) if own else [injected(text, "queued_command")]


def _image(content: Form) -> list[Block]:
    file = content.get("file")
    data = file.get("base64") if isinstance(file, dict) else None
    if not isinstance(file, dict) or not isinstance(data, str):
        return []
    return [Image(str(file.get("type") or "image/png"), data)]


def _string(form: Form, *keys: str) -> str:
    """Return the first of these fields that is a text or a list of texts."""
    for key in keys:
        value = form.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return "\n".join(value)
    return ""


def _file(form: Form) -> str:
    content = form.get("content")
    file = content.get("file") if isinstance(content, dict) else None
    body = _string(file, "content") if isinstance(file, dict) else _string(form, "content")
    if not body and isinstance(file, dict) and file.get("cells"):
        body = json.dumps(file["cells"], ensure_ascii=False)
    return f"{_string(form, 'filename', 'displayPath')}\n{body}" if body else ""


def _memory(form: Form) -> str:
    content = form.get("content")
    body = _string(content, "content") if isinstance(content, dict) else _string(form, "content")
    return f"Contents of {_string(form, 'path', 'displayPath')}:\n\n{body}" if body else ""


def _named(*keys: str) -> Callable[[Form], str]:
    """Read the file name and one of these texts."""
    return lambda form: "\n".join(filter(None, (_string(form, "filename", "path"), _string(form, *keys))))


def _text(*keys: str) -> Callable[[Form], str]:
    return lambda form: _string(form, *keys)


def _values(key: str) -> Callable[[Form], str]:
    return lambda form: json.dumps(form[key], ensure_ascii=False) if form.get(key) else ""


def _skills(form: Form) -> str:
    skills = form.get("skills")
    found = [s for s in skills if isinstance(s, dict)] if isinstance(skills, list) else []
    return "\n\n".join(filter(None, (_string(skill, "content") for skill in found)))


def _hook(form: Form) -> str:
    return _string(form, "content") if form.get("hookEvent") in _AT_START else ""


def _blocked(form: Form) -> str:
    error = form.get("blockingError")
    return _string(error, "blockingError") if isinstance(error, dict) else _string(form, "blockingError", "content")


_TEXTS: dict[str, Callable[[Form], str]] = {
    "file": _file,
    "directory": _named("content"),
    "edited_text_file": _named("snippet"),
    "selected_lines_in_ide": _named("content"),
    "opened_file_in_ide": _named(),
    "mcp_resource": _values("content"),
    "nested_memory": _memory,
    "relevant_memories": _values("memories"),
    "instructions": instructions,
    "session_context": _values("context"),
    "skill_listing": _text("content"),
    "invoked_skills": _skills,
    "hook_success": _hook,
    "hook_additional_context": _text("content"),
    "hook_blocking_error": _blocked,
    "hook_stopped_continuation": _text("message"),
    "critical_system_reminder": _text("content"),
    "diagnostics": _values("files"),
    "todo_reminder": _values("content"),
    "task_reminder": _values("content"),
    "task_status": _text("description", "content"),
    "plan_file_reference": _named("planContent", "content"),
    "mcp_instructions_delta": _text("addedBlocks"),
    "agent_listing_delta": _text("addedLines"),
    "deferred_tools_delta": _text("addedLines", "addedNames"),
    "date_change": _text("newDate"),
    "model": _text("text"),
}
"""Kind of attachment to its reader."""
