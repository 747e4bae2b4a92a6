"""One session that an editor has open: prompts, cancellation, modes, and questions to the user."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from acp.helpers import update_available_commands
from acp.schema import (
    AllowedOutcome,
    AvailableCommand,
    AvailableCommandInput,
    PermissionOption,
    PromptResponse,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionMode,
    SessionModeState,
    StopReason,
    UnstructuredCommandInput,
)
from msgspec.structs import replace
from pydantic import BaseModel, ValidationError

from acp import RequestError
from outlive.acp.outbox import Outbox
from outlive.acp.prompts import invalid
from outlive.acp.updates import Updates
from outlive.agent.attachments.attaching import Attachments
from outlive.agent.factory import AgentFactory, AgentOptions
from outlive.config import Workspace
from outlive.errors import AgentBusy
from outlive.events import Event
from outlive.messages import Block, Text
from outlive.printable import clean, one_line
from outlive.result import RunResult
from outlive.state import compression_line
from outlive.stream import StreamEvent, ToolOutput
from outlive.tools.permissions.asking import (
    MODE_WORDS,
    MODES,
    PermissionAnswer,
    PermissionMode,
    PermissionQuestion,
    signed,
    user_name,
)

OUTPUT_INTERVAL_SECONDS = 0.2
"""How often the output of running commands is updated."""
MAX_OPTION_CHARS = 120  # fits a button; the question shows longer rules below
IN_EDITOR = "in an editor"
"""Where answers come from."""
STOPPED: dict[str, StopReason] = {
    "done": "end_turn",
    "hook": "end_turn",
    "limit": "max_turn_requests",
    "refused": "refusal",
    "interrupted": "cancelled",
}
COMMANDS = {
    "compact": ("make room in the context now", "what the summary is to keep"),
    "context": ("how full the context is", ""),
    "continue": ("go on where the last run was cut off", ""),
}


class EditorSession:
    """An open session. The folder that the editor named decides settings, trust and stores."""

    def __init__(
        self,
        folder: Path,
        options: AgentOptions,
        store: str | None,
        *,
        session: str | None = None,
        add_dirs: tuple[str, ...] = (),
        tell: Callable[[str, BaseModel], Awaitable[None]],
        ask: Callable[[RequestPermissionRequest], Awaitable[RequestPermissionResponse]],
    ) -> None:
        """`tell` sends an update of a session, `ask` a question."""
        options = replace(options, add_dirs=(*options.add_dirs, *add_dirs))
        factory = AgentFactory(Workspace.find(folder, store=store), options)
        try:
            self.agent = factory.open(session, asker=signed(self._asked, IN_EDITOR))
        except BaseException:
            factory.close()
            raise
        self.agent.closing.append(factory.close)
        self.agent.attachments = Attachments(self.agent)
        if self.agent.mode == "bypass" and "bypass" not in (options.mode, factory.settings.agent.get("mode")):
            self.agent.set_mode("ask")  # chosen for this session once, but not for this editor
        self.id = self.agent.session.id
        self.notices = list(self.agent.notices)
        """Notices for the user, sent with the next answer."""
        self._modes = tuple(mode for mode in MODES if mode != "bypass" or self.agent.mode == mode)
        self._ask = ask
        self._updates = Updates(self.agent)
        self._outbox = Outbox(lambda update: tell(self.id, update))
        self._job: asyncio.Task[RunResult | str] | None = None
        self._stopping = False
        self._timer: asyncio.TimerHandle | None = None
        self.agent.watch(self._saw)

    # -- what the editor asks for

    @property
    def modes(self) -> SessionModeState:
        modes = [SessionMode(id=mode, name=mode, description=MODE_WORDS[mode]) for mode in self._modes]
        return SessionModeState(available_modes=modes, current_mode_id=self.agent.mode)

    def set_mode(self, wanted: str) -> None:
        mode: PermissionMode | None = next((mode for mode in self._modes if mode == wanted), None)
        if mode is None:
            raise invalid(f"there is no mode {one_line(wanted, 60)!r} here; the modes are {', '.join(self._modes)}")
        self.agent.set_mode(mode, by=f"{user_name()} {IN_EDITOR}")

    def announce(self) -> None:
        """Tell the editor which commands there are."""
        self._outbox.put(
            update_available_commands(
                AvailableCommand(
                    name=name,
                    description=about,
                    input=AvailableCommandInput(UnstructuredCommandInput(hint=hint)) if hint else None,
                )
                for name, (about, hint) in COMMANDS.items()
            )
        )

    async def replay(self) -> None:
        """Send the whole history of the session, and the current plan."""
        for event in self.agent.session.events:
            self._outbox.put(*self._updates.logged(event))
            await self._outbox.flush()
        if self.agent.session.state.plan:
            self._outbox.put(self._updates.plan())
        self._outbox.put(self._updates.usage())
        await self._outbox.flush()

    async def prompt(self, blocks: tuple[Block, ...]) -> PromptResponse:
        """Work on a prompt until the agent is done."""
        if self._job is not None and self._stopping:
            await asyncio.wait([self._job])
        if self._job is not None:
            raise AgentBusy(f"session {self.id} works on another prompt", hint="cancel that one, or wait for its end")
        self._updates.next_message()
        for notice in self.notices:
            self._outbox.put(self._updates.message(f"> {one_line(notice)}\n\n"))
        self.notices.clear()
        self._stopping = False
        self._job = asyncio.ensure_future(self._work(blocks))
        try:
            ended = await self._job
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            ended = RunResult("interrupted")
        finally:
            self._job = None
            await self._outbox.flush()
        return await self._ended(RunResult("done", detail=ended) if isinstance(ended, str) else ended)

    def _work(self, blocks: tuple[Block, ...]) -> Coroutine[Any, Any, RunResult | str]:
        first = blocks[0].text.strip() if len(blocks) == 1 and isinstance(blocks[0], Text) else ""
        name, _, rest = first.removeprefix("/").partition(" ")
        if first.startswith("/") and name in COMMANDS:
            return self._obey(name, rest.strip())
        return self.agent.ask(blocks)

    async def _obey(self, name: str, rest: str) -> RunResult | str:
        """Run a command of ours; returns its output or how the run ended."""
        if name == "compact":
            made = await self.agent.compact(rest)
            return compression_line(made) if made else "nothing would be gained by a pass now"
        if name == "context":
            gauge = self.agent.gauge
            return f"{gauge.used:,} of {gauge.window:,} tokens are used; the next pass comes at {gauge.next_pass:,}"
        return await self.agent.go_on() if self.agent.unfinished else "nothing was cut off; say what to do"

    async def _ended(self, result: RunResult) -> PromptResponse:
        if result.detail:
            why = "a hook kept it from the model: " if result.stop_reason == "hook" else ""
            self._outbox.put(self._updates.message(f"\n\n{why}{clean(result.detail)}\n"))
        self._outbox.put(self._updates.usage())
        await self._outbox.flush()
        reason = "max_tokens" if result.limit == "max_tokens" else STOPPED[result.stop_reason]
        return PromptResponse(stop_reason=reason)

    def cancel(self) -> None:
        """Stop the current run."""
        if self._job is None:
            return
        self._stopping = True
        if self.agent.working:
            self.agent.interrupt()
        else:
            self._job.cancel()

    async def close(self) -> None:
        self.cancel()
        if self._job is not None:
            await asyncio.wait([self._job])
        if self._timer is not None:
            self._timer.cancel()
        await self.agent.close()

    # -- what the agent does

    def _saw(self, happened: Event | StreamEvent) -> None:
        self._outbox.put(*self._updates.live(happened))
        if isinstance(happened, ToolOutput) and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(OUTPUT_INTERVAL_SECONDS, self._show_output)

    def _show_output(self) -> None:
        self._timer = None
        self._outbox.put(*self._updates.outputs())

    async def _asked(self, question: PermissionQuestion) -> PermissionAnswer:
        """Ask the user in the editor. Only the answer to allow is a yes."""
        await self._outbox.flush()
        request = RequestPermissionRequest(
            session_id=self.id, tool_call=self._updates.asked(question), options=_options(question)
        )
        try:
            outcome = (await self._ask(request)).outcome
        except (RequestError, ValidationError) as error:
            return PermissionAnswer("no", f"the editor could not ask the user: {one_line(str(error), 200)}", "nobody")
        except ConnectionError:
            outcome = None
        if not isinstance(outcome, AllowedOutcome):  # the turn is cancelled, or the editor is gone
            self.cancel()
            never: asyncio.Future[PermissionAnswer] = asyncio.get_running_loop().create_future()
            return await never
        allowed = outcome.option_id in ("allow_once", "allow_always")
        self._outbox.put(*self._updates.answered(question, allowed=allowed))
        if outcome.option_id == "allow_always" and question.always:
            return PermissionAnswer("always")
        return PermissionAnswer("yes" if allowed else "no")


def _options(question: PermissionQuestion) -> list[PermissionOption]:
    """The possible answers; "always" names the rules that are remembered, which the question shows too."""
    rules = clean(" and ".join(question.always)).replace("\n", " ⏎ ")
    always = rules if len(rules) <= MAX_OPTION_CHARS else "what the rules below cover"
    options = [PermissionOption(option_id="allow_once", name="Allow once", kind="allow_once")]
    if question.always:
        options.append(PermissionOption(option_id="allow_always", name=f"Always allow {always}", kind="allow_always"))
    return [*options, PermissionOption(option_id="reject", name="Reject", kind="reject_once")]
