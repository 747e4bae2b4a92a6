"""A whole request in the form of Anthropic's messages API, with invalid parts fixed and cache breakpoints set.

Pure translation. Breakpoints are on the last block of the stable prefix (system, else tools), on the last segment of
the digest, on the last block, and at the end of the previous request, so that a batch of any length finds the cached
prefix.
"""

from outlive.models.anthropic.form import EMPTY_MESSAGE, PROVIDER, Form, message_form
from outlive.models.sanitize import apart, legal_id, own_summary, valid_name
from outlive.request import Request

MAX_ID_CHARS, MAX_NAME_CHARS = 64, 128
EMPTY_ERROR = "[failed without a word]"
BREAKPOINT = {"type": "ephemeral"}
SUMMARY_BLOCK = "compaction"
THINKING_BLOCKS = ("thinking", "redacted_thinking")
CACHEABLE_BLOCKS = ("text", "image", "tool_use", "tool_result")
IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def request_form(
    request: Request, *, thoughts_from: int = 0, takes_summary: bool = True, takes_tool_changes: bool = False
) -> Form:
    """System, tools and messages. Thinking before message `thoughts_from` is left out: some models refuse it, and a
    summary that the provider wrote unless the model `takes_summary`; thinking after it was thought there. Tools that
    changed are declared as they are now, unless the model `takes_tool_changes`."""
    kept_messages = apart(own_summary(request.messages, PROVIDER if takes_summary else ""))
    if len(kept_messages) != len(request.messages):
        thoughts_from = len(kept_messages)
    messages = [
        _mended(message_form(message), number >= thoughts_from) for number, message in enumerate(kept_messages)
    ]
    if has_summary(messages) and len(messages[0]["content"]) > 1:
        summary, *kept = messages[0]["content"]
        messages[:1] = [{"role": "assistant", "content": [summary]}, {"role": "assistant", "content": kept}]
    form: Form = {"messages": messages}
    if tools := request.tools if takes_tool_changes else request.offered:
        form["tools"] = [dict(tool) for tool in tools]
    if request.system.strip():
        form["system"] = [{"type": "text", "text": request.system}]
    stable = form.get("system") or form.get("tools")
    if stable:
        stable[-1]["cache_control"] = BREAKPOINT
    if request.segments:
        digest = next(message for message in messages if message["role"] == "user")
        digest["content"][request.segments - 1]["cache_control"] = BREAKPOINT
    elif has_summary(messages):
        messages[0]["content"][0]["cache_control"] = BREAKPOINT
    for number in [number for number, message in enumerate(messages) if message["role"] == "user"][-2:]:
        _mark(messages[: number + 1])
    if takes_tool_changes:
        _tell_tool_changes(request, messages)
    return form


def changes_tools(messages: list[Form]) -> bool:
    """Whether tools come or go in these messages."""
    return any(message["role"] == "system" for message in messages)


def _tell_tool_changes(request: Request, messages: list[Form]) -> None:
    """Insert the changes of tools, each behind its message, which is counted from the end: the front may be split."""
    declared = {tool["name"] for tool in request.tools}
    told: dict[int, list[Form]] = {}
    for change in request.tool_changes:
        blocks = told.setdefault(len(request.messages) - change.after, [])
        blocks += ({"type": "tool_removal", "tool": _reference(name)} for name in change.removed)
        for tool in change.added:
            known = tool["name"] in declared
            added = _reference(tool["name"]) if known else {"type": "tool_definition", "definition": dict(tool)}
            blocks.append({"type": "tool_addition", "tool": added})
    end = len(messages) + 1
    for place, blocks in sorted(told.items()):  # the last one first, so that places stay
        messages.insert(end - place, {"role": "system", "content": blocks})


def _reference(name: object) -> Form:
    return {"type": "tool_reference", "name": name}


def has_summary(messages: list[Form]) -> bool:
    """Whether the first block is a summary that the provider wrote."""
    return bool(messages[0]["content"][0]["type"] == SUMMARY_BLOCK)


def opens_with_thought(messages: list[Form]) -> bool:
    """Whether thinking with a budget may continue: the answer to the last user message begins with thinking."""
    number = max((place for place, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    if number < 0 or not any(block["type"] == "tool_use" for block in messages[number]["content"]):
        return True
    while number >= 2 and all(block["type"] == "tool_result" for block in messages[number - 1]["content"]):
        number -= 2
    return messages[number]["content"][0]["type"] in THINKING_BLOCKS


def _mark(messages: list[Form]) -> None:
    """Put a breakpoint on the last block that can have one."""
    blocks = (block for message in reversed(messages) for block in reversed(message["content"]))
    if last := next((block for block in blocks if block["type"] in CACHEABLE_BLOCKS), None):
        last["cache_control"] = BREAKPOINT


def _mended(message: Form, thoughts: bool) -> Form:
    content = [_mended_block(dict(block)) for block in message["content"] if not _is_blank(block)]
    if not thoughts:
        content = [block for block in content if block["type"] not in THINKING_BLOCKS]
    if not content or content[-1]["type"] in THINKING_BLOCKS:
        content.append({"type": "text", "text": EMPTY_MESSAGE})
    return {"role": message["role"], "content": content}


def _is_blank(block: Form) -> bool:
    return block["type"] == "text" and not block["text"].strip()


def _mended_block(block: Form) -> Form:
    match block["type"]:
        case "tool_use":
            block["id"] = legal_id(block["id"], MAX_ID_CHARS)
            block["name"] = valid_name(block["name"], MAX_NAME_CHARS)
        case "tool_result":
            block["tool_use_id"] = legal_id(block["tool_use_id"], MAX_ID_CHARS)
            if isinstance(block["content"], list):
                block["content"] = [_mended_block(part) for part in block["content"]]
            elif block.get("is_error") and not block["content"].strip():
                block["content"] = EMPTY_ERROR
        case "image" if not _is_shown(block["source"]):
            return {"type": "text", "text": f"[a picture that cannot be shown: {block['source'].get('media_type')}]"}
    return block


def _is_shown(source: Form) -> bool:
    return bool(source.get("url")) or (source.get("media_type") in IMAGE_TYPES and bool(source.get("data")))
