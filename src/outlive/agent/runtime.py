"""The runtime of an agent: session, model and tools wired together. A face drives it and watches what happens."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict
from msgspec.structs import replace as with_fields

from outlive.agent.background_summary import SUMMARY_SECONDS, BackgroundSummary, SummaryAnswer
from outlive.agent.masking import masked
from outlive.agent.memory.session_memory import SessionMemory
from outlive.agent.orphans import OrphanChoice, became
from outlive.agent.session import Session
from outlive.agent.spending import Spending
from outlive.agent.tool_session import ToolSession
from outlive.errors import AgentBusy, ConfigError
from outlive.events import Compacted, Event, ModeChanged, ToolStarted, Unqueued, UsageReported, UserQueued
from outlive.limits import Limit, Time
from outlive.loop import Loop
from outlive.messages import Block, Message, Text, plain_text, tool_calls
from outlive.models.errors import ModelError
from outlive.models.protocol import Model, Reply, Usage
from outlive.origin import tagged
from outlive.request import Request
from outlive.result import DeniedCall, RunResult
from outlive.secrets import Masker, mask
from outlive.stream import Live, ToolOutput
from outlive.tasks.graph import TaskGraph
from outlive.tools.builtin.task_context import catch_up, keep_claims
from outlive.tools.files.read_tracker import ReadTracker
from outlive.tools.mcp.servers import McpServers
from outlive.tools.permissions.asking import MODES, Mode
from outlive.tools.permissions.fence import Fence
from outlive.tools.permissions.sandbox import Sandbox
from outlive.tools.processes.orphan import Orphan
from outlive.tools.processes.process_table import identify
from outlive.tools.processes.session_commands import Processes
from outlive.tools.protocol import ToolContext
from outlive.tools.runner import Gate, Hooks, Runner
from outlive.tools.skills import Skills
from outlive.tools.toolbox import Toolbox

STOP_HOOKS = 3
"""How often in a row a Stop hook may send the model back to work."""
Watcher = Callable[[Event | Live], None]
Review = Callable[[str], str]
"""Given the model's last words: what it has to be told before the run may end, or nothing."""
Summaries = Literal["asked", "always", "never", "provider"]
"""When a model writes the summary of a pass: when the user or the model asked for the pass, at each, or at none; or
that the provider writes it, at each."""


@dataclass(slots=True)
class AgentParts:
    """What an agent is made of, besides its session. Sub-agents share them, with fewer tools."""

    root: Path
    model: Model
    toolbox: Toolbox
    graph: TaskGraph
    fence: Fence
    sandbox: Sandbox
    skills: Skills
    gate: Gate
    hooks: Hooks
    system: Callable[[], str]
    """The system prompt as it should be now; a change of it counts from the next turn on."""
    limits: Callable[[Spending], Sequence[Limit]]
    """New limits for each run."""
    chose_mode: Callable[[str, Mode], None] = lambda *_: None
    """Told when the user chose a mode for a session: only that can be believed when it is resumed."""
    summaries: Summaries = "asked"
    owner: str = "agent"
    mcp: McpServers | None = None
    """The servers that end with the agent."""
    mask: Masker = mask
    """Takes the secrets out of what tools read and print."""


class Gauge(Struct, frozen=True):
    """How full the window is: tokens used, where the next pass engages, and what fits at all."""

    used: int
    next_pass: int
    window: int


class Runtime:
    """Works in one session until it is closed."""

    def __init__(self, session: Session, parts: AgentParts, *, owns_model: bool = False) -> None:
        """`owns_model`: nobody else uses the model, so it is closed with the agent."""
        self.session = session
        self.parts = parts
        self._owns_model = owns_model
        self.spending = Spending()
        self.limits: tuple[Limit, ...] = ()
        """Those of the present run."""
        self.denied: list[DeniedCall] = []
        """Calls of the present run that were not allowed, those of sub-agents too."""
        self.processes = Processes()
        self._watchers: list[Watcher] = []
        self._busy = False
        self._compaction: str | None = None
        self._stops = 0
        self._review: Review | None = None
        self._work: asyncio.Task[RunResult] | None = None
        self._interrupted = False
        self._learning: asyncio.Task[None] | None = None
        self.remembering: SessionMemory | None = None
        """The memory of this session, where it has one."""
        self.orphans: tuple[Orphan, ...] = ()
        """Commands that outlived the process that worked in this session before, until `take_over`."""
        self.orphan_choice: OrphanChoice | None = None
        """What becomes of them: what the user said beforehand, if anything."""
        self._news: list[str] = []
        """What the next request has to say about them."""
        self.notices: list[str] = []
        """What a face has to tell the user when it opens: it was noted before anybody watched."""
        self.closing: list[Callable[[], object]] = []
        """What else ends with it."""
        self._background = BackgroundSummary(session, lambda: self.parts.model, self._spent)
        for event in session.events:
            self.spending.take(event)
        session.watch(self._saw)
        self.context = ToolContext(
            root=parts.root,
            session=ToolSession(session, self._ask_to_compact),
            graph=parts.graph,
            fence=parts.fence,
            seen=ReadTracker(),
            processes=self.processes,
            sandbox=parts.sandbox,
            skills=parts.skills,
            output=lambda call_id, text: self.tell(ToolOutput(call_id, text)),
            owner=parts.owner,
            mask=parts.mask,
        )

    # -- what a face does

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Show everything that happens from now on: events of the log, and what passes by live.

        Returns what ends it. A watcher that raises is reported to the logger `outlive`; the run goes on.
        """
        self._watchers.append(watcher)

        def stop() -> None:
            with suppress(ValueError):
                self._watchers.remove(watcher)

        return stop

    async def ask(self, words: str | tuple[Block, ...] = (), review: Review | None = None) -> RunResult:
        """Say what is queued, then `words`, and let the agent work until it comes to rest.

        Raises AgentBusy while it works on something else.
        """
        with self._alone():
            self._review = review
            return await self._counted(self._ask((Text(words),) if isinstance(words, str) else words))

    async def _counted(self, run: Awaitable[RunResult]) -> RunResult:
        """A run with what it used."""
        if self.parts.mcp is not None:
            await self.parts.mcp.begin()
        before = copy(self.spending)
        ending, spent = await run, self.spending.since(before)
        return with_fields(
            ending, session=self.session.id, requests=spent.requests, usage=spent.usage, cost=spent.cost
        )

    async def _ask(self, words: tuple[Block, ...]) -> RunResult:
        await self.take_over()
        queued = dict(self.session.engine.history.queued)
        blocks = (*map(Text, queued.values()), *words)
        answer = await self.parts.hooks.fire("UserPromptSubmit", prompt=plain_text(blocks))
        if answer.blocked:
            return RunResult("hook", detail=answer.blocked)
        more = [Text(tagged("hook", answer.context), "hook")] if answer.context else []
        if self.remembering is not None:
            memories = await self.remembering.relevant(plain_text(blocks), self._answer_to)
            more += [Text(memories, "memory")] if memories else []
        self.session.change_system(self.parts.system(), self.parts.toolbox.schemas(), may_wait=True)
        self.session.user_said((*blocks, *more), queued=tuple(queued))
        return await self._go_on()

    async def go_on(self) -> RunResult:
        """Work from where the log ends, as after a crash. Raises AgentBusy while it works."""
        with self._alone():
            self._review = None
            return await self._counted(self._go_on())

    async def take_over(self, choice: OrphanChoice | None = None) -> None:
        """Stop, wait for or adopt what still runs from before, and answer its calls with what became of it.

        It is stopped when nobody chose. A run does this before anything else.
        """
        said: dict[str, list[str]] = {}
        for orphan in self.orphans:
            chosen = choice or self.orphan_choice or "stop"
            sentence = await became(orphan, chosen, self.processes)
            for pid in orphan.pids() if chosen == "adopt" else ():  # so that it is found again after another death
                self.session.log(ToolStarted, calls=(orphan.call,), process=identify(pid))
            said.setdefault(orphan.call, []).append(sentence)
        self.orphans = ()
        waiting = {call.id for call in self.session.engine.history.waiting}
        self._news += [text for call, texts in said.items() if call not in waiting for text in texts]
        self.session.settle({call: ". ".join(texts) for call, texts in said.items()})

    async def _go_on(self) -> RunResult:
        await self.take_over()
        catch_up(self.context)
        self.limits = tuple(self.parts.limits(self.spending))
        loop = Loop(
            self.session,
            self.parts.model,
            Runner(self.parts.toolbox, self.context, self.parts.gate, self.parts.hooks),
            live=self.tell,
            limits=self.limits,
            at_seam=self._at_seam,
            at_rest=self._at_rest,
        )
        self._interrupted, self._stops, self.denied = False, 0, loop.denied
        self._work = asyncio.ensure_future(loop.run())
        seconds = min((limit.seconds for limit in self.limits if limit.seconds is not None), default=None)
        try:
            async with asyncio.timeout(seconds):
                ending = await self._work
        except TimeoutError:
            ending = RunResult("limit", detail=f"the limit of {seconds:g} s is reached", limit=Time.name)
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
            return RunResult("interrupted", denied=self._masked(loop.denied))
        finally:
            self._work = None
        if self.remembering is not None:
            self._learning = asyncio.ensure_future(self._learn(self.remembering, after=self._learning))
        return with_fields(ending, text=self.session.masked(ending.text), denied=self._masked(loop.denied))

    def _masked(self, denied: Iterable[DeniedCall]) -> tuple[DeniedCall, ...]:
        return tuple(masked(one, self.session.masked) for one in denied)

    @property
    def working(self) -> bool:
        return self._work is not None

    @property
    def unfinished(self) -> bool:
        """Whether the log ends in the middle of a run: `go_on` would have something to do."""
        history = self.session.engine.history
        units = history.units
        return bool(history.queued) or (bool(units) and (units[-1].kind == "user" or bool(units[-1].calls)))

    def queue(self, words: str) -> None:
        """Say something while the agent works: it is logged now, and heard at the next seam or after a resume."""
        self.session.log(UserQueued, text=words)

    @property
    def queued(self) -> tuple[str, ...]:
        """What was queued and has not been heard yet."""
        return tuple(self.session.engine.history.queued.values())

    def unqueue(self) -> tuple[str, ...]:
        """Take back what was queued and has not been heard yet, as after an interruption."""
        words = self.queued
        if words:
            self.session.log(Unqueued, events=tuple(self.session.engine.history.queued))
        return words

    def interrupt(self) -> None:
        """Stop what is going on, be it the model or a tool. The session stays valid and can go on."""
        if self._work is not None:
            self._interrupted = True
            self._work.cancel()

    async def compact(self, focus: str = "") -> Compacted | None:
        """Make a pass now, with a summary by the model; None when nothing is gained. Raises AgentBusy."""
        with self._alone():
            return await self._compact(focus, summary=self.parts.summaries != "never")

    @property
    def mode(self) -> Mode:
        """The permission mode: harness state, changed by the user alone."""
        return next((mode for mode in MODES if mode == self.session.state.mode), MODES[0])

    def set_mode(self, mode: Mode) -> None:
        """The user chose another mode."""
        if mode not in MODES:
            raise ConfigError(f"there is no mode {mode!r}; the modes are {', '.join(MODES)}")
        self.parts.chose_mode(self.session.id, mode)
        if mode != self.session.state.mode:
            self.session.log(ModeChanged, mode=mode)

    async def use_model(self, model: Model) -> None:
        """Go on with another model, which is the agent's from now on; one that it owned before is closed."""
        await self._background.stop()
        before, owned = self.parts.model, self._owns_model
        self.parts, self._owns_model = replace(self.parts, model=model), True
        if owned and before is not model:
            await before.close()

    @property
    def gauge(self) -> Gauge:
        engine = self.session.engine
        return Gauge(engine.used, engine.next_pass, engine.window)

    async def close(self) -> None:
        """End what still runs and let go of all that the agent owns; a model that was given to it stays open."""
        async with AsyncExitStack() as stack:
            for close in (*self.closing, self.session.close, self.processes.close):
                stack.callback(close)
            if self.parts.mcp is not None:
                stack.push_async_callback(self.parts.mcp.close)
            await self._background.stop()
            if self._owns_model:
                stack.push_async_callback(self.parts.model.close)
            if self.remembering is not None:
                stack.callback(self.remembering.close)
                self.remembering.hurry()
            if self._work is not None:
                self.interrupt()
                await asyncio.wait([self._work])
            if self._learning is not None:
                await self._learning

    # -- inside

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One thing at a time: two would write into each other's turns."""
        if self._busy:
            raise AgentBusy(
                f"session {self.session.id!r} is at work: await what it does, say more with queue(), "
                "or open another session for work beside it"
            )
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def tell(self, happened: Event | Live) -> None:
        """Show something to all watchers."""
        for watcher in tuple(self._watchers):
            try:
                watcher(happened)
            except Exception:
                logging.getLogger("outlive").exception("a watcher failed at %s", type(happened).__name__)

    def _saw(self, event: Event) -> None:
        self.spending.take(event)
        self.tell(event)

    def _ask_to_compact(self, focus: str) -> None:
        self._compaction = focus

    async def _at_seam(self) -> None:
        """Between two requests: what the user said meanwhile, claims to renew, a pass that is asked for or due."""
        for event, words in list(self.session.engine.history.queued.items()):
            self.session.user_said(words, queued=(event,))
        news, self._news = self._news, []
        hints = filter(None, (limit.hint() for limit in self.limits))
        self.session.note(*news, *keep_claims(self.context), *hints)
        if self._compaction is not None:
            focus, self._compaction = self._compaction, None
            if await self._compact(focus, summary=self.parts.summaries != "never") is None:
                self.session.note("the pass that was asked for was not made: there was nothing to gain")
        elif self.parts.summaries == "always" and self.session.due():
            await self._compact("", summary=True)
        elif self.parts.summaries == "provider":
            if answer := self._background.take():
                await self._use_summary(answer)
            else:
                self._background.start()

    async def _at_rest(self, text: str) -> bool:
        """Whether there is more to do though the model has come to rest."""
        if self.queued:
            return True
        if self._review is not None and (more := self._review(text)):
            self.session.user_said(tagged("harness", more))
            return True
        answer = await self.parts.hooks.fire("Stop", text=text)
        if not answer.blocked or self._stops >= STOP_HOOKS:
            return False
        self._stops += 1
        self.session.user_said((Text(tagged("hook", answer.blocked), "hook"),))
        return True

    async def _compact(self, focus: str, *, summary: bool) -> Compacted | None:
        if not await self._may_compact(focus):
            return None
        made: Compacted | None = None
        if summary and self.parts.summaries == "provider":
            made = self._summarized(await self._background.now(focus))
        text, problem = await self._summary(focus) if summary and self.parts.summaries != "provider" else ("", "")
        return await self._compacted(made or self.session.compact(focus, text, problem))

    async def _use_summary(self, answer: SummaryAnswer) -> None:
        """Make the pass for which the provider has written a summary."""
        if await self._may_compact(""):
            await self._compacted(self._summarized(answer))

    def _summarized(self, answer: SummaryAnswer) -> Compacted | None:
        made = self.session.summarized(answer.summary, answer.fold_to) if answer.summary else answer.problem
        if isinstance(made, Compacted):
            return made
        self.session.no_summary("provider", made)
        return None

    async def _may_compact(self, focus: str) -> bool:
        before = await self.parts.hooks.fire("PreCompact", focus=focus)
        if before.blocked:
            self.session.note(f"a hook of the user kept the session from being compacted: {before.blocked}")
        return not before.blocked

    async def _compacted(self, made: Compacted | None) -> Compacted | None:
        if made is not None:
            await self.parts.hooks.fire("PostCompact", before=made.receipt.before, after=made.receipt.after)
        return made

    async def _learn(self, remembering: SessionMemory, after: asyncio.Task[None] | None) -> None:
        """What was learned from a run, one run after the other."""
        if after is not None:
            await after
        await remembering.after_run(self._answer_to)

    async def _answer_to(self, prompt: str) -> str:
        """A question of the harness itself, outside of the conversation."""
        message = Message("user", (Text(prompt),))
        async with asyncio.timeout(SUMMARY_SECONDS):
            reply = await whole_reply(self.parts.model, Request("", (), (message,), "", 0))
        self._spent(reply.usage)
        return plain_text(reply.blocks)

    def _spent(self, usage: Usage) -> None:
        """Count what a request cost that is no part of the conversation."""
        price = self.parts.model.price
        self.session.log(UsageReported, of=0, cost=price.of(usage) if price else None, **asdict(usage))

    async def _summary(self, focus: str) -> tuple[str, str]:
        """A summary by the model, or why there is none. The call never loses the session."""
        try:
            async with asyncio.timeout(SUMMARY_SECONDS):
                reply = await whole_reply(self.parts.model, self.session.summary_request(focus))
        except TimeoutError:
            return "", f"no answer within {SUMMARY_SECONDS:.0f} s"
        except ModelError as error:
            return "", f"the call failed: {error}"
        self._spent(reply.usage)
        if any(tool_calls(reply.blocks)):
            return "", "it called tools instead"
        text = plain_text(reply.blocks)
        return text, "" if text.strip() else "it came back empty"


async def whole_reply(model: Model, request: Request) -> Reply:
    """The answer, without what arrives before it."""
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Reply):
                return piece
    raise ModelError(f"{model.name} ended its stream without an answer")
