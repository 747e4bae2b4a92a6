"""Key bindings. While a question is open the keys answer it, once the user has paused and is not writing."""

import time
from collections.abc import Iterable
from typing import Protocol

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import (
    Condition,
    Filter,
    has_focus,
    is_searching,
    vi_mode,
    vi_navigation_mode,
    vi_waiting_for_text_object_mode,
)
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.search import stop_search

from outlive.cli.chat.attention import FOCUS_IN, FOCUS_OUT, Attention
from outlive.cli.chat.input.pasting import Pastes
from outlive.cli.chat.question import Questions
from outlive.cli.chat.talk import Talk
from outlive.tools.permissions.asking import MODES, PermissionAnswer

PASTE_MIN_CHARS = 16
"""Letters waiting behind an Enter that make it part of a paste."""
PASTE_GAP_SECONDS = 0.05
"""Seconds between two Enters of one paste."""

SECOND_ESC_SECONDS = 1.0
"""Seconds within which a second Esc, while the agent rests and the input is empty, opens the list to go back."""


class Controls(Protocol):
    """The parts of the screen that keys act on."""

    talk: Talk
    questions: Questions
    attention: Attention
    input: Buffer
    reason: Buffer
    pastes: Pastes

    @property
    def writing(self) -> bool: ...

    def submit(self) -> None: ...

    def paste(self, text: str) -> None: ...

    def paste_image(self) -> None: ...

    def command(self, line: str) -> None: ...

    def stop(self) -> None: ...

    def leave(self) -> None: ...

    def edit(self) -> None: ...

    def focus_reason(self) -> None: ...


def bindings(screen: Controls) -> KeyBindings:
    keys = KeyBindings()
    asked = Condition(lambda: screen.questions.armed and not screen.questions.reason and not screen.writing)
    _typing(keys, screen, has_focus(screen.input) & ~asked)
    _escaping(keys, screen, has_focus(screen.input) & ~asked)
    _answering(keys, screen, asked)
    _always(keys, screen)
    return keys


def vim_mode(app: Application[None]) -> str:
    """The mode of vim keys for the status line, or nothing."""
    if app.editing_mode != EditingMode.VI:
        return ""
    return f"{app.vi_state.input_mode.value.removeprefix('vi-').replace('navigation', 'normal')} · "


def _typing(keys: KeyBindings, screen: Controls, here: Filter) -> None:
    burst = Burst()

    @keys.add("enter", filter=here)
    def _(event: KeyPressEvent) -> None:
        state = screen.input.complete_state
        if burst.goes_on(event.key_processor.input_queue) and not screen.input.text.endswith("\\"):
            screen.input.insert_text("\n")
        elif state is not None and state.current_completion is not None:
            screen.input.complete_state = None
        else:
            screen.questions.typed()
            screen.submit()

    @keys.add("escape", "enter", filter=here & ~vi_mode)
    @keys.add("c-j", filter=here)
    def _(event: KeyPressEvent) -> None:
        screen.input.insert_text("\n")

    @keys.add("c-g", filter=here)
    def _(event: KeyPressEvent) -> None:
        screen.edit()

    @keys.add(Keys.BracketedPaste, filter=here)
    def _(event: KeyPressEvent) -> None:
        screen.paste(event.data)

    @keys.add("c-v", filter=here)
    def _(event: KeyPressEvent) -> None:
        screen.paste_image()

    @keys.add("s-tab", filter=here & Condition(lambda: screen.input.complete_state is None))
    def _(event: KeyPressEvent) -> None:
        usual = MODES[:-1]
        mode = screen.talk.agent.mode
        screen.command(f"/mode {usual[(usual.index(mode) + 1) % len(usual)] if mode in usual else usual[0]}")

    @keys.add("c-d", filter=here & Condition(lambda: not screen.input.text))
    def _(event: KeyPressEvent) -> None:
        if screen.talk.working:
            screen.talk.note("the agent works; Esc stops it")
        else:
            screen.leave()


def _escaping(keys: KeyBindings, screen: Controls, here: Filter) -> None:
    """Esc, except where it leaves a mode of vim."""
    at_rest = float("-inf")

    @keys.add("escape", filter=here & (~vi_mode | vi_navigation_mode & ~vi_waiting_for_text_object_mode))
    def _(event: KeyPressEvent) -> None:
        nonlocal at_rest
        before, at_rest = at_rest, float("-inf")
        if screen.input.complete_state is not None:
            screen.input.complete_state = None
        elif not screen.talk.stop() and not screen.input.text:
            at_rest = time.monotonic()
            if at_rest - before < SECOND_ESC_SECONDS:
                screen.command("/rewind")


class Burst:
    """Detects a paste in a terminal that does not mark pastes: lines arrive faster than a hand types."""

    def __init__(self) -> None:
        self._at = float("-inf")

    def goes_on(self, waiting: Iterable[KeyPress]) -> bool:
        """Whether an Enter is part of a paste, judged by the keys behind it and the time since the last one."""
        keys, now = list(waiting), time.monotonic()
        letters = sum(key.data.isprintable() for key in keys)
        enters = sum(key.key == Keys.ControlM for key in keys)
        if not (letters >= PASTE_MIN_CHARS or (letters and enters) or now - self._at < PASTE_GAP_SECONDS):
            return False
        self._at = now
        return True


def _answering(keys: KeyBindings, screen: Controls, asked: Filter) -> None:
    @keys.add(Keys.Any, filter=asked, eager=True)
    def _(event: KeyPressEvent) -> None:
        screen.questions.key(event.data.lower())
        if screen.questions.reason:
            screen.focus_reason()

    @keys.add(Keys.BracketedPaste, filter=asked, eager=True)
    def _(event: KeyPressEvent) -> None:
        """Ignore it: a paste does not answer a question."""

    @keys.add("enter", filter=asked, eager=True)
    def _(event: KeyPressEvent) -> None:
        screen.questions.enter()
        if screen.questions.reason:
            screen.focus_reason()

    for steps, names in ((-1, ("up", "left", "s-tab")), (1, ("down", "right", "tab"))):
        for name in names:
            keys.add(name, filter=asked, eager=True)(lambda _, steps=steps: screen.questions.move(steps))

    @keys.add("escape", filter=asked, eager=True)
    def _(event: KeyPressEvent) -> None:
        screen.questions.answer(PermissionAnswer("no"))

    @keys.add("enter", filter=has_focus(screen.reason))
    def _(event: KeyPressEvent) -> None:
        screen.questions.answer(PermissionAnswer("no", screen.reason.text.strip()))


def _always(keys: KeyBindings, screen: Controls) -> None:
    @keys.add("c-c", eager=True)
    @keys.add("<sigint>", eager=True)
    def _(event: KeyPressEvent) -> None:
        if is_searching():
            stop_search()
        else:
            screen.stop()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        screen.attention.pause()
        event.app.suspend_to_background()

    @keys.add(FOCUS_IN, eager=True)
    @keys.add(FOCUS_OUT, eager=True)
    def _(event: KeyPressEvent) -> None:
        screen.attention.focused = event.key_sequence[0].key == FOCUS_IN

    @keys.add("c-o")
    def _(event: KeyPressEvent) -> None:
        screen.command("/expand")
