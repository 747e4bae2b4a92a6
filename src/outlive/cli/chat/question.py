"""Permission questions: what is shown and what each key means. Only a clear yes is a yes.

Keys count only after a short pause without typing, so that a `y` in a message to the agent grants nothing.
"""

import asyncio
import re
import time
from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from outlive.cli.chat.render import diffs
from outlive.cli.chat.render.item import Item
from outlive.cli.chat.render.transcript import note
from outlive.cli.chat.words import counted, cut
from outlive.printable import clean
from outlive.tools.permissions.asking import PermissionAnswer, PermissionQuestion

KEY_PAUSE_SECONDS = 0.5
"""Seconds without a key before the keys answer the question."""
_HEADER = re.compile(r"\A--- .*\n\+\+\+ .*\n")
"""The header of a diff, which repeats the question."""
MAX_PREVIEW_LINES = 200  # of a change; what is decided on needs more room than what is only told
MAX_SUBJECT_LINES = 6
"""Lines; a longer subject is printed into the scrollback."""


class Questions:
    """One question at a time; others wait for their turn."""

    def __init__(
        self, show: Callable[[Item], None], changed: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.open: PermissionQuestion | None = None
        self.reason = False
        """The answer is no, and the user is writing why."""
        self.chosen = ""
        """The key of the answer that is highlighted; empty until an arrow key chose one."""
        self._show = show
        self._changed = changed
        self._clock = clock
        self._turn = asyncio.Lock()
        self._answer: asyncio.Future[PermissionAnswer] | None = None
        self._quiet_since = 0.0

    async def __call__(self, question: PermissionQuestion) -> PermissionAnswer:
        async with self._turn:
            self.open, self.reason, self.chosen = question, False, ""
            self._answer = asyncio.get_running_loop().create_future()
            self._quiet_since = self._clock()
            if question.preview or _is_long(question):
                self._show(Item("block", preview(question)))
            self._changed()
            try:
                answer = await self._answer
            finally:
                self.open, self.reason, self.chosen, self._answer = None, False, "", None
                self._changed()
            if answer.choice == "always":
                self._show(note("·", Text(f"allowed from now on: {cut(_rules(question), 160)}", "quiet")))
            return answer

    @property
    def armed(self) -> bool:
        """Whether keys answer the question now."""
        return self.open is not None and self._clock() - self._quiet_since >= KEY_PAUSE_SECONDS

    def typed(self) -> None:
        self._quiet_since = self._clock()

    def key(self, key: str) -> None:
        """Handle `y`, `a` or `n`; other keys do nothing."""
        if self.open is None or self.reason:
            return
        if key == "y":
            self.answer(PermissionAnswer("yes"))
        elif key == "a" and self.open.always:
            self.answer(PermissionAnswer("always"))
        elif key == "n" and self.open.no:
            self.answer(PermissionAnswer("no"))
        elif key == "n":
            self.reason = True
            self._changed()

    def move(self, steps: int) -> None:
        """Highlight the next or the previous answer. A first "up" highlights "no": it may have been meant for the
        history of the input."""
        if self.open is None or self.reason:
            return
        keys = [key for key, _ in choices(self.open)]
        at = keys.index(self.chosen) + steps if self.chosen else (0 if steps > 0 else 1)
        self.chosen = keys[at % len(keys)]
        self._changed()

    def enter(self) -> None:
        """Answer with what is highlighted; nothing happens if nothing is."""
        self.key(self.chosen)

    def answer(self, answer: PermissionAnswer) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)


def preview(question: PermissionQuestion) -> RenderableType:
    """Render what would change, up to MAX_PREVIEW_LINES."""
    subject = [Text(clean(question.subject))] if _is_long(question) else []
    lines = _HEADER.sub("", question.preview).splitlines()
    shown = lines[:MAX_PREVIEW_LINES]
    body = list(diffs.painted(shown)) if diffs.is_diff(question.preview) else [Text(clean(line)) for line in shown]
    if len(lines) > MAX_PREVIEW_LINES:
        body.append(Text(f"… {counted(len(lines) - MAX_PREVIEW_LINES, 'more line')} that would change", "warn"))
    return Padding(Group(*subject, *body), (0, 0, 0, 2))


def is_sentence(text: str) -> bool:
    """Whether the input is a message to the agent, and not answers that were typed before the pause was over."""
    return len(text) > 2 or bool(text.strip("yna"))


def choices(question: PermissionQuestion) -> list[tuple[str, str]]:
    """The keys that answer, in the order in which they are shown, and what each means."""
    if question.no:
        return [("y", question.yes), ("n", question.no)]
    found = [("y", question.yes), ("n", "no, and why")]
    if question.always:
        exact = question.always == (f"{question.tool}(={question.subject})",)
        found.append(("a", "always, exactly this" if exact else f"always {_rules(question)}"))
    return found


def asked(
    question: PermissionQuestion, *, armed: bool, reason: bool, writing: bool = False, chosen: str = ""
) -> list[Text]:
    """Render the question and the keys that answer it. The subject is shown whole, because it is what is granted."""
    subject = clean(question.subject)
    if _is_long(question):
        subject = f"{subject.splitlines()[0]} … (all of it above)"
    head = Text.assemble(("? ", "warn"), (clean(question.tool), "strong"), " ", subject)
    if reason:
        return [head, Text("  no; tell it why, or just Enter", "quiet")]
    if writing:
        return [head, Text("  send what you are writing, or empty it (ctrl+u); then answer", "quiet")]
    offered = choices(question)
    hint = "↑↓ choose" if not chosen else "then Enter"
    lines = [_keys(offered[:2], armed=armed, chosen=chosen, hint=hint)]
    lines += [_keys(offered[2:], armed=armed, chosen=chosen)] if offered[2:] else []
    if not (question.no or question.always):
        lines.append(Text("  only this once: no plain rule covers all of it", "quiet"))
    return [head, *lines]


def asked_in_words(question: PermissionQuestion) -> list[Text]:
    """The question for plain lines, and what a line may answer."""
    offered = ", ".join(f"{key} for {meaning}" for key, meaning in choices(question))
    more = "" if question.no else "; any other text is no, and why"
    head = f"? {clean(question.tool)} {clean(question.subject)}"
    return [Text(head), Text(f"  type {offered}{more}")]


def _keys(offered: list[tuple[str, str]], *, armed: bool, chosen: str, hint: str = "") -> Text:
    text = Text()
    for number, (key, meaning) in enumerate(offered):
        highlighted = armed and key == chosen
        text.append(" " if number else "").append("▸ " if highlighted else "  ", "accent" if highlighted else "")
        text.append(key, "accent" if armed else "quiet")
        text.append(f" {meaning}", "strong" if highlighted else "quiet")
    return text.append(f"   {hint}", "quiet") if hint else text


def _rules(question: PermissionQuestion) -> str:
    """Return the rules that would be allowed from now on, on one line."""
    return clean(" and ".join(question.always)).replace("\n", "⏎")


def _is_long(question: PermissionQuestion) -> bool:
    return question.subject.count("\n") >= MAX_SUBJECT_LINES or len(question.subject) > 80 * MAX_SUBJECT_LINES
