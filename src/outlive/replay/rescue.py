"""What a recorded session was about and where it stopped, by rule: for people, and for the agent that goes on.

Texts are masked first and cut afterwards, so that no cut leaves a part of a secret.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

from outlive.agent.log.masking import masked
from outlive.context.ledger import Ledger, facts
from outlive.context.ledger.frames import framed_exit
from outlive.instructions import standing
from outlive.messages import (
    Message,
    Text,
    ToolCall,
    ToolResult,
    call_command,
    call_file,
    call_label,
    plain_text,
    tool_calls,
)
from outlive.origin import own_words, user_words
from outlive.printable import one_line
from outlive.replay.cache_misses import CacheAccount, cache_account
from outlive.replay.recording import Recording
from outlive.secrets import mask

Status = Literal["todo", "active", "done"]
STATUSES: dict[str, Status] = {"in_progress": "active", "active": "active", "completed": "done", "done": "done"}
"""Of a step, as clients call it; anything else is to do."""
INTERRUPTED = "[Request interrupted by user"
"""What Claude Code puts in the user's place after Esc."""
FAILURES = 5  # the last ones; older ones were mostly repaired since
LAST_COMMANDS, LAST_FILES = 8, 15
MAX_LINE_CHARS = 200  # of a command, and of a failure's last line
_NUMBER = re.compile(r"#(\d+)")
_STEP = re.compile(
    r"""\bstep["']?\s*:\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)\s*,\s*["']?status["']?\s*:\s*["'`](\w+)"""
)


class RescuedStep(Struct, frozen=True):
    """A step of the plan, or an entry of the client's own task list."""

    text: str
    status: Status


class Rescued(Struct, frozen=True, kw_only=True):
    """The facts about a recorded session. Words of the user and of the model are verbatim."""

    client: str
    id: str
    folder: str
    model: str
    began: float
    ended: float
    messages: int
    compactions: int
    damaged: tuple[str, ...]
    left_out: tuple[str, ...]
    """Entries of the transcript that say nothing about the work."""
    requests: tuple[str, ...]
    """What the user said, oldest first; the first one is the goal, the last one is what was asked last."""
    directives: tuple[str, ...]
    """Standing instructions among it, newest last."""
    plan: tuple[RescuedStep, ...]
    changed: tuple[str, ...]
    """Files, the newest last."""
    looked_at: tuple[str, ...]
    """The last files that were read or searched and not changed, the newest last."""
    commands: tuple[str, ...]
    """The last commands that were run, the newest last."""
    facts: str
    """What was changed, checked and failed."""
    failed: tuple[str, ...]
    """The last calls that failed, and the end of what they said."""
    answer: str
    """The last words of the model."""
    cache: CacheAccount | None
    """What its provider read from the cache and what had to be paid again."""
    unanswered: tuple[str, ...]
    """Calls that were under way when the recording ends."""

    @property
    def open(self) -> tuple[RescuedStep, ...]:
        return tuple(step for step in self.plan if step.status != "done")


def rescued(recording: Recording) -> Rescued:
    """Read a recording once, from its beginning to its end."""
    ledger, plan = Ledger(), PlanReader()
    calls: dict[str, ToolCall] = {}
    requests: list[str] = []
    directives: dict[str, None] = {}
    failed: list[str] = []
    commands: dict[str, None] = {}
    files: dict[str, None] = {}
    answer = ""
    for number, recorded in enumerate(recording.messages):
        message = recorded.message
        message = masked(message, mask) if message.role == "assistant" else message
        plan.see(message)
        for result in _results(message):
            call = calls.pop(result.call_id, None)
            if call is not None:
                result = masked(result, mask) if _is_failed(result) else result  # the others are not quoted
                ledger.note(call, number, result.text, is_error=result.is_error, exit_code=None)
                failed += _failure(call, result)
                _move_to_end(commands, one_line(call_command(call), MAX_LINE_CHARS))
                _move_to_end(files, call_file(call))
        if message.role == "assistant":
            calls = {call.id: call for call in tool_calls(message.blocks)}
            answer = plain_text(message.blocks).strip() or answer
            continue
        if (words := user_words(message.blocks).strip()) and not words.startswith(INTERRUPTED):
            requests.append(mask(words))
        for text in (text for block in message.blocks for text in standing(mask(own_words(block)))):
            _move_to_end(directives, text)
        for block in message.blocks:
            if isinstance(block, Text):
                ledger.heard(block.text)
    times = [recorded.time for recorded in recording.messages]
    return Rescued(
        client=recording.format,
        id=recording.id,
        folder=recording.folder,
        model=recording.model,
        began=times[0] if times else 0.0,
        ended=times[-1] if times else 0.0,
        messages=len(times),
        compactions=recording.compactions,
        damaged=recording.skipped[: recording.damaged],
        left_out=recording.skipped[recording.damaged :],
        requests=tuple(requests),
        directives=tuple(directives),
        plan=plan.steps(),
        changed=tuple(ledger.written),
        looked_at=tuple(name for name in files if name and name not in ledger.written)[-LAST_FILES:],
        commands=tuple(filter(None, commands))[-LAST_COMMANDS:],
        facts=mask(facts(ledger)),
        failed=tuple(failed[-FAILURES:]),
        answer=answer,
        cache=cache_account(recording.usage),
        unanswered=tuple(call_label(call) for call in calls.values()),
    )


def _move_to_end(seen: dict[str, None], text: str) -> None:
    seen.pop(text, None)
    seen[text] = None


def _results(message: Message) -> Iterable[ToolResult]:
    return (block for block in message.blocks if isinstance(block, ToolResult))


def _is_failed(result: ToolResult) -> bool:
    return result.is_error or bool(framed_exit(result.text, is_error=False))


def _failure(call: ToolCall, result: ToolResult) -> list[str]:
    if not _is_failed(result):
        return []
    last = next((line.strip() for line in reversed(result.text.splitlines()) if line.strip()), "")
    return [f"{call_label(call)}: {last[:MAX_LINE_CHARS]}"]


class PlanReader:
    """The plan as the tools of the clients keep it: a list that is written as a whole, or tasks one by one."""

    def __init__(self) -> None:
        self.plan: tuple[RescuedStep, ...] = ()
        """The list that is written as a whole."""
        self._tasks: dict[str, RescuedStep] = {}
        self._created = 0
        self._calls: dict[str, ToolCall] = {}

    def steps(self) -> tuple[RescuedStep, ...]:
        return (*self.plan, *self._tasks.values())

    def see(self, message: Message) -> None:
        """Read the next message of the session."""
        for result in _results(message):
            if call := self._calls.pop(result.call_id, None):
                self._take(call, result)
        if message.role == "assistant":
            self._calls = {call.id: call for call in tool_calls(message.blocks)}

    def _take(self, call: ToolCall, result: ToolResult) -> None:
        """Read a call that was answered."""
        if result.is_error:
            return
        given = call.input
        match call.name:
            case "TodoWrite" | "todo_write" | "todowrite" | "update_plan":
                self._replace(given.get("todos") or given.get("plan") or given.get("steps"))
            case "exec" if isinstance(script := given.get("input"), str) and "update_plan" in script:
                self._replace(_steps_in(script))
            case "TaskCreate":
                self._create(given, result.text)
            case "TaskUpdate":
                self._update(str(given.get("taskId", "")), given)

    def _replace(self, items: Any) -> None:
        steps = [_step(item) for item in items] if isinstance(items, list) else []
        if found := [step for step in steps if step]:
            self.plan = tuple(found)

    def _create(self, given: dict[str, Any], answer: str) -> None:
        several = given.get("tasks")
        for item in several if isinstance(several, list) else [given]:
            self._created += 1
            named = None if isinstance(several, list) else _NUMBER.search(answer)
            if step := _step(item):
                self._tasks[named[1] if named else str(self._created)] = step

    def _update(self, name: str, given: dict[str, Any]) -> None:
        known = self._tasks.get(name)
        if known is None:
            return
        status = str(given.get("status") or "")
        if status in ("deleted", "cancelled"):
            del self._tasks[name]
            return
        text = str(given.get("subject") or "").strip() or known.text
        self._tasks[name] = RescuedStep(text, STATUSES.get(status, "todo") if status else known.status)


def _steps_in(script: str) -> list[dict[str, str]]:
    """Find the steps of a plan in a script of Codex, where they are literals of JavaScript."""
    return [{"step": _unquoted(step), "status": status} for step, status in _STEP.findall(script)]


def _unquoted(literal: str) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        return re.sub(r"\\(.)", r"\1", literal[1:-1])


def _step(item: Any) -> RescuedStep | None:
    if isinstance(item, str):
        return RescuedStep(item, "todo") if item.strip() else None
    if not isinstance(item, dict):
        return None
    text = next((item[key] for key in ("content", "step", "subject", "text") if isinstance(item.get(key), str)), "")
    return RescuedStep(text, STATUSES.get(str(item.get("status")), "todo")) if text.strip() else None
