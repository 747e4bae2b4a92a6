"""What each key does. While a question is open the keys answer it, once the user has paused."""

from typing import Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, Filter, has_focus
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from outlive.cli.chat.question import Questions
from outlive.cli.chat.talk import Talk
from outlive.tools.asking import MODES, Answer


class Controls(Protocol):
    """What keys act upon."""

    talk: Talk
    questions: Questions
    input: Buffer
    reason: Buffer

    def submit(self) -> None: ...

    def command(self, line: str) -> None: ...

    def stop(self) -> None: ...

    def leave(self) -> None: ...

    def typed(self) -> None: ...

    def paste(self, text: str) -> None: ...

    def focus_reason(self) -> None: ...


def bindings(screen: Controls) -> KeyBindings:
    """All of them."""
    keys = KeyBindings()
    asked = Condition(lambda: screen.questions.armed and not screen.questions.reason)
    _typing(keys, screen, has_focus(screen.input) & ~asked)
    _answering(keys, screen, asked)
    _always(keys, screen)
    return keys


def _typing(keys: KeyBindings, screen: Controls, here: Filter) -> None:
    @keys.add("enter", filter=here)
    def _(event: KeyPressEvent) -> None:
        state = screen.input.complete_state
        if _more_has_come(event) and not screen.input.text.endswith("\\"):
            screen.input.insert_text("\n")
        elif state is not None and state.current_completion is not None:
            screen.input.complete_state = None
        else:
            screen.typed()
            screen.submit()

    @keys.add("escape", "enter", filter=here)
    @keys.add("c-j", filter=here)
    def _(event: KeyPressEvent) -> None:
        screen.input.insert_text("\n")

    @keys.add(Keys.BracketedPaste, filter=here)
    def _(event: KeyPressEvent) -> None:
        screen.paste(event.data)

    @keys.add("s-tab", filter=here & Condition(lambda: screen.input.complete_state is None))
    def _(event: KeyPressEvent) -> None:
        usual = MODES[:-1]
        mode = screen.talk.agent.mode
        screen.command(f"/mode {usual[(usual.index(mode) + 1) % len(usual)] if mode in usual else usual[0]}")

    @keys.add("c-d", filter=here & Condition(lambda: not screen.input.text))
    def _(event: KeyPressEvent) -> None:
        if screen.talk.working:
            screen.talk.note("the agent works; Ctrl-C stops it")
        else:
            screen.leave()


def _more_has_come(event: KeyPressEvent) -> bool:
    """Letters arrived together with this Enter, as no hand types: a paste into a terminal that does not mark it."""
    return any(key.data.isprintable() for key in event.key_processor.input_queue)


def _answering(keys: KeyBindings, screen: Controls, asked: Filter) -> None:
    @keys.add(Keys.Any, filter=asked, eager=True)
    def _(event: KeyPressEvent) -> None:
        screen.questions.key(event.data.lower())
        if screen.questions.reason:
            screen.focus_reason()

    @keys.add(Keys.BracketedPaste, filter=asked, eager=True)
    def _(event: KeyPressEvent) -> None:
        """A paste is no answer."""

    @keys.add("enter", filter=asked, eager=True)
    @keys.add("escape", filter=asked, eager=True)
    def _(event: KeyPressEvent) -> None:
        screen.questions.answer(Answer("no"))

    @keys.add("enter", filter=has_focus(screen.reason))
    def _(event: KeyPressEvent) -> None:
        screen.questions.answer(Answer("no", screen.reason.text.strip()))


def _always(keys: KeyBindings, screen: Controls) -> None:
    @keys.add("c-c", eager=True)
    @keys.add("<sigint>", eager=True)
    def _(event: KeyPressEvent) -> None:
        screen.stop()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @keys.add("c-o")
    def _(event: KeyPressEvent) -> None:
        screen.command("/expand")
