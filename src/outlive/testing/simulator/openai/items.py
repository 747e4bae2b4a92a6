"""Items of the Responses API as messages of the chat API, so that tests and brains read both alike."""

from typing import Any

KINDS = {"input_text": "text", "output_text": "text", "input_image": "image_url"}


def as_messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return instructions and input as messages; reasoning is left out."""
    messages = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
    given = body["input"]
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        match item.get("type", "message"):
            case "message":
                messages.append({"role": item["role"], "content": _content(item["content"])})
            case "function_call":
                function = {"name": item["name"], "arguments": item["arguments"]}
                call = {"id": item["call_id"], "type": "function", "function": function}
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            case "function_call_output":
                output = _content(item["output"])
                messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": output})
            case _:
                continue
    return messages


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [{**part, "type": KINDS.get(part["type"], part["type"])} for part in content]
