"""Whether a call may run: by mode, by rule, else by asking the user. Nothing that a model reads changes the answer.

In every mode deny rules win, paths stay inside the fence, and files of the harness are not edited.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from outlive.events import Denial, PermissionAnswered, PermissionAsked
from outlive.tools.permissions.asking import Asker, PermissionMode, PermissionQuestion
from outlive.tools.permissions.rules import MAX_SEARCHED_CHARS, Rules
from outlive.tools.protocol import Effect, Tool, ToolContext, ToolError
from outlive.tools.runner import Verdict

FREE_KINDS = ("look", "state", "tasks")
FREE_KINDS_IN_PLAN = ("look", "state")
ASKED_IN_PLAN = (*FREE_KINDS_IN_PLAN, "fetch")

MAX_HINT_CHARS = 300
"""Characters of the rules that a refusal names."""
_YES = Verdict(True)


class Permissions:
    """The gate of a session."""

    def __init__(
        self, mode: Callable[[], PermissionMode], rules: Rules, asker: Asker | None, remember: Callable[[str], None]
    ) -> None:
        self._mode = mode
        self._rules = rules
        self._asker = asker
        self._remember = remember
        self._asking = asyncio.Lock()
        """One question at a time: answering the first with "always" may answer the second."""

    async def allows(self, tool: Tool[Any], given: Struct, context: ToolContext) -> Verdict:
        """Whether the call may run; asks the user if neither mode nor rules decide."""
        subject, name, effect = tool.subject(given), tool.rule_name(given), tool.effect_of(given)
        fence = context.fence
        check = fence.editable if effect == "edit" else fence.inside
        try:
            paths = tuple(fence.shown(check(path)) for path in tool.paths(given))
        except ToolError as error:
            return Verdict(False, str(error), Denial("fence"))
        if self._rules.too_long(name, subject):
            reason = (
                f"{name}: the command has {len(subject):,} characters; the user's deny rules are looked for in "
                f"at most {MAX_SEARCHED_CHARS:,}. Write what is long to a file with write_file, then run that"
            )
            return Verdict(False, reason, Denial("rule"))
        for rules_for in dict.fromkeys((name, tool.name)):
            # In a thread: a long command takes a moment, and Ctrl-C must work meanwhile.
            if rule := await asyncio.to_thread(self._rules.denied, rules_for, subject, {*paths, *tool.paths(given)}):
                reason = f"{name}: denied by the user's rule {rule}; do it another way or ask the user"
                return Verdict(False, reason, Denial("rule"))
        mode = self._mode()
        if mode == "plan" and effect not in ASKED_IN_PLAN:
            return _planning(name)
        if effect in FREE_KINDS or not tool.asks or mode == "bypass" or (mode == "accept-edits" and effect == "edit"):
            return _YES
        async with self._asking:
            if self._rules.allowed(name, subject, paths, fence.has):
                return _YES
            return await self._ask(tool, given, context, subject, paths)

    async def _ask(
        self, tool: Tool[Any], given: Struct, context: ToolContext, subject: str, paths: tuple[str, ...]
    ) -> Verdict:
        name = tool.rule_name(given)
        always = self._rules.always(name, subject, paths, context.fence.has)
        if self._asker is None:
            return _unasked(name, tool.effect_of(given), always)
        preview = await asyncio.to_thread(tool.preview, given, context)
        change = await asyncio.to_thread(tool.change, given, context)
        question = PermissionQuestion(name, subject, preview, always, call_id=context.call_id, change=change)
        context.session.log(PermissionAsked, call_id=context.call_id, tool=name)
        answer = await self._asker(question)
        context.session.log(
            PermissionAnswered,
            call_id=context.call_id,
            tool=name,
            choice=answer.choice,
            by=answer.by,
            rules=always if answer.choice == "always" else (),
        )
        if self._mode() == "plan" and tool.effect_of(given) not in ASKED_IN_PLAN:
            return _planning(name)
        if answer.choice not in ("yes", "always"):
            reason = (
                f": {answer.why}" if answer.why else "; ask what to do instead, do not try it again in another way"
            )
            return Verdict(False, f"{name} was not run: the user said no{reason}")
        for rule in always if answer.choice == "always" else ():
            self._rules.add(rule)
            self._remember(rule)
        return _YES


def _planning(name: str) -> Verdict:
    reason = (
        f"{name} was not run: this is plan mode, nothing that writes or runs is allowed. Look, think, then present "
        "the plan to the user and stop; only the user can leave plan mode"
    )
    return Verdict(False, reason, Denial("mode"))


def _unasked(name: str, effect: Effect, always: tuple[str, ...]) -> Verdict:
    rules = always if sum(map(len, always)) < MAX_HINT_CHARS else ()
    mode = "accept-edits" if effect == "edit" else "bypass"
    ways = f"the rules {', '.join(rules)}, or mode {mode}" if rules else f"mode {mode}"
    reason = (
        f"{name} was not run: it needs permission and there is no one to ask. Go on without it, and say so "
        f"at the end. Only the user can allow it, with {ways}"
    )
    return Verdict(False, reason, Denial("unasked", rules, mode))
