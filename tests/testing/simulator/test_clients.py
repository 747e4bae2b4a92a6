"""What real clients send: names in the `anthropic-beta` header, and `context_management`."""

from typing import Any, get_args

import anthropic
import pytest

from outlive.testing import Simulator
from outlive.testing.simulator.anthropic.checks.betas import KNOWN, OF_THE_SDK
from tests.testing.simulator.talking import CLAUDE, ask_claude, claude, user

EDITING, COMPACTING = "context-management-2025-06-27", "compact-2026-01-12"
TOKENS = {"type": "input_tokens", "value": 100_000}
USES = {"type": "tool_uses", "value": 3}


def edits(*given: Any) -> dict[str, Any]:
    return claude(context_management={"edits": list(given)})


def test_the_names_are_those_of_the_installed_sdk() -> None:
    from anthropic.types import AnthropicBetaParam

    assert {name for kind in get_args(AnthropicBetaParam) for name in get_args(kind)} == OF_THE_SDK


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
def test_every_known_name_is_accepted_and_others_are_refused(sim: Simulator, path: str) -> None:
    body = {"model": CLAUDE, "messages": [user("x")]} | ({} if "count" in path else {"max_tokens": 9})
    assert ask_claude(sim, body, path=path, beta=", ".join(sorted(KNOWN))).status == 200
    for name in ("claude-code-20250219", "interleaved-thinking-2025-05-14", "oauth-2025-04-20"):
        assert ask_claude(sim, body, path=path, beta=name).status == 200
    heard = ask_claude(sim, body, path=path, beta="oauth-2025-04-20,poems-2026-01-01,compact-2026-01-13")
    assert (heard.status, heard.error["type"]) == (400, "invalid_request_error")
    words = "Unexpected value(s) `poems-2026-01-01`, `compact-2026-01-13` for the `anthropic-beta` header."
    assert heard.error["message"].startswith(words)


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "no beta": (edits(), "", "context_management: Extra inputs are not permitted"),
    "another beta": (edits(), "oauth-2025-04-20", "context_management: Extra inputs are not permitted"),
    "a list": (claude(context_management=[]), EDITING, "context_management: Input should be a valid dictionary"),
    "another field": (claude(context_management={"mode": 1}), EDITING, "context_management.mode: Extra inputs are"),
    "an edit of text": (edits("all"), EDITING, "context_management.edits.0: Input should be a valid dictionary"),
    "an unknown edit": (
        edits({"type": "forget"}),
        EDITING,
        "context_management.edits.0: Input tag 'forget' found using 'type' does not match any of the expected tags: "
        "'clear_thinking_20251015', 'clear_tool_uses_20250919'",
    ),
    "compaction without its beta": (
        edits({"type": "compact_20260112"}),
        EDITING,
        "context_management.edits.0: Input tag 'compact_20260112' found",
    ),
    "clearing with the beta of compaction": (
        edits({"type": "clear_thinking_20251015"}),
        COMPACTING,
        "context_management.edits.0: Input tag 'clear_thinking_20251015' found",
    ),
    "a field of an edit": (
        edits({"type": "clear_thinking_20251015", "trigger": TOKENS}),
        EDITING,
        "context_management.edits.0.clear_thinking_20251015.trigger: Extra inputs are not permitted",
    ),
    "what is kept": (
        edits({"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns"}}),
        EDITING,
        "context_management.edits.0.clear_thinking_20251015.keep.value: Field required",
    ),
    "a trigger of another kind": (
        edits({"type": "compact_20260112", "trigger": USES}),
        COMPACTING,
        "context_management.edits.0.compact_20260112.trigger.type: Input should be 'input_tokens'",
    ),
    "a number of text": (
        edits({"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": "3"}}),
        EDITING,
        "context_management.edits.0.clear_tool_uses_20250919.keep.value: Input should be a valid integer",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_edits_of_the_context_are_checked(sim: Simulator, name: str) -> None:
    body, beta, words = WRONG[name]
    assert ask_claude(sim, body, beta=beta).error["message"].startswith(words)


ALL = [
    {"type": "clear_thinking_20251015", "keep": "all"},
    {"type": "clear_thinking_20251015", "keep": {"type": "all"}},
    {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 2}},
    {
        "type": "clear_tool_uses_20250919",
        "trigger": USES,
        "keep": USES,
        "clear_at_least": TOKENS,
        "clear_tool_inputs": True,
        "exclude_tools": ["bash"],
    },
    {"type": "clear_tool_uses_20250919", "clear_at_least": None},
    {"type": "compact_20260112", "trigger": TOKENS, "instructions": "be brief", "pause_after_compaction": False},
]


def test_edits_of_the_context_are_accepted_and_change_nothing(sim: Simulator) -> None:
    plain = ask_claude(sim, claude()).body
    heard = ask_claude(sim, edits(*ALL), beta=f"{EDITING},{COMPACTING}").body
    assert heard["context_management"] == {"applied_edits": []}
    assert (heard["usage"], heard["content"]) == (plain["usage"], plain["content"])
    assert "context_management" not in plain


@pytest.mark.parametrize("streaming", [True, False])
def test_the_sdk_reads_that_no_edit_was_applied(sim: Simulator, streaming: bool) -> None:
    body: Any = edits(*ALL) | {"betas": [EDITING, COMPACTING]}
    with anthropic.Anthropic(base_url=sim.url, api_key="test-key") as client:
        if streaming:
            with client.beta.messages.stream(**body) as stream:
                message = stream.get_final_message()
        else:
            message = client.beta.messages.create(**body)
    assert message.context_management is not None
    assert message.context_management.applied_edits == []


def test_the_request_of_a_real_client_is_accepted(sim: Simulator) -> None:
    """The fields and names that Claude Code sends."""
    names = "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,effort-2025-11-24"
    body = claude(
        user("x"),
        {"role": "system", "content": "now", "clear_at": "next_user_message"},
        system=[{"type": "text", "text": "You are an agent.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        thinking={"type": "adaptive", "display": "omitted"},
        context_management={"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        diagnostics={"previous_message_id": None},
        output_config={"effort": "high"},
        metadata={"user_id": "me"},
        stream=True,
    )
    assert ask_claude(sim, body, beta=names + ",mid-conversation-system-clear-at-2026-08-21").status == 200
