"""The Responses API through OpenAI's SDK: the strict simulator, and servers with manners of their own."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from outlive.messages import Block, Image, Message, Opaque, Text, ToolResult, tool_calls
from outlive.models.errors import NotSetUp, PromptTooLong, RequestRefused, Unavailable
from outlive.models.openai.model import OpenAIModel
from outlive.models.openai.responses_form import is_reasoning, responses_form
from outlive.models.openai.versions import takes_breakpoints, wants_responses
from outlive.models.protocol import Reply, Usage
from outlive.request import Request
from outlive.stream import CallArriving, TextArrived, ThinkingArrived
from outlive.testing.simulator import Fault, Simulator, call, calls, say, think
from tests.models.quirky import Quirky, chunk, quirky
from tests.models.talking import TOOLS, ask, asked, asking, assistant, bash, playing, result, user, words

OLDER, NEWER, ONLY = "gpt-5.4", "gpt-5.6-sol", "gpt-6-astra"
LONG = "All of this is long. " * 400


def gpt(sim: Simulator, name: str = OLDER, **options: Any) -> OpenAIModel:
    return OpenAIModel(name, environment=sim.env(), **{"responses": True} | options)


def tiny(server: Quirky, **options: Any) -> OpenAIModel:
    return OpenAIModel("tiny", environment=server.environment, **{"responses": True} | options)


def answers(reply: Reply, text: str = "a.py") -> Message:
    """The results of all calls of a reply."""
    return user(*(ToolResult(made.id, text) for made in tool_calls(reply.blocks)))


async def talk(model: OpenAIModel, request: Request) -> Reply:
    """One answer of a model that is asked again later."""
    pieces = [piece async for piece in model.stream(request)]
    assert isinstance(pieces[-1], Reply)
    return pieces[-1]


def test_words_arrive_in_pieces_and_the_reply_has_them_whole() -> None:
    text = "Here is a longer answer, so that it comes in several pieces."
    with playing(say(text)) as sim:
        reply, pieces = ask(gpt(sim), asking("Hello?"))
        request = sim.requests[0]
    assert (request.path, request.body["instructions"]) == ("/v1/responses", "You work.")
    assert request.body["store"] is False
    assert (reply.blocks, reply.stop, reply.model) == ((Text(text),), "end", OLDER)
    assert words(pieces) == text
    assert len(pieces) > 1
    assert request.usage
    assert reply.usage == Usage(request.usage.input, 0, 0, request.usage.output)


def test_reasoning_is_shown_kept_and_sent_back_before_its_call() -> None:
    with playing(think("I should look.") + call("bash", command="ls"), say("Done.")) as sim:
        first, pieces = ask(gpt(sim), asking("Look!"))
        second, _ = ask(gpt(sim), asking("Look!", assistant(*first.blocks), answers(first)))
        items = sim.requests[1].body["input"]
    thought, made = first.blocks
    assert isinstance(thought, Opaque)
    assert pieces[0] == ThinkingArrived("I should look.")
    assert pieces[-1] == CallArriving("bash")
    assert [item["type"] for item in items] == ["message", "reasoning", "function_call", "function_call_output"]
    assert items[1] == thought.data
    assert second.blocks == (Text("Done."),)
