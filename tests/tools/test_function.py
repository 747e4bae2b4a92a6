"""`@tool`: a tool from a function, its schema from the signature."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from msgspec import Struct

from outlive import FunctionTool, ToolContext, ToolOutcome, tool
from outlive.messages import ToolCall
from outlive.tools.errors import ToolError
from outlive.tools.schema import schema
from outlive.tools.toolbox import Toolbox

NO_CONTEXT: Any = None


@dataclass
class Point:
    x: int
    y: int = 0


@tool(effect="look", parallel=True)
async def measure(
    at: Point, unit: Literal["m", "km"] = "m", names: Annotated[list[str] | None, "what to call it"] = None
) -> str:
    """Measure a distance.

    It is exact.
    """
    return f"{at.x} {at.y} {unit} {names}"


def called(function: FunctionTool[..., Any], **given: Any) -> ToolOutcome:
    found, value = Toolbox([function]).read(ToolCall("1", function.name, given))
    return asyncio.run(found.run(value, NO_CONTEXT))


def test_name_description_and_schema_come_from_the_function() -> None:
    assert (measure.name, measure.effect, measure.parallel) == ("measure", "look", True)
    assert measure.description == "Measure a distance.\n\nIt is exact."
    form = schema(measure.input)
    assert form["required"] == ["at"]
    assert form["properties"]["unit"] == {"enum": ["km", "m"]}
    assert form["properties"]["names"]["description"] == "what to call it"
    assert form["properties"]["at"]["properties"]["x"] == {"type": "integer"}


def test_arguments_arrive_typed_and_the_function_can_still_be_called() -> None:
    assert called(measure, at={"x": 1}, unit="km").text == "1 0 km None"
    assert asyncio.run(measure(Point(2), names=["a"])) == "2 0 m ['a']"


@pytest.mark.parametrize("given", [{}, {"at": 3}, {"at": {"x": 1}, "unit": "mile"}, {"at": {"x": 1}, "other": 1}])
def test_bad_input_is_answered_with_what_it_takes(given: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match=r"it takes \{at, unit\?, names\?\}"):
        called(measure, **given)


def test_without_an_effect_it_counts_as_running_something_and_does_not_ask() -> None:
    @tool
    def quiet() -> None:
        """Does something."""

    assert (quiet.effect, quiet.asks) == ("run", False)
    assert tool(effect="run")(quiet.function).asks
    assert called(quiet).text == ""


def test_a_plain_function_runs_in_a_thread() -> None:
    @tool
    def where() -> int:
        """Which thread."""
        return threading.get_ident()

    assert called(where).text != str(threading.get_ident())


def test_what_is_returned_is_text_an_outcome_or_json() -> None:
    @tool
    def give(what: str) -> object:
        """Give it back."""
        values = {"outcome": ToolOutcome("bad", is_error=True), "point": Point(1), "raw": object()}
        return values.get(what, what)

    assert called(give, what="words").text == "words"
    assert called(give, what="outcome").is_error
    assert called(give, what="point").text == '{"x":1,"y":0}'
    with pytest.raises(ToolError, match="cannot be shown"):
        called(give, what="raw")


def test_a_context_is_filled_in_and_not_shown_to_the_model() -> None:
    @tool(name="look-around", description="Look.")
    async def look(context: ToolContext, deep: bool = False) -> str:
        return f"{context} {deep}"

    assert (look.name, look.description) == ("look-around", "Look.")
    assert list(schema(look.input)["properties"]) == ["deep"]
    assert called(look, deep=True).text == "None True"


class Loop(Struct):
    inner: "Loop | None" = None


def test_a_function_that_cannot_be_a_tool_is_refused_where_it_is_defined() -> None:
    def undocumented(x: int) -> str:
        return str(x)

    def untyped(x) -> str:  # type: ignore[no-untyped-def]
        """Does it."""
        return str(x)

    def many(*x: int) -> str:
        """Does it."""
        return str(x)

    def odd(x: object) -> str:
        """Does it."""
        return str(x)

    def endless(x: Loop) -> str:
        """Does it."""
        return str(x)

    for function, says in (
        (undocumented, "docstring"),
        (untyped, "'x' needs a type"),
        (many, "cannot be filled in by name"),
        (odd, "described as JSON"),
        (endless, "described as JSON"),
    ):
        with pytest.raises(TypeError, match=says):
            tool(function)
    with pytest.raises(TypeError, match="cannot be the name"):
        tool(name="two words", description="x")(lambda: "")
