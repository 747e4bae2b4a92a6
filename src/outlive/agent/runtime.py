"""The runtime of an agent: wires session, model and tools together. A face drives it and watches its events."""

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
from outlive.agent.tool_session import SessionAdapter
from outlive.errors import AgentBusy, ConfigError
from outlive.events import Compacted, Event, ModeChanged, ToolStarted, Unqueued, UsageReported, UserQueued
from outlive.limits import Limit, Time
from outlive.loop import Loop
from outlive.messages import Block, Message, Text, plain_text, tool_calls
from outlive.models.errors import ModelError, RequestRefused
from outlive.models.protocol import Model, Reply, Usage
from outlive.origin import tagged
from outlive.request import OutputFormat, Request
from outlive.result import DeniedCall, RunResult
from outlive.secrets import Masker, mask
from outlive.stream import StreamEvent, ToolOutput
from outlive.tasks.graph import TaskGraph
from outlive.tools.builtin.task_context import catch_up, keep_claims
from outlive.tools.files.read_tracker import ReadTracker
from outlive.tools.mcp.servers import McpServers
from outlive.tools.permissions.asking import MODES, PermissionMode
from outlive.tools.permissions.fence import Fence
from outlive.tools.permissions.sandbox import Sandbox
from outlive.tools.processes.orphan import Orphan
from outlive.tools.processes.process_table import identify
from outlive.tools.processes.session_commands import Processes
from outlive.tools.protocol import ToolContext
from outlive.tools.runner import Gate, Hooks, Runner
from outlive.tools.skills import Skills
from outlive.tools.toolbox import Toolbox

MAX_STOP_HOOK_BLOCKS = 3
"""How often in a row a Stop hook may send the model back to work."""
Watcher = Callable[[Event | StreamEvent], None]
Review = Callable[[str], str]
"""Takes the model's last answer; returns what the model has to be told before the run may end, else empty."""
Summaries = Literal["asked", "always", "never", "provider"]
"""When a summary is written for a pass: `asked` if the user or the model asked for the pass, `always`, `never`;
`provider`: at each pass, by the provider."""


@dataclass(slots=True)
class AgentParts:
    """The parts of an agent besides its session. Sub-agents share them, with fewer tools."""

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
    """The current system prompt; a change applies from the next turn on."""
    limits: Callable[[Spending], Sequence[Limit]]
    """Makes new limits for each run."""
    chose_mode: Callable[[str, PermissionMode], None] = lambda *_: None
    """Called when the user chooses a mode for a session. Only a mode recorded this way is restored on resume."""
    summaries: Summaries = "asked"
    owner: str = "agent"
    mcp: McpServers | None = None
    """MCP servers that are stopped with the agent."""
    mask: Masker = mask
    """Masks secrets in what tools read and print."""


class Gauge(Struct, frozen=True):
    """How full the window is: tokens used, where the next pass engages, and the size of the window."""

    used: int
    next_pass: int
    window: int


class Runtime:
    """Works in one session until it is closed."""

    def __init__(self, session: Session, parts: AgentParts, *, owns_model: bool = False) -> None:
        """`owns_model`: the model is used by this agent only and closed with it."""
        self.session = session
        self.parts = parts
        self._owns_model = owns_model
        self.spending = Spending()
        self.limits: tuple[Limit, ...] = ()
        """Limits of the current run."""
        self.denied: list[DeniedCall] = []
        """Calls of the current run that were not allowed, those of sub-agents included."""
        self.processes = Processes()
        self._watchers: list[Watcher] = []
        self._busy = False
        self._compaction: str | None = None
        self._stops = 0
        self._review: Review | None = None
        self._output: OutputFormat | None = None
        self._work: asyncio.Task[RunResult] | None = None
        self._interrupted = False
        self._learning: asyncio.Task[None] | None = None
        self.memory: SessionMemory | None = None
        """The memory of this session, if it has one."""
        self.orphans: tuple[Orphan, ...] = ()
        """Commands of an earlier process of this session that still run, until `take_over`."""
        self.orphan_choice: OrphanChoice | None = None
        """What to do with them, if the user chose beforehand."""
        self._news: list[str] = []
        """What the next request has to say about them."""
        self.window_origin = ""
        """Where the size of the window comes from."""
        self.notices: list[str] = []
        """Notices for the user that were recorded before a face was watching."""
        self.closing: list[Callable[[], object]] = []
        """Called on close."""
        self._background = BackgroundSummary(session, lambda: self.parts.model, self._spent)
        for event in session.events:
            self.spending.take(event)
        session.watch(self._saw)
        self.context = ToolContext(
            root=parts.root,
            session=SessionAdapter(session, self._ask_to_compact),
            graph=parts.graph,
            fence=parts.fence,
            read_tracker=ReadTracker(),
            processes=self.processes,
            sandbox=parts.sandbox,
            skills=parts.skills,
            output=lambda call_id, text: self.tell(ToolOutput(call_id, text)),
            owner=parts.owner,
            mask=parts.mask,
        )

    # -- what a face does

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Send every event of the log and every stream event to `watcher`; the returned function unsubscribes it.

        A watcher that raises is reported to the logger `outlive`; the run goes on.
        """
        self._watchers.append(watcher)

        def stop() -> None:
            with suppress(ValueError):
                self._watchers.remove(watcher)

        return stop

    async def ask(
        self, words: str | tuple[Block, ...] = (), review: Review | None = None, output: OutputFormat | None = None
    ) -> RunResult:
        """Say queued words and then `words`, and run until the model is done. Raises AgentBusy during another run.

        The provider enforces `output` from the start in a new session, else only after `review` has refused an
        answer: another format makes its cache of the conversation worthless.
        """
        with self._alone():
            self.limits = tuple(self.parts.limits(self.spending))
            self._review, self._output = review, output
            self.session.output = None if self.session.engine.history.units else output
            try:
                return await self._counted(self._ask((Text(words),) if isinstance(words, str) else words))
            finally:
                self.session.output = None

    async def _counted(self, run: Awaitable[RunResult]) -> RunResult:
        """Return the run's result with its usage and cost."""
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
        if self.memory is not None:
            memories = await self.memory.relevant(plain_text(blocks), self._answer_to)
            more += [Text(memories, "memory")] if memories else []
        self.session.change_system(self.parts.system(), self.parts.toolbox.schemas(), may_wait=True)
        self.session.user_said((*blocks, *more), queued=tuple(queued))
        return await self._go_on()

    async def go_on(self) -> RunResult:
        """Continue from the end of the log, as after a crash. Raises AgentBusy during another run."""
        with self._alone():
            self.limits = tuple(self.parts.limits(self.spending))
            self._review = None
            return await self._counted(self._go_on())

    async def take_over(self, choice: OrphanChoice | None = None) -> None:
        """Stop, await or adopt commands that still run from before, and answer their calls. The default is to stop
        them. A run does this first."""
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
        if self.memory is not None:
            self._learning = asyncio.ensure_future(self._learn(self.memory, self.limits, after=self._learning))
        return with_fields(ending, text=self.session.masked(ending.text), denied=self._masked(loop.denied))

    def _masked(self, denied: Iterable[DeniedCall]) -> tuple[DeniedCall, ...]:
        return tuple(masked(call, self.session.masked) for call in denied)

    @property
    def working(self) -> bool:
        return self._work is not None

    @property
    def unfinished(self) -> bool:
        """Whether the log ends in the middle of a run, so that `go_on` has work to do."""
        history = self.session.engine.history
        units = history.units
        return bool(history.queued) or (bool(units) and (units[-1].kind == "user" or bool(units[-1].calls)))

    def queue(self, words: str) -> None:
        """Say something during a run: logged now, sent to the model before its next request or after a resume."""
        self.session.log(UserQueued, text=words)

    @property
    def queued(self) -> tuple[str, ...]:
        """Queued words that were not sent to the model yet."""
        return tuple(self.session.engine.history.queued.values())

    def unqueue(self) -> tuple[str, ...]:
        """Withdraw queued words that were not sent to the model yet, as after an interruption."""
        words = self.queued
        if words:
            self.session.log(Unqueued, events=tuple(self.session.engine.history.queued))
        return words

    def interrupt(self) -> None:
        """Stop the current model request or tool. The session stays valid and can be continued."""
        if self._work is not None:
            self._interrupted = True
            self._work.cancel()

    async def compact(self, focus: str = "") -> Compacted | None:
        """Compact now, with a summary by the model; returns None if that saves nothing. Raises AgentBusy."""
        with self._alone():
            return await self._compact(focus, summary=self.parts.summaries != "never")

    @property
    def mode(self) -> PermissionMode:
        """The permission mode: state of the harness that only the user changes."""
        return next((mode for mode in MODES if mode == self.session.state.mode), MODES[0])

    def set_mode(self, mode: PermissionMode, by: str = "") -> None:
        """Set the mode that the user chose. `by` names who, and from where."""
        if mode not in MODES:
            raise ConfigError(f"there is no mode {mode!r}; the modes are {', '.join(MODES)}")
        self.parts.chose_mode(self.session.id, mode)
        if mode != self.session.state.mode:
            self.session.log(ModeChanged, mode=mode, by=by)

    async def use_model(self, model: Model) -> None:
        """Switch to another model, which the agent owns from now on; a model it owned before is closed."""
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
        """Stop running work and release what the agent owns; a model that was passed in stays open."""
        async with AsyncExitStack() as stack:
            for close in (*self.closing, self.session.close, self.processes.close):
                stack.callback(close)
            if self.parts.mcp is not None:
                stack.push_async_callback(self.parts.mcp.close)
            await self._background.stop()
            if self._owns_model:
                stack.push_async_callback(self.parts.model.close)
            if self.memory is not None:
                stack.callback(self.memory.close)
                self.memory.hurry()
            if self._work is not None:
                self.interrupt()
                await asyncio.wait([self._work])
            if self._learning is not None:
                await self._learning

    # -- inside

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Allow one run at a time: two would write into each other's turns."""
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

    def tell(self, happened: Event | StreamEvent) -> None:
        """Send an event to all watchers."""
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
        """Between two requests: send queued words, renew claims, make a pass that was asked for or is due."""
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
        """Whether the run continues although the model has finished."""
        if self.queued:
            return True
        if self._review is not None and (more := self._review(text)):
            self.session.output = self._output
            self.session.user_said((Text(tagged("harness", more), "harness"),))
            return True
        answer = await self.parts.hooks.fire("Stop", text=text)
        if not answer.blocked or self._stops >= MAX_STOP_HOOK_BLOCKS:
            return False
        self._stops += 1
        self.session.user_said((Text(tagged("hook", answer.blocked), "hook"),))
        return True

    async def _compact(self, focus: str, *, summary: bool) -> Compacted | None:
        if not await self._may_compact(focus) or not self.session.engine.may_gain(focus):
            return None
        made: Compacted | None = None
        if summary and self.parts.summaries == "provider":
            made = self._summarized(await self._background.now(focus))
        text, problem = await self._summary(focus) if summary and self.parts.summaries != "provider" else ("", "")
        return await self._compacted(made or self.session.compact(focus, text, problem))

    async def _use_summary(self, answer: SummaryAnswer) -> None:
        """Make the pass that the provider has written a summary for."""
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

    async def _learn(
        self, memory: SessionMemory, limits: tuple[Limit, ...], after: asyncio.Task[None] | None
    ) -> None:
        """Extract memories from a run, after the extraction of the run before it. The limits of the run hold."""
        if after is not None:
            await after
        spent = any(limit.spent() for limit in limits)
        await memory.after_run(None if spent else lambda prompt: self._answer_to(prompt, limits))

    async def _answer_to(self, prompt: str, limits: tuple[Limit, ...] | None = None) -> str:
        """Ask the model something outside of the conversation, within the limits of the run."""
        self._count_request(self.limits if limits is None else limits)
        message = Message("user", (Text(prompt),))
        async with asyncio.timeout(SUMMARY_SECONDS):
            reply = await whole_reply(self.parts.model, Request("", (), (message,), "", 0))
        self._spent(reply.usage)
        return plain_text(reply.blocks)

    def _count_request(self, limits: tuple[Limit, ...]) -> None:
        """Count a request outside of the conversation. Raises RequestRefused if a limit is reached."""
        if reason := next(filter(None, (limit.spent() for limit in limits)), ""):
            raise RequestRefused(reason)
        for limit in limits:
            limit.count()

    def _spent(self, usage: Usage) -> None:
        """Count the cost of a request outside of the conversation."""
        price = self.parts.model.price
        self.session.log(UsageReported, of=0, cost=price.of(usage) if price else None, **asdict(usage))

    async def _summary(self, focus: str) -> tuple[str, str]:
        """A summary by the model, or the reason why there is none. A failure never loses the session."""
        try:
            async with asyncio.timeout(SUMMARY_SECONDS):
                self._count_request(self.limits if self.working else ())
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
    """The final answer of a stream."""
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Reply):
                return piece
    raise ModelError(f"{model.name} ended its stream without an answer")
