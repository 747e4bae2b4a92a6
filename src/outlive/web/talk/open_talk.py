"""One session that the server holds open: runs, queued words, interruption, modes, questions.

It lives in the agents' thread. What happens is told to browsers through `tell`, a few times a second.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

from outlive.agent.commands.orphans import orphan_question
from outlive.agent.factory import AgentFactory, AgentOptions
from outlive.config import Workspace
from outlive.errors import OutliveError
from outlive.events import Event, ModeChanged, Unqueued, UsageReported, UserQueued, UserSaid
from outlive.printable import clean, one_line
from outlive.result import RunResult
from outlive.stream import StreamEvent
from outlive.tools.permissions.asking import MODES, PermissionAnswer, PermissionMode
from outlive.web.api import HttpProblem, bad_request
from outlive.web.live import ServerEvent
from outlive.web.talk.drafts import Draft, joined
from outlive.web.talk.questions import OpenQuestions
from outlive.web.talk.shapes import agent_shape, is_wider, question_shape

FLUSH_SECONDS = 0.05
"""How long pieces are collected before they are sent."""
PATIENCE = 3.0
"""Seconds to wait for a run to stop."""
_SHOWN = (UserQueued, UserSaid, Unqueued, ModeChanged, UsageReported)
"""Events after which the state that browsers show may differ."""


class OpenTalk:
    """An agent, the run that it is in, and the questions that it waits for."""

    def __init__(self, workspace: Workspace, session: str | None, tell: Callable[[str, ServerEvent], None]) -> None:
        """Open a new session (None) or the session with an id. Takes a moment. Raises OutliveError."""
        factory = AgentFactory(workspace, AgentOptions())
        self.questions = OpenQuestions(self._changed)
        try:
            self.agent = factory.open(session, asker=self.questions.ask)
        except BaseException:
            factory.close()
            raise
        self.agent.closing.append(factory.close)
        if self.agent.mode == "bypass" and factory.settings.agent.get("mode") != "bypass":
            self.agent.set_mode("ask")  # chosen for this session once, but not for this browser
        self.id = self.agent.session.id
        self.used_at = time.monotonic()
        """When somebody last did something with it."""
        self._tell = tell
        self._job: asyncio.Task[None] | None = None
        self._stopping = self._closing = False
        self._draft = Draft()
        self._pieces: list[dict[str, Any]] = []
        self._state_changed = False
        self._timer: asyncio.TimerHandle | None = None
        self._ending: dict[str, str] | None = None
        """How the last run ended, if there is something to say about it."""

    def begin(self) -> None:
        """Start to watch, in the loop that it will work in."""
        self.agent.watch(self._saw)
        if self.agent.orphans:
            self._start(self._take_over())

    # -- what a person does

    @property
    def working(self) -> bool:
        return self._job is not None

    @property
    def idle_since(self) -> float | None:
        """None while it works or waits for an answer."""
        return None if self.working else self.used_at

    def say(self, words: str) -> bool:
        """Start a run with these words, or queue them for the present one; whether they were queued."""
        self.used_at = time.monotonic()
        if self.working:
            self.agent.queue(words)
            return True
        self._start(self.agent.ask(words))
        return False

    def go_on(self) -> None:
        """Say what is queued, or go on where the last run was cut off."""
        self.used_at = time.monotonic()
        if self.working:
            raise HttpProblem(409, "it is at work already", code="working")
        if not self.agent.unfinished:
            raise HttpProblem(409, "nothing was cut off; say what to do", code="nothing_to_do")
        self._start(self.agent.ask() if self.agent.queued else self.agent.go_on())

    def unqueue(self) -> list[str]:
        """Take back what waits."""
        return list(self.agent.unqueue())

    def interrupt(self) -> bool:
        """Stop the present run; whether there was one."""
        if self._job is None:
            return False
        self._stopping = True
        if self.agent.working:
            self.agent.interrupt()
        else:
            self._job.cancel()
        self._changed()
        return True

    def answer(self, id: str, answer: PermissionAnswer) -> None:
        self.used_at = time.monotonic()
        self.questions.answer(id, answer)

    def set_mode(self, wanted: str, typed: str, by: str) -> None:
        """Change the mode; a wider one only if its name was typed."""
        mode: PermissionMode | None = next((mode for mode in MODES if mode == wanted), None)
        if mode is None:
            raise bad_request(f"there is no mode {one_line(wanted, 60)!r}; the modes are {', '.join(MODES)}")
        if is_wider(mode, self.agent.mode) and typed != mode:
            hint = f"type {mode} to choose it"
            message = f"mode {mode} allows more than mode {self.agent.mode}"
            raise HttpProblem(409, message, hint=hint, code="wider_mode")
        self.used_at = time.monotonic()
        self.agent.set_mode(mode, by=by)

    async def close(self) -> None:
        """Stop the run and let go of the session. Queued words stay queued for when it is resumed."""
        self._closing = True
        self.interrupt()
        if self._job is not None:
            await asyncio.wait([self._job], timeout=PATIENCE)
        if self._timer is not None:
            self._timer.cancel()
        await self.agent.close()

    # -- what browsers see

    def state(self) -> dict[str, object]:
        return {
            "open": True,
            "working": self.working,
            "stopping": self._stopping and self.working,
            "questions": [question_shape(asked) for asked in self.questions.open.values()],
            "notices": [one_line(notice, 500) for notice in self.agent.notices],
            "ending": self._ending,
            **agent_shape(self.agent),
        }

    def snapshot(self) -> ServerEvent:
        """All of it, for a browser that begins to watch."""
        self._flush()  # to those who watch already; it is part of the snapshot
        return ServerEvent({"state": self.state(), "draft": self._draft}, "snapshot")

    # -- runs

    def _start(self, work: Coroutine[Any, Any, RunResult | None]) -> None:
        self._stopping, self._ending = False, None
        self._job = asyncio.ensure_future(self._run(work))
        self._changed()

    async def _run(self, work: Coroutine[Any, Any, RunResult | None]) -> None:
        fine = False
        try:
            result = await work
        except asyncio.CancelledError:
            self._ending = _ended(RunResult("interrupted"))
        except OutliveError as error:
            self._ending = {"tone": "bad", "text": clean(error.message), "hint": clean(error.hint)}
        except Exception as error:  # the session is on disk; a bug must not end the server
            logging.getLogger("outlive").exception("a run failed in session %s", self.id)
            self._ending = {"tone": "bad", "text": clean(f"{type(error).__name__}: {error}"), "hint": ""}
        else:
            self._ending = _ended(result) if result is not None else None
            fine = self._ending is None
        self._job = None
        self.used_at = time.monotonic()
        self._draft.end()
        self._pieces.append({"kind": "ended"})
        if fine and self.agent.queued and not self._closing:
            self._start(self.agent.ask())
        self._changed()

    async def _take_over(self) -> None:
        """Ask what to do with commands that a dead process left running."""
        answer = await self.questions.ask(orphan_question(self.agent.orphans))
        await self.agent.take_over("stop" if answer.choice == "yes" else "adopt")

    def _saw(self, happened: Event | StreamEvent) -> None:
        piece = self._draft.take(happened)
        if piece is not None:
            self._pieces.append(piece)
        self._state_changed |= isinstance(happened, _SHOWN)
        if piece is not None or self._state_changed:
            self._flush_soon()

    def _changed(self) -> None:
        self._state_changed = True
        self._flush_soon()

    def _flush_soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pieces, self._pieces = joined(self._pieces), []
        if pieces:
            self._tell(self.id, ServerEvent(pieces, "pieces"))
        if self._state_changed:
            self._state_changed = False
            self._tell(self.id, ServerEvent(self.state(), "state"))


def _ended(result: RunResult) -> dict[str, str] | None:
    """What is said about the end of a run; nothing if it ended well."""
    match result.stop_reason:
        case "done":
            return None
        case "interrupted":
            return {"tone": "warn", "text": "Interrupted.", "hint": "Say what to do instead, or continue."}
        case "hook":
            text = f"A hook of yours kept it from the model: {one_line(result.detail)}"
            return {"tone": "warn", "text": text, "hint": ""}
        case _:
            return {"tone": "warn", "text": f"Stopped: {one_line(result.detail)}", "hint": ""}
