"""Structured output that the provider enforces: which schemas can be, and how each API is asked for it."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct
from msgspec.structs import replace

from outlive.messages import Text
from outlive.models.openai.model import OpenAIModel
from outlive.models.output_format import enforceable
from outlive.models.protocol import Reply
from outlive.request import OutputFormat, Request
from outlive.testing.simulator import Simulator, say
from outlive.testing.simulator.models import SimulatedModel
from outlive.tools.schema import full_schema
from tests.models.quirky import chunk, quirky
from tests.models.talking import ask, asking, claude, playing


class Walk(Struct, tag="walk"):
    minutes: Annotated[int, Meta(ge=1, description="How long.")]


class Meal(Struct, tag="meal"):
    dishes: list[str]


class Picnic(Struct):
    """A plan."""

    place: str
    mood: Literal["calm", "loud"]
    then: Walk | Meal | None = None


@dataclass
class Weather:
    degrees: float


def format_of(kind: Any) -> OutputFormat:
    found = enforceable(kind.__name__, full_schema(kind))
    assert found is not None
    return found


WEATHER = format_of(Weather)
ASKED: Request = replace(asking("How warm?"), output=WEATHER)
GOOD = '{"degrees": 21.5}'


def test_every_field_is_required_and_no_other_is_allowed() -> None:
    picnic = format_of(Picnic)
    assert picnic.name == "Picnic"
    assert picnic.schema["required"] == ["place", "mood", "then"]
    assert picnic.schema["additionalProperties"] is False
    fields: Any = picnic.schema["properties"]
    assert fields["mood"] == {"type": "string", "enum": ["calm", "loud"]}
    choices = [choice for part in fields["then"]["anyOf"] for choice in part.get("anyOf", [part])]
    assert {"type": "null"} in choices
    walk, meal = (choice for choice in choices if choice["type"] == "object")
    assert walk["properties"]["minutes"] == {"type": "integer", "description": "How long."}
    assert meal["required"] == ["type", "dishes"]


@pytest.mark.parametrize("kind", [int, list[str], dict[str, int]])
def test_only_objects_can_be_enforced(kind: Any) -> None:
    assert enforceable("answer", full_schema(kind)) is None


@pytest.mark.parametrize("kind", [dict[str, int], Any, tuple[int, str], Literal["a", 1]])
def test_a_field_without_a_fixed_shape_is_left_to_the_prompt(kind: Any) -> None:
    class Answer(Struct):
        field: kind

    assert enforceable("Answer", full_schema(Answer)) is None


def test_a_name_is_made_acceptable() -> None:
    assert format_named("Page[int] of many things and then some more, until the name is far too long").isascii()
    assert len(format_named("x" * 100)) == 64
    assert format_named("Page[int]") == "Page_int_"


def format_named(name: str) -> str:
    found = enforceable(name, full_schema(Weather))
    assert found is not None
    return found.name


def test_claude_is_given_the_schema() -> None:
    with playing(say(GOOD)) as sim:
        reply, _ = ask(claude(sim), ASKED)
        body = sim.requests[0].body
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": WEATHER.schema}}
    assert reply.blocks == (Text(GOOD),)


def test_older_models_of_claude_are_asked_without_it() -> None:
    with playing(say(GOOD), models=[SimulatedModel("claude-opus-4-1")]) as sim:
        ask(claude(sim, "claude-opus-4-1"), ASKED)
        assert "output_config" not in sim.requests[0].body


@pytest.mark.parametrize("responses", [True, False])
def test_openai_is_given_the_schema(monkeypatch: pytest.MonkeyPatch, responses: bool) -> None:
    monkeypatch.setattr("outlive.models.openai.versions.OFFICIAL_HOST", "127.0.0.1")
    with playing(say(GOOD)) as sim:
        reply, _ = ask(gpt(sim, responses), ASKED)
        body = sim.requests[0].body
    wanted = {"name": "Weather", "schema": WEATHER.schema, "strict": True}
    if responses:
        assert body["text"] == {"format": {"type": "json_schema", **wanted}}
    else:
        assert body["response_format"] == {"type": "json_schema", "json_schema": wanted}
    assert reply.blocks == (Text(GOOD),)


@pytest.mark.parametrize("responses", [True, False])
def test_other_servers_get_no_format_because_they_may_apply_it_to_calls(responses: bool) -> None:
    with playing(say(GOOD)) as sim:
        ask(gpt(sim, responses), ASKED)
        assert not {"text", "response_format"} & {*sim.requests[0].body}


def test_a_server_that_refuses_the_format_is_asked_without_it_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlive.models.openai.versions.OFFICIAL_HOST", "127.0.0.1")
    refusal = (400, {"error": {"message": "Unknown parameter: 'response_format'.", "type": "invalid_request_error"}})
    answer = (200, [chunk(content=GOOD), chunk("stop")])
    with quirky(refusal, answer, answer) as server:
        model = OpenAIModel("tiny", environment=server.environment, responses=False)
        assert ask_twice(model) == [GOOD, GOOD]
    assert ["response_format" in body for body in server.bodies] == [True, False, False]


def ask_twice(model: OpenAIModel) -> list[str]:
    async def work() -> list[str]:
        heard = []
        for _ in range(2):
            pieces = [piece async for piece in model.stream(ASKED)]
            assert isinstance(pieces[-1], Reply)
            heard += [block.text for block in pieces[-1].blocks if isinstance(block, Text)]
        await model.close()
        return heard

    return asyncio.run(work())


def gpt(sim: Simulator, responses: bool) -> OpenAIModel:
    return OpenAIModel("gpt-5.4", environment=sim.env(), responses=responses)
