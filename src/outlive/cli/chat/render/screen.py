"""The conversation in a terminal: finished items go into the scrollback; below are work in progress, the input and
the status line. prompt_toolkit draws inline: it never takes over the screen and never reprints the scrollback."""

import asyncio
import os
import signal
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

from prompt_toolkit.application import in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.cursor_shapes import ModalCursorShapeConfig
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText, StyleAndTextTuples
from prompt_toolkit.styles import DynamicStyle, Style
from rich.text import Text

from outlive.cli.chat import status
from outlive.cli.chat.attention import Attention, State
from outlive.cli.chat.entering import enter, is_said, kind_of
from outlive.cli.chat.input.clipboard import NoClipboardImage, clipboard_image
from outlive.cli.chat.input.completing import ChatCompleter
from outlive.cli.chat.input.editing import EditorFailed, edited
from outlive.cli.chat.input.history import ProjectHistory
from outlive.cli.chat.input.images import InputImages
from outlive.cli.chat.input.pasting import Pastes
from outlive.cli.chat.keys import bindings, vim_mode
from outlive.cli.chat.picker import PickerRow
from outlive.cli.chat.picker.widget import Picker
from outlive.cli.chat.preferences import Theme
from outlive.cli.chat.question import KEY_PAUSE_SECONDS, Questions, asked, is_sentence
from outlive.cli.chat.render import progress
from outlive.cli.chat.render.inline import InlineApplication
from outlive.cli.chat.render.item import Hanging, Item, Rhythm
from outlive.cli.chat.render.layout import MAX_INPUT_ROWS, layout
from outlive.cli.chat.render.output import SteadyOutput, captured
from outlive.cli.chat.render.paint import Look, Painter
from outlive.cli.chat.render.themes import interface
from outlive.cli.chat.slash import obey
from outlive.cli.chat.talk import ChatSetup, Talk
from outlive.ending import terminations
from outlive.models.protocol import prepare
from outlive.printable import clean
from outlive.tools.permissions.asking import PermissionAnswer, PermissionQuestion

PREPARE_SECONDS = 0.1
"""Seconds after the first drawing."""
SECOND_CTRL_C_SECONDS = 2.0
"""Seconds within which a second Ctrl-C leaves."""
ESC_SECONDS = 0.1
"""Seconds after which an Esc is a key of its own and not the beginning of another key."""


class Screen:
    """One conversation at a terminal."""

    def __init__(self, setup: ChatSetup) -> None:
        self.output = SteadyOutput(setup.preferences.theme)
        self.attention = Attention(self.output.write_raw, setup.preferences, os.environ)
        self.questions = Questions(self.show, self.changed)
        self.picker: Picker | None = None
        self.talk = Talk(
            setup, self._ask, show=self.show, changed=self.changed, give_back=self._give_back, pick=self._pick
        )
        self.pastes = Pastes()
        self.images = InputImages()
        self.hint = ""
        self.editing = False
        """The input is open in an editor."""
        self._rhythm = Rhythm()
        self._printed: list[str] = []
        self._stopped_at = -SECOND_CTRL_C_SECONDS
        self._jobs: set[asyncio.Task[None]] = set()
        self.input = Buffer(
            name="input",
            history=ProjectHistory(setup.root / ".outlive", lambda text: self.talk.agent.session.masked(text)),
            completer=ChatCompleter(setup.root, self.talk.sessions, self.talk.custom_commands),
            complete_while_typing=Condition(self._completes),
            enable_history_search=False,
            multiline=True,
            on_text_changed=lambda _: self.questions.typed(),
        )
        self.reason = Buffer(name="reason", multiline=False)
        self.app = InlineApplication(
            layout=layout(self),
            style=DynamicStyle(lambda: _style(self.talk.preferences.theme)),
            key_bindings=bindings(self),
            editing_mode=EditingMode.VI if setup.preferences.keys == "vim" else EditingMode.EMACS,
            cursor=ModalCursorShapeConfig() if setup.preferences.keys == "vim" else None,
            output=self.output,
            erase_when_done=True,
            before_render=lambda _: self._before_drawing(),
        )
        self.app.ttimeoutlen = ESC_SECONDS
        self.app.timeoutlen = ESC_SECONDS

    # -- life

    async def run(self, session: str | None, first: str = "") -> int:
        await self.talk.open(session)
        if first:
            self.talk.say(first)
        self.attention.begin()
        self.app.pre_run_callables.append(self._begin)
        ticking = asyncio.ensure_future(self._tick())
        try:
            with captured(self.talk.note), suppress(EOFError):  # the window was closed
                await self.app.run_async()
        finally:
            ticking.cancel()
            for job in self._jobs:
                job.cancel()
            self.talk.farewell()
            await self.talk.close()
            self._print()  # what came after the last redraw
            self.attention.end()
            self.output.flush()
        return 0

    def _begin(self) -> None:
        for name in terminations():
            asyncio.get_running_loop().add_signal_handler(name, self.leave)
        asyncio.get_running_loop().add_signal_handler(signal.SIGCONT, self.attention.resume)
        asyncio.get_running_loop().call_later(PREPARE_SECONDS, self._prepare)

    def _prepare(self) -> None:
        """Load what the first request needs while the user reads and types."""
        asyncio.get_running_loop().run_in_executor(None, prepare, self.talk.agent.parts.model)

    async def _tick(self) -> None:
        """Redraw while the spinner turns."""
        while True:
            await asyncio.sleep(progress.FRAME_SECONDS)
            if self.talk.working or self.questions.open:
                self.app.invalidate()

    def edit(self) -> None:
        """Open the input in the user's editor."""
        self._start(self._edit())

    async def _edit(self) -> None:
        if self.editing:
            return
        self.editing = True
        self.attention.pause()
        try:
            async with in_terminal():
                text = await edited(self.input.text)
        except EditorFailed as error:
            self.talk.complain(error.message)
        else:
            self.input.document = Document(text, len(text))
        finally:
            self.editing = False
            self.attention.resume()
            self.questions.typed()

    def leave(self) -> None:
        if self.app.is_running and not (self.app.future and self.app.future.done()):
            self.app.exit()

    # -- what the keys do

    def submit(self) -> None:
        """Handle Enter: run a command, send words to the agent, or insert a line break after a backslash."""
        text = self.input.text
        if text.endswith("\\") and self.input.cursor_position == len(text):
            self.input.delete_before_cursor()
            self.input.insert_text("\n")
            return
        kind = kind_of(text.strip())
        if kind == "prompt":
            text = self.images.typed(text)
        words, images = self.pastes.whole(text).strip(), self.images.blocks(text)
        if not words:
            return
        if (kind == "shell" or images) and self.talk.working:
            self.talk.must_wait("an image" if images else text.strip())  # it stays in the input
            return
        self.input.history.append_string(self.images.as_paths(words))
        self._forget_input()
        if not is_said(self.talk, words, kind):
            self.show(Item("user", Hanging("> ", Text(clean(words), "quiet"))))
        self._start(enter(self.talk, words, kind, images))

    def paste(self, text: str) -> None:
        """Insert a paste: paths of images become images, a wall of text a placeholder."""
        if kind_of(self.input.text.strip() or text) == "shell":
            self.input.insert_text(self.pastes.shown(text))
            return
        self.images.problem = ""
        self.input.insert_text(self.images.pasted(text) or self.pastes.shown(text))
        self.hint = self.images.problem

    def paste_image(self) -> None:
        """Insert the image in the clipboard."""

        async def work() -> None:
            try:
                raw = await clipboard_image()
            except (NoClipboardImage, OSError) as error:
                self.hint = str(error)
            else:
                self.input.insert_text(self.images.add(raw, "clipboard", "the clipboard"))
                self.hint = self.images.problem
            self.changed()

        self._start(work())

    def _forget_input(self) -> None:
        self.input.reset()
        self.pastes.clear()
        self.images.clear()
        self.hint = ""

    def command(self, line: str) -> None:
        """Run a slash command as if it had been typed."""
        self._start(obey(self.talk, line))

    def stop(self) -> None:
        """Handle Ctrl-C: stop the run, else clear the input; a second one leaves."""
        if self.editing:
            return  # it was meant for the editor
        now = time.monotonic()
        twice = now - self._stopped_at < SECOND_CTRL_C_SECONDS
        self._stopped_at = now
        if twice and (self.talk.stopping if self.talk.working else not self.input.text):
            self.leave()
            return
        if self.talk.stop():
            return
        self._forget_input()
        self.hint = "Ctrl-C again leaves"
        asyncio.get_running_loop().call_later(SECOND_CTRL_C_SECONDS, self._forget_hint)
        self.changed()

    @property
    def writing(self) -> bool:
        """Whether the input holds the beginning of a message, or a list is open."""
        return self.picker is not None or is_sentence(self.input.text)

    def focus_reason(self) -> None:
        self.reason.reset()
        self._focus()

    # -- what the conversation does

    def show(self, item: Item) -> None:
        if self._rhythm.gap(item):
            self._printed.append("")
        self._printed.extend(self.painter.lines(item.body))
        self.changed()

    def changed(self) -> None:
        self._update_attention()  # a short run may begin and end between two drawings
        self.app.redraw_soon()

    def _update_attention(self) -> None:
        question = self.questions.open
        state: State = "needs you" if question else "working" if self.talk.working else "idle"
        self.attention.update(
            state,
            self.talk.facts.title if self.talk.facts else "",
            f"{question.tool} {question.subject}" if question else "",
        )

    async def _ask(self, question: PermissionQuestion) -> PermissionAnswer:
        asyncio.get_running_loop().call_later(KEY_PAUSE_SECONDS + 0.05, self.changed)
        began = time.monotonic()
        try:
            answer = await self.questions(question)
        finally:
            self._focus()
            if not self.writing:
                self.input.reset()
        if answer.choice != "no":
            self.talk.transcript.answered(question, time.monotonic() - began)
        return answer

    async def _pick(self, title: str, rows: Sequence[PickerRow]) -> PickerRow | None:
        """Let the user choose one row; the list takes the place of the input meanwhile."""
        if self.picker is not None:
            return None
        self.picker = Picker(title, rows, done=self._close_picker)
        self._focus()
        try:
            return await self.picker.choice
        finally:
            self._close_picker()

    def _close_picker(self) -> None:
        self.picker = None
        self._focus()

    def _focus(self) -> None:
        """Send keys to the open list, to the reason for a no, or to the input."""
        if self.picker is not None:
            self.app.layout.focus(self.picker.field)
        else:
            self.app.layout.focus(self.reason if self.questions.reason else self.input)
        self.changed()

    def _give_back(self, words: str) -> None:
        """Put queued words that were not sent back into the input, before what was typed since."""
        self.input.text = "\n".join(filter(None, [words, self.input.text]))
        self.input.cursor_position = len(self.input.text)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            await work
            if self.talk.leaving:
                self.leave()

        job = asyncio.ensure_future(run())
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    def _forget_hint(self) -> None:
        self.hint = ""
        self.changed()

    def _completes(self) -> bool:
        before = self.input.document.text_before_cursor
        return before.startswith("/") or before.rpartition(" ")[2].startswith("@")

    # -- drawing

    @property
    def painter(self) -> Painter:
        return _painter(self.output.get_size().columns - 1, self.talk.preferences.theme)

    def _before_drawing(self) -> None:
        """Print pending lines in the same write as the redraw; leave no gap where the interface was higher."""
        self.output.use(self.talk.preferences.theme)
        self._update_attention()
        size = self.output.get_size()
        last = self.app.renderer.last_rendered_screen
        wanted = self.app.layout.container.preferred_height(size.columns, size.rows).preferred
        if self._printed or (last is not None and wanted < last.height):
            with self.output.held():
                self.app.renderer.erase()
                self._print()

    def _print(self) -> None:
        self.output.write_raw("".join(f"{line}\r\n" for line in self._printed))
        self._printed.clear()

    def above(self) -> AnyFormattedText:
        size, painter = self.output.get_size(), self.painter
        under = progress.queued(self.talk.queued, painter)
        if question := self.questions.open:
            texts = asked(
                question,
                armed=self.questions.armed,
                reason=self.questions.reason,
                writing=self.writing,
                chosen=self.questions.chosen,
            )
            under += ["", *(line for text in texts for line in painter.lines(text))]
        typed = min(MAX_INPUT_ROWS, self.input.text.count("\n") + 1)
        rows = max(3, size.rows - typed - len(under) - 4)
        over: list[str] = []
        if self.talk.working:
            now = time.monotonic()
            over = progress.lines(
                self.talk.transcript, painter, rows, now=now, since=self.talk.busy_since, asked=self.questions.open
            )
        return ANSI("\n".join([*over, *under, ""]))

    def prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        style = "class:prompt.busy" if self.talk.working else "class:prompt"
        return [(style, "> " if line == 0 and wrapped == 0 else "  ")]

    def status_line(self) -> AnyFormattedText:
        hint = "stopping; Ctrl-C again leaves" if self.talk.working and self.talk.stopping else self.hint
        if hint:
            return [("class:rows.meta", f"  {hint}")]
        if self.talk.facts is None:
            return ""
        painter, mode = self.painter, vim_mode(self.app)
        line = status.line(self.talk.facts, painter.width - 2 - len(mode), self.talk.preferences.status)
        return ANSI(f"  {mode}" + "".join(painter.lines(line)[:1]))


@cache
def _style(theme: Theme) -> Style:
    return Style.from_dict(interface(theme))


@lru_cache(maxsize=4)
def _painter(width: int, look: Look) -> Painter:
    return Painter(width, look)
