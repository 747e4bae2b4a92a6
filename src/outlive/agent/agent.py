"""The agent as programs use it: `Agent`, and `RunStream` with the events of one run."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, overload

from outlive.agent.commands.orphans import OrphanChoice
from outlive.agent.factory import AgentFactory, AgentOptions
from outlive.agent.log.forking import fork as fork_session
from outlive.agent.output import OutputSchema
from outlive.agent.parts import Summaries
from outlive.agent.rewind import RewindPoint, Rewound, prompts
from outlive.agent.runtime import Watcher
from outlive.config import Workspace
from outlive.errors import AgentClosed, ConfigError
from outlive.events import Compacted, Event
from outlive.memory.memories import Memories
from outlive.messages import Text
from outlive.models.protocol import Model
from outlive.result import OutputResult, RunResult
from outlive.stream import StreamEvent
from outlive.tasks.graph import TaskGraph
from outlive.tools.changes.restore import Restored
from outlive.tools.permissions.asking import Asker, PermissionMode
from outlive.tools.protocol import Tool

T = TypeVar("T")
R = TypeVar("R", bound=RunResult, covariant=True)
_FINISHED = object()


class RunStream(Generic[R]):
    """The events of one run as they happen; the last item is the result. Dropping the stream stops the run."""

    def __init__(self, start: Callable[[], Coroutine[Any, Any, R]], agent: "Agent") -> None:
        self._start = start
        self._agent = agent
        self._happened: asyncio.Queue[Any] = asyncio.Queue()
        self._task: asyncio.Task[R] | None = None
        self._over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event | StreamEvent | R:
        if self._over:
            raise StopAsyncIteration
        if self._task is None:
            self._task = self._begin(self._happened)
        try:
            item: Event | StreamEvent = await self._happened.get()
        except asyncio.CancelledError:
            await self.aclose()
            raise
        if item is not _FINISHED:
            return item
        self._over = True
        return self._task.result()

    def _begin(self, happened: "asyncio.Queue[Any]") -> "asyncio.Task[R]":
        """Start the run in a task that does not refer to the stream, so that the stream can be garbage-collected."""
        unwatch, running = self._agent.watch(happened.put_nowait), self._agent._running
        task = asyncio.ensure_future(self._start())
        running.add(task)

        def ended(task: "asyncio.Task[R]") -> None:
            running.discard(task)
            unwatch()
            happened.put_nowait(_FINISHED)

        task.add_done_callback(ended)
        return task

    async def aclose(self) -> None:
        """Stop the run and wait until it has stopped."""
        self._over = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    def __del__(self) -> None:
        if self._task is not None and not self._task.done():
            with suppress(RuntimeError):  # the event loop is closed
                self._task.cancel()


class Agent:
    """An agent in a folder, working in one session. Close it when done, or use `async with` (for `run_sync`: `with`).

    `resume` continues a session, `fork` continues a copy of one. A model given by name is closed with the agent.
    Without an `asker`, calls that need permission are refused; `RunResult.denied` lists them. Options that are not
    given come from the settings of the folder. Raises ConfigError for an option that cannot be used.
    """

    def __init__(
        self,
        folder: str | PathLike[str] = ".",
        *,
        model: str | Model | None = None,
        fallback: str | None = None,
        tools: Iterable[Tool[Any]] = (),
        mode: PermissionMode | None = None,
        asker: Asker | None = None,
        resume: str | None = None,
        fork: str | None = None,
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        add_dirs: Sequence[str] = (),
        sandbox: bool | None = None,
        network: bool = False,
        window: int | None = None,
        policy: str | None = None,
        summary: Summaries | None = None,
        cold_pass: bool | None = None,
        max_turns: int | None = None,
        max_cost: float | None = None,
        max_tokens: int | None = None,
        max_time: float | None = None,
        orphans: OrphanChoice | None = None,
        store: str | None = None,
    ) -> None:
        if not Path(folder).is_dir():
            raise ConfigError(f"there is no folder {str(folder)!r}")
        if resume and fork:
            raise ConfigError("resume and fork name a session each; give one of them")
        options = AgentOptions(
            model=model if isinstance(model, str) else None,
            fallback=fallback,
            mode=mode,
            window=window,
            policy=policy,
            summary=summary,
            cold_pass=cold_pass,
            allow=allow,
            deny=deny,
            add_dirs=add_dirs,
            sandbox=sandbox,
            network=network,
            max_turns=max_turns,
            max_cost=max_cost,
            max_tokens=max_tokens,
            max_time=max_time,
            orphans=orphans,
        )
        given = None if isinstance(model, str) else model
        factory = AgentFactory(Workspace.find(Path(folder), store=store), options, model=given, tools=tools)
        try:
            self._runtime = factory.open(fork_session(factory.logs, fork) if fork else resume, asker=asker)
        except BaseException:
            factory.close()
            raise
        self._runtime.closing.append(factory.close)
        self._logs = factory.logs
        self._loop: asyncio.Runner | None = None
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False

    # -- runs

    @overload
    async def run(self, prompt: str | None = None) -> RunResult: ...

    @overload
    async def run(self, prompt: str | None = None, *, output: type[T]) -> OutputResult[T]: ...

    async def run(self, prompt: str | None = None, *, output: type[Any] | None = None) -> RunResult:
        """Work on `prompt` until it is done or a limit is reached. Without one, go on from where the session ends.

        With `output` the answer is of that type (a msgspec Struct, a dataclass …) and in `result.output`. Raises
        InvalidOutput when there is no such answer, AgentBusy while another run is going on, and ModelError. When the
        task is cancelled the run stops, and the session stays valid.
        """
        return await self._run(prompt, OutputSchema(output) if output is not None else None)

    @overload
    def stream(self, prompt: str | None = None) -> RunStream[RunResult]: ...

    @overload
    def stream(self, prompt: str | None = None, *, output: type[T]) -> RunStream[OutputResult[T]]: ...

    def stream(self, prompt: str | None = None, *, output: type[Any] | None = None) -> RunStream[Any]:
        """Like `run`, but yields what happens (`outlive.events`, `outlive.stream`), and the result last."""
        schema = OutputSchema(output) if output is not None else None
        return RunStream(lambda: self._run(prompt, schema), self)

    @overload
    def run_sync(self, prompt: str | None = None) -> RunResult: ...

    @overload
    def run_sync(self, prompt: str | None = None, *, output: type[T]) -> OutputResult[T]: ...

    def run_sync(self, prompt: str | None = None, *, output: type[Any] | None = None) -> RunResult:
        """`run` for programs without an event loop."""
        return self._in_loop(self._run(prompt, OutputSchema(output) if output is not None else None))

    async def _run(self, prompt: str | None, schema: OutputSchema[Any] | None) -> RunResult:
        self._check_open()
        if stopping := [task for task in self._running if task.cancelling() and task is not asyncio.current_task()]:
            await asyncio.wait(stopping)
        if schema is None:
            return await (self._runtime.go_on() if prompt is None else self._runtime.ask(prompt))
        blocks = (*([Text(prompt)] if prompt else ()), Text(schema.prompt, "harness"))
        return schema.result(await self._runtime.ask(blocks, schema.review, schema.format))

    def queue(self, words: str) -> None:
        """Say something during a run: the model gets it before its next request."""
        self._check_open()
        self._runtime.queue(words)

    def interrupt(self) -> None:
        """Stop the current run; it ends with the stop reason `interrupted`."""
        self._runtime.interrupt()

    async def compact(self, focus: str = "") -> Compacted | None:
        """Compact now, with a summary by the model; returns None if that saves nothing."""
        self._check_open()
        return await self._runtime.compact(focus)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Call `watcher` with every event from now on; the returned function unsubscribes it.

        A watcher that raises is reported to the logger `outlive`, and the run goes on.
        """
        return self._runtime.watch(watcher)

    # -- the session

    @property
    def session(self) -> str:
        """The id of the session, for `resume` and `fork`."""
        return self._runtime.session.id

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of the session's log, oldest first, except for those that were undone."""
        return self._runtime.session.events

    def recall(self, handle: str) -> str:
        """The exact text behind a handle such as `@h12`. Raises UnknownHandle."""
        return self._runtime.session.engine.recall(handle).text

    def fork(self, *, at: int = 0) -> str:
        """Start a new session that shares this one's log up to the event `at` (default: the last one). Returns its
        id."""
        return fork_session(self._logs, self.session, at=at)

    @property
    def prompts(self) -> list[RewindPoint]:
        """The user's messages that `rewind` can go back to, the newest first."""
        return prompts(self._runtime.session)

    async def rewind(self, event: int, *, conversation: bool = True, files: bool = True) -> Rewound:
        """Go back to before the message with this event: in the conversation, in the files, or both.

        Files that somebody else changed since stay as they are; the result names them. Raises NothingToUndo for an
        event that is no message of the user, AgentBusy during a run.
        """
        self._check_open()
        return await self._runtime.rewind(event, conversation=conversation, files=files)

    async def revert_restore(self) -> Restored:
        """Put the files back to what they were before the last rewind. Raises NothingToUndo if there was none."""
        self._check_open()
        return await self._runtime.revert_restore()

    @property
    def tasks(self) -> TaskGraph:
        """The tasks of the project."""
        return self._runtime.parts.graph

    @property
    def memories(self) -> Memories:
        """The memories of the project and of the user."""
        assert self._runtime.memory is not None  # noqa: S101 - the factory always sets it
        return self._runtime.memory.memories

    @property
    def mode(self) -> PermissionMode:
        """The permission mode; setting it is the user's choice."""
        return self._runtime.mode

    @mode.setter
    def mode(self, mode: PermissionMode) -> None:
        self._runtime.set_mode(mode)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know from the start: settings that are ignored, commands that still run."""
        return tuple(self._runtime.notices)

    # -- the end

    async def close(self) -> None:
        """Stop running work and release everything. Closing twice does nothing."""
        if not self._closed:
            self._closed = True
            for task in () if self._runtime.working else self._running:  # a run that has not begun
                task.cancel()
            await self._runtime.close()
            if self._running:
                await asyncio.wait(self._running)

    def close_sync(self) -> None:
        """`close` for programs without an event loop."""
        self._in_loop(self.close())
        if self._loop is not None:
            self._loop.close()
            self._loop = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_sync()

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` in one event loop for all calls, because the model's connections belong to it."""
        if self._loop is None:
            self._loop = asyncio.Runner()
        try:
            return self._loop.run(work)
        except RuntimeError:
            work.close()
            raise

    def _check_open(self) -> None:
        if self._closed:
            raise AgentClosed(f"the agent of session {self.session!r} is closed", hint="resume it in a new agent")
