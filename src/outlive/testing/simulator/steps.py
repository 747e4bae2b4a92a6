"""Answers of the simulated model: steps made of text, calls and thinking, joined with `+`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Say:
    """A piece of text."""

    text: str


@dataclass(frozen=True)
class Think:
    """A piece of thinking; signed when sent, left out if the request turns thinking off."""

    text: str
    signature: str = ""


@dataclass(frozen=True)
class Call:
    """A tool call. Without an id, the simulator makes one."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""


Part: TypeAlias = Say | Think | Call


@dataclass(frozen=True)
class Step:
    """One whole answer of the model."""

    parts: tuple[Part, ...]

    def __add__(self, other: "Step") -> "Step":
        return Step((*self.parts, *other.parts))

    def __str__(self) -> str:
        return " + ".join(_short(part) for part in self.parts) or "nothing"


def say(text: str) -> Step:
    """Answer with a text."""
    return Step((Say(text),))


def think(text: str) -> Step:
    """Think before the rest: `think("…") + call("bash", command="ls")`."""
    return Step((Think(text),))


def call(name: str, input: Mapping[str, Any] | None = None, /, *, call_id: str = "", **arguments: Any) -> Step:
    """Call one tool: `call("bash", command="ls")`, or `call("bash", {"command": "ls"})` if a name would clash."""
    return Step((Call(name, {**(input or {}), **arguments}, call_id),))


def calls(*several: Step | Iterable[Step]) -> Step:
    """Call several tools in one answer: `calls(call(…), call(…))`, or `calls([call(…), call(…)])`."""
    steps = [step for entry in several for step in ([entry] if isinstance(entry, Step) else entry)]
    return Step(tuple(part for step in steps for part in step.parts))


def read_steps(data: Any) -> list[Step]:
    """Read steps from JSON: a list of lists of `{"say": …}`, `{"think": …}` or `{"call": NAME, "input": {…}}`."""
    if not isinstance(data, list):
        raise ValueError("a script is a list of steps")
    return [Step(tuple(_read(part) for part in (step if isinstance(step, list) else [step]))) for step in data]


def _read(part: Any) -> Part:
    match part:
        case {"say": str(text)}:
            return Say(text)
        case {"think": str(text)}:
            return Think(text)
        case {"call": str(name)}:
            return Call(name, part.get("input", {}), part.get("id", ""))
        case _:
            raise ValueError(f"a part of a step has say, think or call, and not: {part!r}")


def _short(part: Part) -> str:
    match part:
        case Say(text):
            return f"say({_clip(text)!r})"
        case Think(text):
            return f"think({_clip(text)!r})"
        case Call(name, given):
            return f"call({name!r}, {_clip(str(dict(given)))})"


def _clip(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"
