"""The runtime of an agent: wires session, model and tools together. A face drives it and watches its events."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from copy import copy
from dataclasses import replace
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace as with_fields

from outlive.agent.attachments.shell import ShellResults, run_for_user
from outlive.agent.commands.orphans import OrphanChoice, became
from outlive.agent.compaction.passes import Passes
from outlive.agent.log.masking import masked
from outlive.agent.memory.session_memory import SessionMemory
from outlive.agent.parts import AgentParts
from outlive.agent.rewind import Rewound, revert_restore, rewind
from outlive.agent.session import Session
from outlive.agent.spending import Spending
from outlive.agent.tool_session import SessionAdapter
from outlive.errors import AgentBusy, ConfigError
from outlive.events import Compacted, Event, ModeChanged, ToolStarted, Unqueued, UserQueued
from outlive.limits import Limit, Time
from outlive.loop import Loop
from outlive.messages import Block, Text, plain_text
from outlive.models.protocol import Model
from outlive.origin import by_user, tagged, user_words
from outlive.request import OutputFormat
from outlive.result import DeniedCall, RunResult
from outlive.stream import StreamEvent, ToolOutput
from outlive.tools.builtin.task_context import catch_up, keep_claims
from outlive.tools.changes.restore import Restored
from outlive.tools.files.read_tracker import ReadTracker
from outlive.tools.permissions.asking import MODES, PermissionMode
from outlive.tools.processes.orphan import Orphan
from outlive.tools.processes.process_table import identify
from outlive.tools.processes.session_commands import Processes
from outlive.tools.protocol import ToolContext, ToolOutcome
from outlive.tools.runner import Runner

MAX_STOP_HOOK_BLOCKS = 3
"""How often in a row a Stop hook may send the model back to work."""
Watcher = Callable[[Event | StreamEvent], None]
Review = Callable[[str], str]
"""Takes the model's last answer; returns what the model has to be told before the run may end, else empty."""
Attach = Callable[[str], Awaitable[tuple[Block, ...]]]
"""Takes the user's words; returns the blocks that go with them, such as the files that they name."""


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
        self.effort = ""
        """How much the model is to think, if the user chose that."""
        self.orphans: tuple[Orphan, ...] = ()
        """Commands of an earlier process of this session that still run, until `take_over`."""
        self.interrupted_calls: tuple[str, ...] = ()
        """Calls of a dead process that had started, until `take_over`."""
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
        self.attachments: Attach | None = None
        """Finds what goes with the user's words, if a face wants that."""
        self._passes = Passes(session, lambda: self.parts, lambda: self.limits)
        self._shell = ShellResults()
        for event in session.events:
            self.spending.take(event)
            self._shell.take(event)
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
            changes=parts.changes,
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
            memories = await self.memory.relevant(plain_text(blocks), self._passes.answer_to)
            more += [Text(memories, "memory")] if memories else []
        self.session.change_system(self.parts.system(), self.parts.toolbox.schemas(), may_wait=True)
        blocks += await self._attached(blocks)
        self.session.user_said((*blocks, *self._shell.blocks, *more), queued=tuple(queued))
        return await self._go_on()

    async def _attached(self, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        """What goes with the user's words in these blocks of a new turn."""
        return await self.attachments(user_words(by_user(blocks))) if self.attachments is not None else ()

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
        interrupted, self.interrupted_calls = self.interrupted_calls, ()
        if self.parts.changes is not None:
            for call in interrupted:
                await self.parts.changes.interrupted(call)
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
            self._learning = asyncio.ensure_future(self._learn(self.memory, after=self._learning))
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

    async def shell(self, command: str, call: str) -> ToolOutcome:
        """Run a command that the user typed, under the id `call`. Raises AgentBusy during a run, and ToolError."""
        with self._alone():
            return await run_for_user(command, replace(self.context, call_id=call), self.session)

    async def compact(self, focus: str = "") -> Compacted | None:
        """Compact now, with a summary by the model; returns None if that saves nothing. Raises AgentBusy."""
        with self._alone():
            self.limits = ()
            return await self._passes.compact(focus)

    async def rewind(self, event: int, *, conversation: bool = True, files: bool = True) -> Rewound:
        """Go back to before the prompt of this event. Raises NothingToUndo if there is none, AgentBusy during a
        run."""
        with self._alone():
            await self.take_over()
            changes = self.parts.changes
            rewound = await rewind(self.session, changes, event, conversation=conversation, files=files)
            if conversation:
                self.unqueue()
            return rewound

    async def revert_restore(self) -> Restored:
        """Put the files back to what they were before the last rewind."""
        with self._alone():
            return await revert_restore(self.session, self.parts.changes)

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

    def add_folder(self, folder: Path) -> None:
        """Let the tools use another folder from now on, because the user said so."""
        self.use_folder(folder)
        self.session.note(f"the user added the folder {folder}: tools may use it")
        self.parts.added_folder(self.session.id, folder)

    def use_folder(self, folder: Path) -> None:
        """Widen fence and sandbox by a folder that the user added, unless they hold it already."""
        if not self.parts.fence.has(str(folder)):
            self.parts.fence.add(folder)
            self.parts.sandbox.add(folder)

    async def use_model(self, model: Model, effort: str = "") -> None:
        """Switch to another model, which the agent owns from now on; a model it owned before is closed. `effort` is
        what the model was told about thinking."""
        self.effort = effort
        await self._passes.close()
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
            await self._passes.close()
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
        self._shell.take(event)
        self.tell(event)

    def _ask_to_compact(self, focus: str) -> None:
        self._compaction = focus

    async def _at_seam(self) -> None:
        """Between two requests: send queued words, renew claims, make a pass that was asked for or is due."""
        if results := self._shell.blocks:
            self.session.user_said(results)
        for event, words in list(self.session.engine.history.queued.items()):
            said = (Text(words),)
            self.session.user_said((*said, *await self._attached(said)), queued=(event,))
        news, self._news = self._news, []
        hints = filter(None, (limit.hint() for limit in self.limits))
        self.session.note(*news, *keep_claims(self.context), *hints)
        if self._compaction is not None:
            focus, self._compaction = self._compaction, None
            if await self._passes.compact(focus) is None:
                self.session.note("the pass that was asked for was not made: there was nothing to gain")
        else:
            await self._passes.make_due()

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

    async def _learn(self, memory: SessionMemory, after: asyncio.Task[None] | None) -> None:
        """Extract memories from a run, after the extraction of the run before it. The limits of the run hold."""
        if after is not None:
            await after
        spent = any(limit.spent() for limit in self.limits)
        await memory.after_run(None if spent else self._passes.answer_to, self._passes.answer_here)
