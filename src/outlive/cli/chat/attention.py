"""Getting the user's attention: the title of the window, the bell, and notifications of the desktop.

Nothing is said to a user who looks. Terminals that report their focus tell that; in others only what took longer than
LONG_SECONDS is worth a word.
"""

import time
from collections.abc import Callable, Mapping
from typing import Literal

from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.keys import Keys

from outlive.cli.chat.preferences import Preferences
from outlive.printable import one_line

State = Literal["idle", "working", "needs you"]
LONG_SECONDS = 10.0  # where the terminal does not report focus: who waited longer may look elsewhere
MAX_TITLE_CHARS = 60  # of a window title or notification, which systems cut anyway
PUSH_TITLE, POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"
REPORT_FOCUS, IGNORE_FOCUS = "\x1b[?1004h", "\x1b[?1004l"
FOCUS_IN, FOCUS_OUT = Keys.F23, Keys.F24
"""prompt_toolkit has no keys for focus reports; no keyboard has these two."""
ANSI_SEQUENCES.update({"\x1b[I": FOCUS_IN, "\x1b[O": FOCUS_OUT})


class Attention:
    """Follows what the agent does and tells the user about changes."""

    def __init__(
        self,
        write: Callable[[str], None],
        preferences: Preferences,
        environment: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`write` sends escape codes to the terminal with the next drawing."""
        self.focused: bool | None = None
        """None: the terminal has not reported its focus."""
        self._write = write
        self._wanted = preferences
        self._environment = environment
        self._clock = clock
        self._state: State = "idle"
        self._since = clock()
        self._told = True
        """Nothing is left to say about this state."""
        self._title = ""

    def begin(self) -> None:
        """Keep the title of the terminal for later, and ask for focus reports."""
        if self._wanted.title:
            self._write(PUSH_TITLE)
        self.resume()

    def resume(self) -> None:
        """Ask for focus reports, at the beginning and after another program had the terminal."""
        if self._wanted.notify != "off":
            self._write(REPORT_FOCUS)

    def pause(self) -> None:
        """End focus reports while another program has the terminal."""
        if self._wanted.notify != "off":
            self._write(IGNORE_FOCUS)

    def end(self) -> None:
        """Give the terminal back as it was."""
        self.pause()
        if self._wanted.title:
            self._write(f"\x1b]2;\x07{POP_TITLE}")

    def update(self, state: State, title: str, about: str = "") -> None:
        """Show the state in the title, and say once that the agent is done or needs the user."""
        now = self._clock()
        self._show_title(f"{state} · {one_line(title)[:MAX_TITLE_CHARS] or 'outlive'}")
        if state != self._state:
            if self._state == "idle":
                self._since = now
            self._state, self._told = state, state == "working"
        if self._told:
            return
        looks_away = now - self._since >= LONG_SECONDS if self.focused is None else not self.focused
        if looks_away:
            self._notify("needs you" if state == "needs you" else "is done", about or title)
        self._told = looks_away or state == "idle"

    def _show_title(self, title: str) -> None:
        if self._wanted.title and title != self._title:
            self._title = title
            self._write(f"\x1b]2;{title}\x07")

    def _notify(self, what: str, about: str) -> None:
        if self._wanted.notify == "off":
            return
        if self._wanted.notify == "desktop":
            self._write(notification(f"outlive {what}", one_line(about)[:MAX_TITLE_CHARS], self._environment))
        self._write("\x07")


def notification(title: str, text: str, environment: Mapping[str, str]) -> str:
    """The escape code for a notification of the desktop: OSC 777 where that is known, else OSC 9."""
    title, text = (part.replace(";", ",") for part in (title, text))
    term = environment.get("TERM", "")
    if environment.get("VTE_VERSION") or term.startswith(("foot", "rxvt")):
        code = f"\x1b]777;notify;{title};{text}\x07"
    else:
        code = f"\x1b]9;{title}: {text}\x07"
    if environment.get("TMUX"):
        return f"\x1bPtmux;{code.replace(chr(27), chr(27) * 2)}\x1b\\"
    return code
