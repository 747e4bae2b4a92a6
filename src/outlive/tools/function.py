"""`@tool`: a tool from a typed function. Name, description and input schema come from its signature and docstring."""

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Generic, ParamSpec, TypeVar, get_args, get_origin, get_type_hints, overload

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from outlive.tools.errors import ToolError
from outlive.tools.protocol import Effect, Tool, ToolContext, ToolOutcome
from outlive.tools.schema import schema

P = ParamSpec("P")
R = TypeVar("R")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_NAMED_PARAMETERS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class FunctionTool(Tool[Struct], Generic[P, R]):
    """A function as a tool. It can still be called like the function."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str = "",
        description: str = "",
        effect: Effect | None = None,
        parallel: bool = False,
    ) -> None:
        """Raises TypeError when the function cannot be a tool; the message says what is missing."""
        self.function = function
        self.name = name or function.__name__
        self.description = description or inspect.getdoc(function) or ""
        self.effect = effect or "run"
        self.asks = effect is not None
        self.parallel = parallel
        if not _NAME.fullmatch(self.name):
            raise TypeError(f"{self.name!r} cannot be the name of a tool: letters, digits, _ and -, at most 64")
        if not self.description.strip():
            raise TypeError(f"tool {self.name}: write a docstring; the model reads it to know what the tool does")
        self.input, self._context = _input(function, self.name)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def subject(self, given: Struct) -> str:
        """The arguments, for rules and for people."""
        return msgspec.json.encode(given).decode()

    async def run(self, given: Struct, context: ToolContext) -> ToolOutcome:
        """Run the function, in a thread unless it is async."""
        values = asdict(given) | ({self._context: context} if self._context else {})
        call: Callable[..., Any] = self.function
        if inspect.iscoroutinefunction(call):
            return _outcome(self.name, await call(**values))
        found = await asyncio.to_thread(call, **values)
        return _outcome(self.name, await found if isinstance(found, Awaitable) else found)


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    *, name: str = "", description: str = "", effect: Effect | None = None, parallel: bool = False
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a tool of a function: `@tool`, or `@tool(effect="run")` for one that needs the user's word.

    The program that gives an agent a tool lets it run, so a tool that declares no `effect` runs without asking; deny
    rules still count, and plan mode refuses it. With `effect` it is treated like the standard tools of that kind. A
    parameter of type `ToolContext` is filled in and not shown to the model. What the function returns is text, a
    `ToolOutcome`, or a value that is sent as JSON; what it raises is answered to the model.
    """
    return partial(FunctionTool, **options) if function is None else FunctionTool(function, **options)


def _input(function: Callable[..., Any], name: str) -> tuple[type[Struct], str]:
    """The input of a tool, and the name of the parameter that takes its context."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(f"tool {name}: {error}; types of parameters have to be defined in its module") from None
    fields: list[Any] = []
    context = ""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in _NAMED_PARAMETERS:
            raise TypeError(f"tool {name}: {parameter} cannot be filled in by name; use plain parameters")
        if parameter.name not in hints:
            raise TypeError(f"tool {name}: parameter {parameter.name!r} needs a type")
        kind = hints[parameter.name]
        if kind is ToolContext:
            context = parameter.name
        elif parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, _described(kind)))
        else:
            fields.append((parameter.name, _described(kind), parameter.default))
    try:
        struct = msgspec.defstruct(name.replace("-", "_"), fields, kw_only=True, forbid_unknown_fields=True)
        schema(struct)
    except (TypeError, RecursionError) as error:
        raise TypeError(f"tool {name}: its parameters cannot be described as JSON: {error}") from None
    return struct, context


def _described(kind: Any) -> Any:
    """`Annotated[str, "the city"]` describes a parameter to the model."""
    if get_origin(kind) is not Annotated:
        return kind
    plain, *notes = get_args(kind)
    described = (Meta(description=note) if isinstance(note, str) else note for note in notes)
    return Annotated[(plain, *described)]


def _outcome(name: str, found: object) -> ToolOutcome:
    if isinstance(found, ToolOutcome):
        return found
    if isinstance(found, str) or found is None:
        return ToolOutcome(found or "")
    try:
        return ToolOutcome(msgspec.json.encode(found).decode())
    except TypeError as error:
        raise ToolError(f"{name} ran, but what it returned cannot be shown: {error}") from None
