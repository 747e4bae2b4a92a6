"""Models for tests: one that plays a script and fails on what is not in it, one that repeats a recorded session."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence

from outlive.context.engine import Request
from outlive.context.valid import problems
from outlive.events import AssistantSaid, Event
from outlive.live import Arriving, TextArrived
from outlive.messages import Block, Text, ToolCall
from outlive.models.protocol import Price, Reply, Usage

Turn = Reply | BaseException | Callable[[Request], Reply]
"""An answer, an error to raise, or a function that decides from the request."""


def say(text: str) -> Reply:
    """An answer in words, with which the model comes to rest."""
    return Reply((Text(text),))


def call(name: str, /, id: str = "", **given: object) -> ToolCall:
    """A tool call; ids are given by the model that plays it."""
    return ToolCall(id, name, dict(given))


def calls(*made: ToolCall, text: str = "") -> Reply:
    """An answer with tool calls."""
    words: tuple[Block, ...] = (Text(text),) if text else ()
    return Reply((*words, *made), stop="tools")


class ScriptedModel:
    """Plays turns in order. `verify` fails on turns that were not used; a request too many fails at once.

    Every request is checked as a provider would.
    """

    price: Price | None = None

    def __init__(self, turns: Iterable[Turn], *, window: int = 200_000, name: str = "scripted:model") -> None:
        self.turns = list(turns)
        self.requests: list[Request] = []
        self.window = window
        self.name = name

    async def stream(self, request: Request) -> AsyncGenerator[Arriving | Reply, None]:
        found = problems(request.messages)
        assert not found, f"a provider would refuse this request: {'; '.join(found)}"
        number = len(self.requests)
        self.requests.append(request)
        assert number < len(self.turns), f"request {number + 1} is not in the script of {len(self.turns)} turns"
        turn = self.turns[number]
        if isinstance(turn, BaseException):
            raise turn
        reply = turn(request) if callable(turn) else turn
        for block in reply.blocks:
            if isinstance(block, Text):
                yield TextArrived(block.text)
        usage = reply.usage if reply.usage != Usage() else Usage(input=request.tokens, output=10)
        yield Reply(numbered(reply.blocks, str(number)), reply.stop, usage, self.name, reply.cut_call)

    async def close(self) -> None:
        """Nothing to close."""

    def verify(self) -> None:
        """Fail when part of the script was not played."""
        unused = len(self.turns) - len(self.requests)
        assert not unused, f"{unused} turns of the script were not used, the first: {self.turns[len(self.requests)]}"


def replayed(events: Sequence[Event]) -> list[Turn]:
    """The answers of a recorded session, as a script."""
    return [Reply(event.blocks) for event in events if isinstance(event, AssistantSaid)]


def numbered(blocks: tuple[Block, ...], turn: str) -> tuple[Block, ...]:
    """Calls that came without an id get one."""
    return tuple(
        ToolCall(f"call_{turn}_{place}", block.name, block.input)
        if isinstance(block, ToolCall) and not block.id
        else block
        for place, block in enumerate(blocks)
    )
