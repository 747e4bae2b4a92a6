"""The store and the capability with the real library, against the simulator as either provider."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from outlive.adapters.pydantic_ai import OutliveConversationStore, OutliveHistory
from outlive.testing import Simulator
from tests.adapters.conftest import RULE, WINDOW, WORDS, fits, page


def reader(model: str, window: int = WINDOW - 2_000) -> "Agent[Any, str]":
    agent = Agent(
        model,
        instructions="Be brief.",
        system_prompt="You are kind.",
        model_settings={"max_tokens": 2_000, "thinking": True},
        capabilities=[OutliveHistory(window=window)],
    )

    @agent.tool_plain
    def read(number: int) -> str:
        """Read a page."""
        return page(number)

    return agent


@pytest.mark.parametrize("model", ["anthropic:claude-sonnet-5-5", "openai-responses:gpt-5.5"])
def test_a_long_run_fits_the_window(sim: Simulator, tmp_path: Path, model: str) -> None:
    async def main() -> None:
        for words in (WORDS, "Stop now."):  # the second as another process would go on
            store, agent = OutliveConversationStore(), reader(model)
            conversation = await store.load("pages") or Conversation(conversation_id="pages")
            async with agent:
                result = await agent.run(words, conversation=conversation)
            assert result.output == "That was all."
            await store.save(result)
        messages = result.all_messages()
        whole = [part.content for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        assert whole[0] == page(1), "the messages of the run stay as they are"
        assert [info.conversation_id for info in await OutliveConversationStore().list_conversations()] == ["pages"]
        loaded = await OutliveConversationStore().load("pages")
        assert loaded is not None
        assert loaded.messages == ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))

    asyncio.run(main())
    fits(sim, "pages")
    assert all("You are kind." in request.text and "Be brief." in request.text for request in sim.requests)
    log = (tmp_path / ".transcripts" / "pages.jsonl").read_text()
    assert '"type":"undone"' not in log, "the store and the capability log the same conversation"


def test_a_request_that_the_provider_finds_too_long_is_made_smaller(sim: Simulator) -> None:
    async def main() -> None:
        async with reader("anthropic:claude-sonnet-5-5", window=200_000) as agent:
            assert (await agent.run(WORDS)).output == "That was all."

    asyncio.run(main())
    assert len(sim.refusals) == 1, "the window is known from then on"
    assert "too long" in sim.refusals[0].message
    assert all(RULE in request.text for request in sim.requests)


MESSAGES: list[ModelMessage] = [
    ModelRequest(parts=[UserPromptPart(["Look.", BinaryContent(b"%PDF-1", media_type="application/pdf")])]),
    ModelResponse(parts=[ThinkingPart("Hm.", signature="sig"), ToolCallPart("look", {"deep": True}, "c1")]),
    ModelRequest(parts=[ToolReturnPart("look", {"cat": 1}, "c1"), UserPromptPart("Quick!")]),
    ModelResponse(parts=[TextPart("A cat.")], provider_details={"finish_reason": "stop"}),
]


def test_a_conversation_comes_back_as_it_was(sim: Simulator) -> None:
    async def main() -> None:
        store = OutliveConversationStore()
        assert await store.load("one") is None
        conversation = Conversation(conversation_id="one", messages=list(MESSAGES))
        entries = await store.save(conversation, scope="me")
        conversation.messages.append(ModelRequest(parts=[UserPromptPart("More.")]))
        assert len(await store.save(conversation)) == 1
        loaded = await OutliveConversationStore().load("one", scope="me")
        assert loaded is not None
        assert loaded.messages == conversation.messages
        assert await store.load("one", scope="you") is None
        assert (await store.read_entry(entries[1].id)).message == MESSAGES[1]

    asyncio.run(main())


def test_branches_forks_conflicts_and_deletion(sim: Simulator, tmp_path: Path) -> None:
    async def main() -> None:
        store, other = OutliveConversationStore(), OutliveConversationStore()
        conversation = Conversation(conversation_id="one", messages=list(MESSAGES))
        await store.save(conversation)
        stale = await other.load("one")
        assert stale is not None
        branched = await store.branch("one", at=1, expected_revision=conversation.revision)
        branched.messages.append(ModelResponse(parts=[TextPart("A dog.")]))
        await store.save(branched)
        with pytest.raises(ConversationConflict):
            await other.save(stale)
        record = await other.read_record("one")
        assert record is not None
        left = await other.read_history(record.branches[0])
        assert [entry.message for entry in left] == MESSAGES
        fork = await other.fork("one", at=1, new_conversation_id="two")
        assert fork.messages == MESSAGES[:1]
        await other.delete("one")
        assert await store.load("one") is None
        reloaded = await OutliveConversationStore().load("two")
        assert reloaded is not None
        assert reloaded.messages == MESSAGES[:1]
        with pytest.raises(LookupError):
            await store.read_entry("nobody's")

    asyncio.run(main())
    assert "A dog." in (tmp_path / ".transcripts" / "one.jsonl").read_text()
