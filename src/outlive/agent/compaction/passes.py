"""Passes that need the model: with its summary, with the provider's, and the hooks around them."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing

from msgspec.structs import asdict

from outlive.agent.compaction.background_summary import SUMMARY_SECONDS, BackgroundSummary, SummaryAnswer
from outlive.agent.parts import AgentParts
from outlive.agent.session import Session
from outlive.context.tokens import estimate
from outlive.events import Compacted, UsageReported
from outlive.limits import Limit
from outlive.messages import Message, Text, plain_text, tool_calls
from outlive.models.answers.limit import MARGIN, MIN_ANSWER_TOKENS
from outlive.models.errors import ModelError, RequestRefused
from outlive.models.protocol import Model, Reply, Usage
from outlive.request import Request


class Passes:
    """Makes the passes of a session, and asks its model outside of the conversation."""

    def __init__(
        self, session: Session, parts: Callable[[], AgentParts], limits: Callable[[], Iterable[Limit]] = tuple
    ) -> None:
        """`parts` returns those in use: the model may change; `limits` those of the current run."""
        self._session = session
        self._limits = limits
        self._parts = parts
        self._background = BackgroundSummary(session, lambda: parts().model, self._spent)

    async def close(self) -> None:
        """Stop waiting for a summary by the provider."""
        await self._background.stop()

    async def compact(self, focus: str) -> Compacted | None:
        """Make a pass that was asked for; returns None if it saves nothing."""
        return await self._compact(focus, summary=self._parts().summaries != "never")

    async def make_due(self) -> None:
        """Make the pass that is due, if it gets a summary at all."""
        summaries = self._parts().summaries
        if summaries == "always" and self._session.due():
            await self._compact("", summary=True)
        elif summaries == "provider":
            if answer := self._background.take():
                await self._use_summary(answer)
            else:
                self._background.start()

    async def answer_to(self, prompt: str) -> str:
        """Ask the model something outside of the conversation."""
        room = self._session.engine.window - MIN_ANSWER_TOKENS
        if estimate(prompt) * MARGIN > room:
            raise RequestRefused(f"the question has more than the {room:,} tokens that the window leaves")
        message = Message("user", (Text(prompt),))
        return await self._answered(Request("", (), (message,), "", 0))

    async def answer_here(self, prompt: str) -> str:
        """Ask the model at the end of the conversation, which the provider's cache holds; nothing of it is kept."""
        return await self._answered(self._session.question(prompt))

    def _count_request(self) -> None:
        """Count a request outside of the conversation. Raises RequestRefused if a limit is reached."""
        limits = tuple(self._limits())
        if reason := next(filter(None, (limit.spent() for limit in limits)), ""):
            raise RequestRefused(reason)
        for limit in limits:
            limit.count()

    async def _answered(self, request: Request) -> str:
        self._count_request()
        async with asyncio.timeout(SUMMARY_SECONDS):
            reply = await whole_reply(self._parts().model, request)
        self._spent(reply.usage)
        return plain_text(reply.blocks)

    async def _compact(self, focus: str, *, summary: bool) -> Compacted | None:
        if not await self._may_compact(focus) or not self._session.engine.may_gain(focus):
            return None
        provider = self._parts().summaries == "provider"
        made: Compacted | None = None
        if summary and provider:
            made = self._summarized(await self._background.now(focus))
        text, problem = await self._summary(focus) if summary and not provider else ("", "")
        return await self._compacted(made or self._session.compact(focus, text, problem))

    async def _use_summary(self, answer: SummaryAnswer) -> None:
        """Make the pass that the provider has written a summary for."""
        if await self._may_compact(""):
            await self._compacted(self._summarized(answer))

    def _summarized(self, answer: SummaryAnswer) -> Compacted | None:
        made = self._session.summarized(answer.summary, answer.fold_to) if answer.summary else answer.problem
        if isinstance(made, Compacted):
            return made
        self._session.no_summary("provider", made)
        return None

    async def _may_compact(self, focus: str) -> bool:
        before = await self._parts().hooks.fire("PreCompact", focus=focus)
        if before.blocked:
            self._session.note(f"a hook of the user kept the session from being compacted: {before.blocked}")
        return not before.blocked

    async def _compacted(self, made: Compacted | None) -> Compacted | None:
        if made is not None:
            await self._parts().hooks.fire("PostCompact", before=made.receipt.before, after=made.receipt.after)
        return made

    async def _summary(self, focus: str) -> tuple[str, str]:
        """A summary by the model, or the reason why there is none. A failure never loses the session."""
        try:
            async with asyncio.timeout(SUMMARY_SECONDS):
                self._count_request()
                reply = await whole_reply(self._parts().model, self._session.summary_request(focus))
        except TimeoutError:
            return "", f"no answer within {SUMMARY_SECONDS:.0f} s"
        except ModelError as error:
            return "", f"the call failed: {error}"
        self._spent(reply.usage)
        if any(tool_calls(reply.blocks)):
            return "", "it called tools instead"
        text = plain_text(reply.blocks)
        return text, "" if text.strip() else "it came back empty"

    def _spent(self, usage: Usage) -> None:
        """Count the cost of a request outside of the conversation."""
        price = self._parts().model.price
        self._session.log(UsageReported, of=0, cost=price.of(usage) if price else None, **asdict(usage))


async def whole_reply(model: Model, request: Request) -> Reply:
    """The final answer of a stream."""
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Reply):
                return piece
    raise ModelError(f"{model.name} ended its stream without an answer")
