"""A model for tests that plays a script and fails on requests beyond it."""

from collections.abc import AsyncGenerator, Callable, Iterable

from outlive.context.validity import problems
from outlive.messages import Block, Text, Thinking, ToolCall
from outlive.models.protocol import Price, Reply, Usage
from outlive.request import Request
from outlive.stream import ModelStreamEvent, TextDelta
from outlive.testing.simulator.steps import Call, Part, Say, Step, call, calls, say, think

__all__ = ["ScriptedModel", "Turn", "call", "calls", "numbered", "reply_of", "say", "think"]

Answer = Step | Reply
Turn = Answer | BaseException | Callable[[Request], Answer]
"""An answer, an error to raise, or a function that decides from the request."""


class ScriptedModel:
    """Plays turns in order, and checks every request as a provider would.

    A request beyond the script fails at once; `verify` fails on unused turns.
    """

    price: Price | None = None

    def __init__(self, turns: Iterable[Turn], *, window: int = 200_000, name: str = "scripted:model") -> None:
        self.turns = list(turns)
        self.requests: list[Request] = []
        self.window = window
        self.name = name

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        found = problems(request.messages)
        assert not found, f"a provider would refuse this request: {'; '.join(found)}"
        number = len(self.requests)
        self.requests.append(request)
        assert number < len(self.turns), f"request {number + 1} is not in the script of {len(self.turns)} turns"
        turn = self.turns[number]
        if isinstance(turn, BaseException):
            raise turn
        reply = reply_of(turn(request) if callable(turn) else turn)
        for block in reply.blocks:
            if isinstance(block, Text):
                yield TextDelta(block.text)
        usage = reply.usage if reply.usage != Usage() else Usage(input=request.tokens, output=10)
        yield Reply(numbered(reply.blocks, str(number)), reply.stop, usage, self.name, reply.cut_call)

    async def close(self) -> None:
        """Do nothing."""

    def verify(self) -> None:
        """Fail if part of the script was not played."""
        unused = len(self.turns) - len(self.requests)
        assert not unused, f"{unused} turns of the script were not used, the first: {self.turns[len(self.requests)]}"


def reply_of(answer: Answer) -> Reply:
    """Convert a step to the reply of a model; a reply is returned unchanged."""
    if isinstance(answer, Reply):
        return answer
    called = any(isinstance(part, Call) for part in answer.parts)
    return Reply(tuple(map(_block, answer.parts)), stop="tools" if called else "end")


def _block(part: Part) -> Block:
    match part:
        case Call():
            return ToolCall(part.id, part.name, dict(part.input))
        case Say():
            return Text(part.text)
        case _:
            return Thinking(part.text)


def numbered(blocks: tuple[Block, ...], turn: str) -> tuple[Block, ...]:
    """Give ids to calls without one."""
    return tuple(
        ToolCall(f"call_{turn}_{place}", block.name, block.input)
        if isinstance(block, ToolCall) and not block.id
        else block
        for place, block in enumerate(blocks)
    )
