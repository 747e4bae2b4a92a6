"""The conversation without a terminal to draw on: lines in, lines out, no escape codes.

From a pipe, each line is a prompt, answered before the next is read. On a dumb terminal (TERM=dumb), a line typed
while the agent works is queued, and a line answers a question.
"""

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import TextIO

from outlive.cli.chat.entering import enter, is_said, kind_of
from outlive.cli.chat.picker import PickerRow
from outlive.cli.chat.picker.by_line import pick_by_line
from outlive.cli.chat.question import asked_in_words, preview
from outlive.cli.chat.render.item import Item, Rhythm
from outlive.cli.chat.render.paint import Painter
from outlive.cli.chat.render.wording import in_words
from outlive.cli.chat.talk import ChatSetup, Talk
from outlive.ending import terminations
from outlive.tools.permissions.asking import PermissionAnswer, PermissionQuestion


class LineChat:
    """One conversation over two streams."""

    def __init__(
        self, setup: ChatSetup, *, width: int = 80, source: TextIO | None = None, sink: TextIO | None = None
    ) -> None:
        self.source = source or sys.stdin
        self.sink = sink or sys.stdout
        self.present = self.source.isatty()
        """Whether a person is there to answer."""
        self.talk = Talk(
            setup,
            self._ask,
            show=self.show,
            give_back=lambda words: self.talk.note(f"not sent: {words}"),
            pick=self._pick if self.present else None,
        )
        self._painter = Painter(width, "plain")
        self._rhythm = Rhythm()
        self._came: asyncio.Queue[str | None] = asyncio.Queue()
        self._asking = asyncio.Lock()
        self._answer: asyncio.Future[str] | None = None

    async def run(self, session: str | None, first: str = "") -> int:
        """Talk until the input ends or the user leaves; returns 1 if the last run failed."""
        await self.talk.open(session)
        loop = asyncio.get_running_loop()
        handled = {signal.SIGINT: self._stop, **dict.fromkeys(terminations(), self._leave)}
        for number, handle in handled.items():
            loop.add_signal_handler(number, handle)
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()
        try:
            if self.talk.working:  # it asks about commands that still run
                await self._rest()
            if first:
                self.talk.say(first)
                await self._rest()
            while not self.talk.leaving and (words := await self._next()) is not None:
                await self._heard(words)
        finally:
            for number in handled:
                loop.remove_signal_handler(number)
            await self.talk.close()
        return 1 if self.talk.failed else 0

    def show(self, item: Item) -> None:
        if item.kind == "user" and self.present:
            return  # the terminal shows what was typed
        gap = "\n" if self._rhythm.gap(item) else ""
        lines = self._painter.lines(item.body)
        lines = in_words(item.kind, lines) if self.talk.preferences.plain else lines
        text = "".join(f"{line}\n" for line in lines)
        self._write(gap + text, end="")

    async def _heard(self, words: str) -> None:
        kind = kind_of(words)
        if kind == "shell" and not self.present:
            self.talk.complain("a command after ! is run only if somebody types it at a terminal")
            self.talk.failed = True
            return
        await enter(self.talk, words, kind)
        await self._rest()

    async def _rest(self) -> None:
        """Wait until the agent rests, queueing lines typed meanwhile."""
        if not self.present:
            await self.talk.wait()
            return
        while self.talk.working:  # also what a line typed just now has started
            resting = asyncio.ensure_future(self.talk.wait())
            coming = asyncio.ensure_future(self._came.get())
            await asyncio.wait([resting, coming], return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                coming.cancel()
            elif (line := coming.result()) is None:
                self._came.put_nowait(None)
                await resting
            elif self._answer is not None:
                self._answer.set_result(line.strip())
                self._answer = None
            elif words := line.strip():
                kind = kind_of(words)
                await enter(self.talk, words, kind)
                if is_said(self.talk, words, kind):
                    self.talk.note("queued")

    async def _next(self) -> str | None:
        """Return the next prompt; a `\\` at the end of a line continues it on the next."""
        parts: list[str] = []
        while True:
            if self.present:
                self._write("> " if not parts else "  ", end="")
            line = await self._came.get()
            if line is None:
                return "\n".join(parts).strip() or None
            parts.append(line.removesuffix("\\"))
            if not line.endswith("\\") and (words := "\n".join(parts).strip()):
                return words

    async def _ask(self, question: PermissionQuestion) -> PermissionAnswer:
        if not self.present:
            return PermissionAnswer("no", "there is no terminal to ask the user at", "nobody")
        async with self._asking:
            if question.preview:
                self.show(Item("block", preview(question)))
            for text in asked_in_words(question):
                self.show(Item("note", text))
            self._answer, began = asyncio.get_running_loop().create_future(), time.monotonic()
            try:
                line = await self._answer
            finally:
                self._answer = None
        always = line.lower() in ("a", "always") and bool(question.always)
        if always or line.lower() in ("y", "yes"):
            self.talk.transcript.answered(question, time.monotonic() - began)
            return PermissionAnswer("always" if always else "yes")
        return PermissionAnswer("no", "" if line.lower() in ("n", "no") else line)

    async def _pick(self, title: str, rows: Sequence[PickerRow]) -> PickerRow | None:
        return await pick_by_line(title, rows, self._line, self._write)

    async def _line(self) -> str | None:
        self._write("> ", end="")
        line = await self._came.get()
        if line is None:
            self._came.put_nowait(None)
        return line

    def _write(self, text: str, end: str = "\n") -> None:
        encoding = self.sink.encoding or "utf-8"
        self.sink.write((text + end).encode(encoding, "replace").decode(encoding))
        self.sink.flush()

    def _stop(self) -> None:
        if not self.talk.stop():
            self._came.put_nowait(None)

    def _leave(self) -> None:
        self.talk.leaving = True
        self.talk.stop()
        self._came.put_nowait(None)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read lines in a thread, because reading cannot be cancelled."""
        try:
            for line in self.source:
                loop.call_soon_threadsafe(self._came.put_nowait, line.rstrip("\r\n"))
            loop.call_soon_threadsafe(self._came.put_nowait, None)
        except RuntimeError:
            return  # the loop has ended
