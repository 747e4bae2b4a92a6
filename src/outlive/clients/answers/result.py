"""A tool's result: a large one is kept whole and shown as a preview. The client's own task list is mirrored."""

from outlive.clients.answers.call import ClientAnswer, HookCall, recall_hint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGE_CHARACTERS = 12_000
"""A result that is longer is shown as a preview."""
PREVIEW_TOKENS = 1_000.0  # enough to tell whether the rest is worth a call
TASK_TOOLS = ("TaskCreate", "TaskUpdate")


def to_result(call: HookCall) -> ClientAnswer:
    response = call.event.get("tool_response")
    if call.event.get("tool_name") in TASK_TOOLS:
        from outlive.clients.mirror import mirror

        mirror(call.stores.tasks, call.client, call.session, call.event)
        return ClientAnswer()
    if not is_kept_or_mirrored(call):
        return ClientAnswer()
    shown = _kept(call, result_text(response))
    return ClientAnswer(replacement=_shaped(response, shown)) if shown else ClientAnswer()


def is_kept_or_mirrored(call: HookCall) -> bool:
    """Whether a result concerns us: a large one, or a change of the client's task list."""
    tool = str(call.event.get("tool_name"))
    if tool in TASK_TOOLS:
        return True
    return len(result_text(call.event.get("tool_response"))) >= LARGE_CHARACTERS and "outlive" not in tool


def _kept(call: HookCall, text: str) -> str:
    """Log the whole result; the preview to show instead, empty if the transcript lacks the call."""
    from outlive.context.passes.spool import preview
    from outlive.replay.follow import KEPT

    id = str(call.event.get("tool_use_id"))
    with call.followed() as log:
        if not log.keep(id, text):
            return ""
        unit = log.session.engine.history.units[-1]
        piece = next(piece for piece in reversed(unit.pieces) if piece.call_id == id and piece.kind == "result")
        head = f"{KEPT}{len(text):,} characters. Read a handle with {recall_hint(call)}]"
        return f"{head}\n{preview(piece, PREVIEW_TOKENS)}"


def result_text(response: "Any") -> str:
    """The output of a tool that prints: a shell's, or the text of an MCP tool. Files can be read again, in parts."""
    if isinstance(response, str):
        return response
    if isinstance(response, dict) and isinstance(response.get("stdout"), str) and not response.get("isImage"):
        error = response.get("stderr")
        return str(response["stdout"]) + (f"\n{error}" if error else "")
    if (
        isinstance(response, list)
        and response
        and all(isinstance(part, dict) and part.get("type") == "text" for part in response)
    ):
        return "\n".join(str(part.get("text", "")) for part in response)
    return ""


def _shaped(response: "Any", text: str) -> "Any":
    """The text in the shape of the tool's own answer."""
    if isinstance(response, dict):
        return {**response, "stdout": text, "stderr": ""}
    return [{"type": "text", "text": text}] if isinstance(response, list) else text
