"""Whether a call may run: by mode, by rule, else by asking the user. Nothing that a model reads changes the answer.

In every mode deny rules win, paths stay inside the fence, and files of the harness are not edited.
"""

import asyncio
import shlex
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from outlive.tools.permissions.asking import Asker, Mode, PermissionAnswer, Question
from outlive.tools.permissions.fence import Fence
from outlive.tools.permissions.rules import LONGEST_SEARCHED, Rules
from outlive.tools.protocol import Tool, ToolContext, ToolError
from outlive.tools.runner import Verdict

FREE = ("look", "state", "tasks")
FREE_IN_PLAN = ("look", "state")

UNASKED = "was not run: it needs the user's word and nobody is here to ask"
"""Part of every refusal without an asker; headless front ends recognise refusals by it."""
LONGEST_HINT = 300
"""Characters of the rules that such a refusal suggests."""
_YES = Verdict(True)


class Permissions:
    """The gate of a session."""

    def __init__(
        self, mode: Callable[[], Mode], rules: Rules, asker: Asker | None, remember: Callable[[str], None]
    ) -> None:
        self._mode = mode
        self._rules = rules
        self._asker = asker
        self._remember = remember
        self._asking = asyncio.Lock()
        """One question at a time: answering the first with "always" may answer the second."""

    async def allows(self, tool: Tool[Any], given: Struct, context: ToolContext) -> Verdict:
        """Whether the call may run; asks the user if neither mode nor rules decide."""
        subject = tool.subject(given)
        try:
            paths = _paths(tool, given, context.fence)
        except ToolError as error:
            return Verdict(False, str(error))
        if self._rules.too_long(tool.name, subject):
            return Verdict(False, _too_long(tool.name, subject))
        # In a thread: a long command takes a moment, and Ctrl-C must work meanwhile.
        if rule := await asyncio.to_thread(self._rules.denied, tool.name, subject, {*paths, *tool.paths(given)}):
            return Verdict(False, f"{tool.name}: denied by the user's rule {rule}; do it another way or ask the user")
        mode = self._mode()
        if mode == "plan" and tool.effect not in FREE_IN_PLAN:
            return Verdict(False, _planning(tool.name))
        if tool.effect in FREE or mode == "bypass" or (mode == "accept-edits" and tool.effect == "edit"):
            return _YES
        async with self._asking:
            if self._rules.allowed(tool.name, subject, paths):
                return _YES
            return await self._ask(tool, given, context, subject, paths)

    async def _ask(
        self, tool: Tool[Any], given: Struct, context: ToolContext, subject: str, paths: tuple[str, ...]
    ) -> Verdict:
        always = self._rules.always(tool.name, subject, paths)
        if self._asker is None:
            return Verdict(False, _headless(tool, subject, always))
        preview = await asyncio.to_thread(tool.preview, given, context)
        answer = await self._asker(Question(tool.name, subject, preview, always))
        if self._mode() == "plan":
            return Verdict(False, _planning(tool.name))
        if answer.choice == "always":
            for rule in always:
                self._rules.add(rule)
                self._remember(rule)
        return _YES if answer.choice in ("yes", "always") else _refused(tool.name, answer)


def _paths(tool: Tool[Any], given: Struct, fence: Fence) -> tuple[str, ...]:
    """The paths of a call as rules name them. Raises ToolError for one that it may not use."""
    check = fence.editable if tool.effect == "edit" else fence.inside
    return tuple(fence.shown(check(path)) for path in tool.paths(given))


def _too_long(name: str, subject: str) -> str:
    return (
        f"{name}: the command has {len(subject):,} characters; the user's deny rules are looked for in at most "
        f"{LONGEST_SEARCHED:,}. Write what is long to a file with write_file, then run that"
    )


def _planning(name: str) -> str:
    return (
        f"{name} was not run: this is plan mode, nothing that writes or runs is allowed. Look, think, then present "
        "the plan to the user and stop; only the user can leave plan mode"
    )


def _refused(name: str, answer: PermissionAnswer) -> Verdict:
    said = f": {answer.why}" if answer.why else "; ask what to do instead, do not try it again in another way"
    return Verdict(False, f"{name} was not run: the user said no{said}")


def _headless(tool: Tool[Any], subject: str, always: tuple[str, ...]) -> str:
    mode = "accept-edits" if tool.effect == "edit" else "bypass"
    rules = " ".join(f"--allow {shlex.quote(rule)}" for rule in always)
    way = (
        f"{rules}, or with --permission-mode {mode}"
        if len(rules) in range(1, LONGEST_HINT)
        else f"--permission-mode {mode}"
    )
    return f"{tool.name} {UNASKED}. Go on without it, and say so at the end. To allow it the user starts with {way}"
