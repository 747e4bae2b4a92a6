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
            case "custom_tool_call":
                custom = {"name": item["name"], "input": item["input"]}
                call = {"id": item["call_id"], "type": "custom", "custom": custom}
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            case "function_call_output" | "custom_tool_call_output":
                call_id, output = item.get("call_id"), _content(item["output"])
                message = {"role": "tool", "tool_call_id": call_id} if call_id else {"role": "developer"}
                messages.append({**message, "content": output})
            case _:
                continue
    return messages


def tools_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all tools on offer: of the request, of its `additional_tools` items, namespaces and what is inside."""
    given = body["input"]
    added = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    tools = list(body.get("tools") or [])
    for item in added:
        tools += item["tools"] if item.get("type") == "additional_tools" else []
    return [entry for tool in tools for entry in (tool, *(tool.get("tools") or ()))]


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [{**part, "type": KINDS.get(part["type"], part["type"])} for part in content]
