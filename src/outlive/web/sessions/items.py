"""The conversation as a list of items: one for each event that a person cares about."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal

import msgspec

from outlive.agent.commands.started import SUBAGENT_LABEL
from outlive.context.log.pieces import call_text
from outlive.events import (
    AssistantSaid,
    Checkpointed,
    Compacted,
    DirectiveDropped,
    DirectiveGiven,
    Event,
    Forked,
    GoalSet,
    ModeChanged,
    Noted,
    PermissionAnswered,
    PlanChanged,
    Renewed,
    SessionStarted,
    StateShown,
    SystemChanged,
    ToolFinished,
    Undone,
    Unknown,
    Unqueued,
    UserQueued,
    UserSaid,
)
from outlive.messages import Block, Image, Opaque, Text, Thinking, ToolCall, call_label
from outlive.origin import origin_of
from outlive.printable import clean, one_line
from outlive.tools.files.call_diff import call_diff
from outlive.web.receipt import receipt_facts
from outlive.web.sessions.texts import CutText, cut, cut_middle

CallStatus = Literal["waiting", "running", "done", "failed", "denied", "interrupted"]
LABEL = 160  # a line of the page
MOST_CALLS = 100
"""Parts of one answer that are sent."""
DIFF_LINES = 200  # of one call; the rest is counted
DIFF_LINE = 400  # characters
_SUBAGENT = re.compile(r"\[sub-agent (\S{1,300}?):? ")


class ResultPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came back for a call."""

    event: int
    text: CutText
    exit_code: int | None = None
    seconds: float = 0.0
    """Without the time that it waited for permission."""
    pictures: int = 0
    denied_by: str = ""
    rules: tuple[str, ...] = ()
    """Allow rules that would cover a call that was not run."""


class CallPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call with its result, if there is one yet."""

    id: str
    name: str
    label: str
    input: CutText
    status: CallStatus
    diff: tuple[str, ...] = ()
    diff_cut: int = 0
    """Lines of the diff that were left out."""
    added: int = 0
    removed: int = 0
    """Lines of the whole diff."""
    result: ResultPart | None = None
    subagent: str = ""
    """The session of the sub-agent that it started."""


class ItemPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """One block of what was said."""

    block: int
    kind: Literal["text", "thinking", "call", "picture", "other"]
    text: CutText | None = None
    origin: str = ""
    call: CallPart | None = None


class ConversationItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One event in the conversation."""

    id: int
    time: float
    kind: str
    text: CutText | None = None
    parts: tuple[ItemPart, ...] = ()
    more_parts: int = 0
    facts: Mapping[str, Any] = {}
    undone: bool = False


def is_item(event: Event) -> bool:
    """Whether an event has an item of its own: results are part of their call, counts are in the chart."""
    match event:
        case Checkpointed():
            return event.label == SUBAGENT_LABEL
        case StateShown() | UserSaid() | AssistantSaid() | Compacted() | Undone() | Noted() | Unknown():
            return True
        case SessionStarted() | SystemChanged() | Forked() | Renewed() | ModeChanged() | GoalSet() | PlanChanged():
            return True
        case UserQueued() | Unqueued() | DirectiveGiven() | DirectiveDropped() | PermissionAnswered():
            return True
        case _:
            return False


def item_of(
    event: Event,
    results: Mapping[str, ToolFinished],
    started: Collection[str],
    waits: Mapping[str, float],
    *,
    undone: bool,
    newest: bool,
) -> ConversationItem:
    """The item of an event. `newest`: whether no later answer came, so that its calls may still run. `waits`: seconds
    that calls waited for permission."""
    if isinstance(event, UserSaid | AssistantSaid):
        kind = "user" if isinstance(event, UserSaid) else "assistant"
        parts = tuple(
            _user_part(number, block)
            if kind == "user"
            else _part(number, block, results, started, waits, newest=newest)
            for number, block in enumerate(event.blocks[:MOST_CALLS])
        )
        facts = {"model": one_line(event.model, LABEL)} if isinstance(event, AssistantSaid) and event.model else {}
        more = max(0, len(event.blocks) - MOST_CALLS)
        return ConversationItem(event.id, event.time, kind, parts=parts, more_parts=more, facts=facts, undone=undone)
    kind, text, facts = _told(event)
    shown = cut(text) if text else None
    return ConversationItem(event.id, event.time, kind, shown, facts=facts, undone=undone)


def _user_part(number: int, block: Block) -> ItemPart:
    if isinstance(block, Text):
        return ItemPart(number, "text", cut(block.text), origin=origin_of(block))
    return _part(number, block, {}, (), {}, newest=False)


def _part(
    number: int,
    block: Block,
    results: Mapping[str, ToolFinished],
    started: Collection[str],
    waits: Mapping[str, float],
    *,
    newest: bool,
) -> ItemPart:
    match block:
        case Text():
            return ItemPart(number, "text", cut(block.text))
        case Thinking():
            return ItemPart(number, "thinking", cut(block.text))
        case ToolCall():
            call = _call(block, results.get(block.id), waits, started=block.id in started, newest=newest)
            return ItemPart(number, "call", call=call)
        case Image():
            return ItemPart(number, "picture", cut(block.media_type, LABEL))
        case Opaque():
            return ItemPart(number, "other", cut(f"{block.provider}: {block.data.get('type', 'unknown')}", LABEL))
        case _:
            return ItemPart(number, "other")


def _call(
    call: ToolCall, result: ToolFinished | None, waits: Mapping[str, float], *, started: bool, newest: bool
) -> CallPart:
    lines = call_diff(call)
    found = _SUBAGENT.match(result.text) if result else None
    return CallPart(
        id=one_line(call.id, LABEL),
        name=one_line(call.name, LABEL),
        label=one_line(call_label(call, LABEL).removeprefix(call.name), LABEL),
        input=cut(call_text(call)),
        status=_status(result, started=started, newest=newest),
        diff=tuple(clean(line[:DIFF_LINE]) for line in lines[:DIFF_LINES]),
        diff_cut=max(0, len(lines) - DIFF_LINES),
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
        result=_result(result, waits.get(call.id, 0.0)) if result else None,
        subagent=found[1] if found else "",
    )


def _status(result: ToolFinished | None, *, started: bool, newest: bool) -> CallStatus:
    if result is None:
        if not newest:
            return "interrupted"
        return "running" if started else "waiting"
    if result.denied is not None:
        return "denied"
    return "failed" if result.is_error or result.exit_code else "done"


def _result(event: ToolFinished, waited: float) -> ResultPart:
    return ResultPart(
        event=event.id,
        text=cut_middle(event.text),
        exit_code=event.exit_code,
        seconds=max(0.0, event.seconds - waited),
        pictures=len(event.images),
        denied_by=event.denied.by if event.denied else "",
        rules=tuple(one_line(rule, LABEL) for rule in event.denied.rules[:10]) if event.denied else (),
    )


def _told(event: Event) -> tuple[str, str, dict[str, Any]]:
    """Kind, text and facts of an event that is not a turn."""
    match event:
        case Compacted():
            return "pass", "", receipt_facts(event)
        case StateShown():
            return "state", event.text, {"whole": event.whole}
        case Noted():
            return "note", event.text, {"about": one_line(event.kind, LABEL)}
        case Checkpointed():
            names = ("session", "description")
            return "subagent", "", {name: one_line(str(event.data.get(name, "")), 300) for name in names}
        case Undone():
            return "undone", "", {"target": event.target, "what": "pass" if event.what == "pass" else "after"}
        case SessionStarted() | SystemChanged() | Forked() | Renewed():
            return _told_of_session(event)
        case _:
            return _told_of_state(event)


def _told_of_session(event: SessionStarted | SystemChanged | Forked | Renewed) -> tuple[str, str, dict[str, Any]]:
    match event:
        case SessionStarted():
            facts: dict[str, Any] = {"model": event.model, "folder": event.folder, "tools": len(event.tools)}
            return "started", event.system, {name: value for name, value in facts.items() if value}
        case SystemChanged():
            return "system", event.told or event.system, {"waits": bool(event.told)}
        case Forked():
            return "forked", "", {"session": event.session, "at": event.at}
        case Renewed():
            return "renewed", event.handoff, {}


def _told_of_state(event: Event) -> tuple[str, str, dict[str, Any]]:
    match event:
        case ModeChanged():
            return "mode", f"{event.mode} ({event.by})" if event.by else event.mode, {}
        case PermissionAnswered():
            words = {"yes": "allowed", "always": "always allowed", "no": "refused"}.get(event.choice, event.choice)
            by = f" by {event.by}" if event.by else ""
            rules = f"; rules added: {', '.join(event.rules)}" if event.rules else ""
            return "permission", f"{event.tool} {words}{by}{rules}", {}
        case GoalSet():
            return "goal", "\n".join([event.goal, *(f"– {one}" for one in event.criteria)]), {}
        case PlanChanged():
            return "plan", _plan_text(event), {}
        case UserQueued():
            return "queued", event.text, {}
        case Unqueued():
            return "unqueued", "", {"events": event.events[:20]}
        case DirectiveGiven():
            return "directive", event.text, {}
        case DirectiveDropped():
            return "directive_dropped", event.text, {}
        case _:
            return "unknown", "", {}


def _plan_text(event: PlanChanged) -> str:
    rows = [f"{'✓' if step.done else '○'} {step.text}" for step in event.steps or ()]
    if event.done:
        rows.append(f"done: {', '.join(map(str, event.done))}")
    if event.not_done:
        rows.append(f"open again: {', '.join(map(str, event.not_done))}")
    if event.current_step is not None:
        rows.append(f"now at step {event.current_step}")
    rows += [
        f"{name}: {text}" for name, text in (("progress", event.progress), ("blocked", event.blocked_on)) if text
    ]
    return "\n".join(rows)
