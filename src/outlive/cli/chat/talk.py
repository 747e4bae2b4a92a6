"""One person talking with one agent: starts and stops runs, queues words, opens sessions. A face shows its items."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from outlive.agent.attachments.attaching import Attachments, untrusted_words
from outlive.agent.commands.orphans import orphan_question
from outlive.agent.runtime import Runtime
from outlive.cli.chat import recap, status
from outlive.cli.chat.picker import Pick
from outlive.cli.chat.picker.catalog import CatalogEntry
from outlive.cli.chat.preferences import DEFAULTS, Preferences
from outlive.cli.chat.render.item import Hanging, Item
from outlive.cli.chat.render.transcript import Transcript, note
from outlive.cli.flags import shown, with_flag
from outlive.errors import OutliveError
from outlive.events import Event, TasksSeen, ToolFinished, UsageReported, UserSaid
from outlive.messages import Block, ToolCall
from outlive.messages import Text as Words
from outlive.models.effort import split_effort
from outlive.models.errors import ModelNotSetUp
from outlive.models.protocol import Model
from outlive.printable import clean, one_line
from outlive.result import RunResult
from outlive.stores.logs.names import is_subagent
from outlive.stores.logs.protocol import LogStore, SessionInfo
from outlive.stream import StreamEvent
from outlive.tools.custom_commands import CustomCommand
from outlive.tools.permissions.asking import Asker, signed
from outlive.tools.protocol import ToolOutcome

STOP_WAIT_SECONDS = 3.0
"""Seconds to wait for a run to stop before the terminal closes."""
AT_TERMINAL = "at the terminal"
"""Where answers come from."""
OpenAgent = Callable[[str | None, Asker], Runtime]
"""Opens a new session (None) or the session with an id; the asker asks for permissions."""


@dataclass(frozen=True, slots=True)
class ChatSetup:
    open_agent: OpenAgent
    store: LogStore
    root: Path
    version: str
    choose: Callable[[str], Model] | None = None
    """Finds the model for a text like `anthropic:NAME`."""
    catalog: Callable[[], list[CatalogEntry]] = list
    """Lists the models to choose from; it may take a moment."""
    preferences: Preferences = DEFAULTS


class Talk:
    """The open session, and what a person may do with it."""

    def __init__(
        self,
        setup: ChatSetup,
        ask: Asker,
        *,
        show: Callable[[Item], None],
        changed: Callable[[], None] = lambda: None,
        give_back: Callable[[str], None],
        pick: Pick | None = None,
    ) -> None:
        """`give_back` puts words into the input; `pick` is None if nobody can choose."""
        self.setup = setup
        self.preferences = setup.preferences
        """Those of the settings, until the user changes them in the conversation."""
        self.show = show
        self.pick = pick
        self.give_back = give_back
        self.leaving = False
        self.failed = False
        """Whether the last run ended badly."""
        self.busy_since = 0.0
        self.stopping = False
        """The current run was told to stop and has not stopped yet."""
        self._ask = ask
        self._changed = changed
        self._job: asyncio.Task[None] | None = None
        self._said_images = False
        """Whether images went with the last words."""
        self._agent: Runtime | None = None
        self.transcript = Transcript()
        self.facts: status.StatusFacts | None = None
        self._tasks: list[str] = []

    # -- the session

    @property
    def agent(self) -> Runtime:
        assert self._agent is not None, "no session is open yet"  # noqa: S101 - a bug of ours, not of a caller
        return self._agent

    async def open(self, session: str | None) -> None:
        """Open a session instead of the current one, which stays open on failure."""
        opened = self.setup.open_agent(session, signed(self._ask, AT_TERMINAL))
        await self._let_go()
        opened.attachments = Attachments(opened)
        self._agent = opened
        self.transcript = Transcript(state=lambda: opened.session.state)
        opened.watch(self._saw)
        self.refresh()
        self.show(recap.header(opened, self.setup.version))
        for item in filter(None, (recap.recap(opened, self._tasks), recap.last_answer(opened))):
            self.show(item)
        for notice in opened.notices:
            self.show(note("·", Text(one_line(notice), "warn"), "warn"))
        if opened.orphans and opened.orphan_choice is None:
            self.start(self._take_over(opened))

    async def _take_over(self, agent: Runtime) -> None:
        """Ask what to do with commands that a dead process left running."""
        answer = await self._ask(orphan_question(agent.orphans))
        await agent.take_over("stop" if answer.choice == "yes" else "adopt")

    def farewell(self) -> None:
        """Say how to resume the session, unless it is empty."""
        if self.agent.session.engine.history.units:
            self.note(f"outlive --resume {one_line(self.agent.session.id)} goes on with this session")

    async def close(self) -> None:
        """Stop the run and close the session. Queued words stay queued for when it is resumed."""
        self.leaving = True
        self.stop()
        if self._job is not None:
            await asyncio.wait([self._job], timeout=STOP_WAIT_SECONDS)
        await self._let_go()

    async def _let_go(self) -> None:
        if self._agent is not None:
            await self._agent.close()

    # -- runs

    @property
    def working(self) -> bool:
        return self._job is not None

    @property
    def queued(self) -> list[str]:
        """Words of the user that the agent has not received yet."""
        return list(self._agent.queued) if self._agent is not None else []

    def say(self, words: str, images: tuple[Block, ...] = ()) -> None:
        """Start a run with these words, or queue them for the current run, which takes no images."""
        if self.working:
            self.agent.queue(words)
            self._changed()
        else:
            self._said_images = bool(images)
            self.start(self.agent.ask((Words(words), *images)))

    def custom_commands(self) -> dict[str, CustomCommand]:
        """The commands that the user wrote and that no command of the terminal hides."""
        commands = self.agent.parts.commands
        return commands.found() if commands is not None else {}

    def say_custom(self, name: str, line: str) -> bool:
        """Say `/NAME arguments` with a command that the user wrote; returns whether there is one."""
        commands = self.agent.parts.commands
        if commands is None:
            return False
        if (command := commands.found().get(name)) is None:
            if came := commands.untrusted(name):
                self.complain(f"/{name}: {untrusted_words(came)}")
            return came is not None
        if command.model and not self.working and self.setup.choose is not None:
            self.start(self._with_model(command.model, line))
        else:
            self.say(line)
        return True

    async def _with_model(self, wanted: str, line: str) -> RunResult:
        """Run one prompt with another model."""
        choose = self.setup.choose
        assert choose is not None  # noqa: S101 - checked by the caller
        before, effort = self.agent.parts.model.name, self.agent.effort
        try:
            if ":" not in wanted:
                raise ModelNotSetUp("write it as PROVIDER:NAME")
            await self.agent.use_model(choose(wanted), split_effort(wanted)[1])
        except OutliveError as error:
            self.note(f"its model {one_line(wanted, 60)} does not count: {one_line(str(error), 200)}")
            return await self.agent.ask(line)
        try:
            return await self.agent.ask(line)
        finally:
            await self.agent.use_model(choose(f"{before} {effort}".rstrip()), effort)

    def must_wait(self, what: str) -> None:
        """Say that something is not possible while the agent works."""
        self.complain(f"{one_line(what, 60)} has to wait until the agent rests; Esc stops it")

    def shell(self, entered: str) -> None:
        """Run what the user typed after `!`, while the agent rests."""
        command = entered.removeprefix("!").strip()
        if self.working:
            self.must_wait(f"!{command}")
        elif not command:
            self.complain("type a command after the !, such as !git status")
        else:
            self.start(self._shell(command))

    async def _shell(self, command: str) -> None:
        call = ToolCall(f"user-shell-{self.agent.session.last_event + 1}", "bash", {"command": command})
        self.transcript.begin(call)
        began = time.monotonic()
        try:
            outcome = await self.agent.shell(command, call.id)
        except asyncio.CancelledError:
            outcome = ToolOutcome("[interrupted]", is_error=True)
        seconds = time.monotonic() - began
        self._show_all(
            ToolFinished(
                id=0,
                time=0.0,
                call_id=call.id,
                text=outcome.text,
                is_error=outcome.is_error,
                exit_code=outcome.exit_code,
                seconds=seconds,
            )
        )

    def start(self, work: Coroutine[Any, Any, RunResult | RenderableType | None]) -> None:
        """Run a coroutine in the background, so that it can be stopped."""
        self.busy_since, self.stopping = time.monotonic(), False
        self._job = asyncio.ensure_future(self._run(work))
        self._changed()

    def stop(self) -> bool:
        """Interrupt the current run; returns whether there was one."""
        if self._job is None:
            return False
        self.stopping = True
        if self.agent.working:
            self.agent.interrupt()
        else:
            self._job.cancel()
        return True

    async def wait(self) -> None:
        while self._job is not None:
            await asyncio.wait([self._job])

    async def _run(self, work: Coroutine[Any, Any, RunResult | RenderableType | None]) -> None:
        ended: RunResult | RenderableType | None = None
        problem = ""
        try:
            ended = await work
        except asyncio.CancelledError:
            ended = RunResult("interrupted")
        except OutliveError as error:
            problem = shown(error)
        except Exception as error:  # noqa: BLE001 - the session is on disk; a bug must not end the conversation
            problem = f"{type(error).__name__}: {error}"
        self._job = None
        self._rest(ended, problem)

    def _rest(self, ended: RunResult | RenderableType | None, problem: str) -> None:
        for item in self.transcript.rest():
            self.show(item)
        fine = not problem and (not isinstance(ended, RunResult) or ended.stop_reason == "done")
        self.failed = not fine
        if problem:
            hint = " · /continue tries again" if self.agent.unfinished else ""
            if self._said_images:
                hint += f" · if this model takes no images: /undo {self._before_last_words()} takes yours back"
            self.complain(problem, hint=hint)
        elif isinstance(ended, RunResult):
            if words := _ending(ended):
                self.show(note("⏹", Text(words, "warn"), "warn"))
        elif ended is not None:
            self.show(Item("block", ended))
        self.refresh()
        if self.queued and not self.leaving:
            if fine:
                self.start(self.agent.ask())
            else:
                self.give_back("\n\n".join(self.agent.unqueue()))
        self._changed()

    def _before_last_words(self) -> int:
        """The event before the last words of the user."""
        return next((e.id - 1 for e in reversed(self.agent.session.events) if isinstance(e, UserSaid)), 1)

    # -- what is shown

    def sessions(self) -> list[SessionInfo]:
        """List the project's conversations, newest first, without replays, sub-agents and empty sessions."""
        found = (info for info in self.setup.store.sessions() if not info.replay and not is_subagent(info.id))
        return [info for info in found if not info.unused or info.id == self.agent.session.id]

    def complain(self, problem: str, hint: str = "") -> None:
        self.show(Item("block", Hanging("✗ ", Text.assemble(clean(problem), (hint, "quiet")), "bad")))

    def note(self, words: str) -> None:
        self.show(note("·", Text(words, "quiet")))

    def refresh(self) -> None:
        """Update the values of the status line."""
        try:
            self._tasks = [task.subject for task in self.agent.parts.graph.find()]
        except OutliveError:
            self._tasks = []
        self.facts = status.facts(self.agent, len(self._tasks))

    def _show_all(self, happened: Event | StreamEvent) -> None:
        for item in self.transcript.take(happened):
            self.show(item)

    def _saw(self, happened: Event | StreamEvent) -> None:
        self._show_all(happened)
        if isinstance(happened, TasksSeen):
            self.refresh()
        elif isinstance(happened, (UsageReported, ToolFinished)):
            self.facts = status.facts(self.agent, len(self._tasks))
        self._changed()


def _ending(ending: RunResult) -> str:
    match ending.stop_reason:
        case "done":
            return ""
        case "interrupted":
            return "interrupted · say what to do instead, or /continue"
        case "hook":
            return f"a hook of yours kept it from the model: {one_line(ending.detail)}"
        case _:
            return f"stopped: {one_line(with_flag(ending.detail, ending.limit))} · /continue goes on"
